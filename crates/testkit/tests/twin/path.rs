//! Places in a JSON document: `.metadata.labels["a.b"]`, `.items[0]`.

use serde_json::Value;

/// The value at a place.
pub(crate) fn look<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut rest = path.trim();
    let mut here = value;
    while !rest.is_empty() {
        let (step, after) = step(rest)?;
        here = match step {
            Step::Key(key) => here.get(key)?,
            Step::Index(index) => here.get(index)?,
        };
        rest = after;
    }
    Some(here)
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn step(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix("[\"") {
        let (key, rest) = rest.split_once("\"]")?;
        return Some((Step::Key(key), rest));
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), rest));
    }
    let rest = path.strip_prefix('.')?;
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (key, rest) = rest.split_at(end);
    Some((Step::Key(key), rest))
}

/// One step further, for a report.
pub(crate) fn join(path: &str, key: &str) -> String {
    if key.is_empty() || key.contains(['.', '/', '[', ' ', ':', '"']) {
        format!("{path}[{key:?}]")
    } else {
        format!("{path}.{key}")
    }
}

/// Whether a pattern, in which `*` stands for any text, describes the whole path.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((start, pattern)) => path
            .strip_prefix(start)
            .is_some_and(|rest| (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|rest| matches(pattern, rest))),
    }
}

/// Whether a condition holds: `status 404`, `.a.b == "c"`, `.a.b != "c"`, `.a.b`, `not .a.b`.
pub(crate) fn holds(condition: &str, status: u16, body: &Value) -> bool {
    let value = |path: &str| look(body, path).cloned().unwrap_or(Value::Null);
    let literal = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    if let Some(expected) = condition.strip_prefix("status ") {
        return expected.trim() == status.to_string();
    }
    if let Some((path, expected)) = condition.split_once(" == ") {
        return value(path) == literal(expected);
    }
    if let Some((path, expected)) = condition.split_once(" != ") {
        return value(path) != literal(expected);
    }
    match condition.strip_prefix("not ") {
        Some(path) => value(path).is_null(),
        None => !value(condition).is_null(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_into_documents() {
        let value = json!({"a": {"b.c": [{"d": 1}]}});
        assert_eq!(look(&value, ".a[\"b.c\"][0].d"), Some(&json!(1)));
        assert_eq!(look(&value, ".a.x"), None);
        assert_eq!(look(&value, ".a[\"b.c\"][7]"), None);
        assert_eq!(join(".a", "b.c"), ".a[\"b.c\"]");
        assert_eq!(join(".a", "b"), ".a.b");
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches(".items[*].a", ".items[10].a"));
        assert!(matches(".items*", ".items[10].a"));
        assert!(!matches(".items[*].a", ".items[10].ab"));
        assert!(!matches(".a", ".a.b"));
    }

    #[test]
    fn conditions() {
        let body = json!({"a": "b", "n": null});
        for (condition, expected) in [
            ("status 200", true),
            ("status 404", false),
            (".a == \"b\"", true),
            (".a != \"b\"", false),
            (".a", true),
            (".n", false),
            ("not .x", true),
            ("not .a", false),
        ] {
            assert_eq!(holds(condition, 200, &body), expected, "{condition}");
        }
    }
}

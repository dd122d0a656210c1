//! Objects as YAML that everybody reads the same.

use std::fmt::Write as _;

use serde_json::Value;

use super::scalar::Scalar;

/// A document; it ends with a line break. Objects begin with what says what they are.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let first = ["apiVersion", "kind", "metadata", "name"];
            let rank = |key: &str| first.iter().position(|first| *first == key).unwrap_or(first.len());
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| (rank(key), *key));
            for (key, value) in members {
                margin(out, indent);
                out.push_str(&text(key));
                out.push(':');
                below(out, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                margin(out, indent);
                out.push('-');
                let start = out.len();
                block(out, item, indent + 2);
                // The first line of an item stands beside its dash.
                let nested = matches!(item, Value::Object(members) if !members.is_empty())
                    || matches!(item, Value::Array(items) if !items.is_empty());
                if nested {
                    out.replace_range(start..start + indent + 2, " ");
                }
            }
        }
        value => {
            let _ = writeln!(out, " {}", inline(value));
        }
    }
}

/// The value of a key: beside it, or from the next line on.
fn below(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            block(out, value, indent);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(out, value, indent.saturating_sub(2));
        }
        value => block(out, value, indent),
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(written) => text(written),
        other => other.to_string(),
    }
}

fn margin(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Plain where it can be nothing else than text, in double quotes otherwise.
fn text(text: &str) -> String {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_');
    let starts = |c: char| c.is_ascii_alphabetic() || c == '/';
    let plain = text.starts_with(starts) && text.chars().all(letters);
    if plain && matches!(Scalar::resolve(text.to_owned(), true, None), Ok(Scalar::String(_))) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for value in [
            json!({"kind": "A", "apiVersion": "v1", "metadata": {"name": "a", "labels": {}}, "rules": []}),
            json!({"a": ["", "*", "yes", "y", "0x1", "1e3", "~", "a: b", "- a", "ü", "a\nb", "tab\t", "null", ".5", "#a", "a b", "/healthz/*"]}),
            json!([[1, [2, {"a": [3]}]], {"b": {"c": null}, "d": [true, 1.5, {"e": []}, {}]}]),
            json!("text"),
            json!({"system:masters": "x:y"}),
        ] {
            let text = write(&value);
            let read = super::super::parse(text.as_bytes()).unwrap();
            assert_eq!(read.node.into_value().unwrap(), value, "{text}");
            assert!(read.duplicates.is_empty());
        }
    }

    #[test]
    fn it_looks_as_people_write_it() {
        let role = json!({
            "apiVersion": "v1", "kind": "Role", "metadata": {"name": "a", "namespace": "b"},
            "rules": [{"apiGroups": [""], "verbs": ["get"]}, {"verbs": ["*"]}],
        });
        let text = "apiVersion: v1\nkind: Role\nmetadata:\n  name: a\n  namespace: b\nrules:\n- apiGroups:\n  - \"\"\n  verbs:\n  - get\n- verbs:\n  - \"*\"\n";
        assert_eq!(write(&role), text);
    }
}

//! The text of a kubeconfig with as few of its lines changed as may be: comments stay.

use rolewright_api::document::yaml;
use serde_json::{Map, Value};

/// The text with another content. One that is not in lines, as JSON is, is written anew.
pub(super) fn edited(text: &str, wanted: &Value) -> String {
    let edited = value(text).and_then(|found| in_lines(text, &found, wanted));
    // Whatever was overlooked shows here.
    edited.filter(|edited| value(edited).as_ref() == Some(wanted)).unwrap_or_else(|| yaml::write(wanted))
}

/// Whether anything comes after the first document.
pub(super) fn has_more_documents(text: &str) -> bool {
    let is_content = |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '%']) && !is_mark(line);
    let mut lines = text.lines().skip_while(|line| !is_content(line)).skip_while(|line| !is_mark(line));
    lines.any(|line| is_content(&line))
}

fn is_mark(line: &str) -> bool {
    line.starts_with("---") || line.starts_with("...")
}

fn value(text: &str) -> Option<Value> {
    yaml::parse(text.as_bytes()).ok()?.node.into_value().ok()
}

fn in_lines(text: &str, found: &Value, wanted: &Value) -> Option<String> {
    let nothing = Map::new();
    let (found, wanted) = (found.as_object().unwrap_or(&nothing), wanted.as_object()?);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // Scalars first, as they are read first.
    let (lists, scalars): (Vec<_>, Vec<_>) = wanted.iter().partition(|(_, value)| value.is_array());
    for (key, value) in scalars.into_iter().chain(lists) {
        let before = found.get(key);
        match value.as_array() {
            _ if before == Some(value) => {}
            Some(entries) => {
                let before = before.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                for gone in before.iter().filter(|entry| !entries.contains(entry)) {
                    remove(&mut lines, key, gone)?;
                }
                let added: Vec<&Value> = entries.iter().filter(|entry| !before.contains(entry)).collect();
                set(&mut lines, key, if entries.is_empty() { "[]" } else { "" })?;
                insert(&mut lines, key, &added)?;
            }
            None => set(&mut lines, key, &value.to_string())?,
        }
    }
    Some(lines.join("\n") + "\n")
}

/// The line of a key, and the line after all that belongs to it.
fn section(lines: &[String], key: &str) -> Option<(usize, usize)> {
    let is_key = |line: &String| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
    let start = lines.iter().position(is_key)?;
    let is_within = |line: &&String| line.is_empty() || line.starts_with([' ', '#', '-']);
    let within = lines.iter().skip(start + 1).take_while(is_within);
    // Comments at its end are about what follows.
    let is_part = |line: &&String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let length = within.collect::<Vec<_>>().iter().rposition(is_part).map_or(0, |last| last + 1);
    Some((start, start + 1 + length))
}

/// Gives a key a value in its own line, where it has none of several lines.
fn set(lines: &mut Vec<String>, key: &str, value: &str) -> Option<()> {
    let line = format!("{key}: {value}").trim_end().to_owned();
    let Some((start, end)) = section(lines, key) else {
        lines.push(line);
        return Some(());
    };
    if end == start + 1 {
        *lines.get_mut(start)? = line;
    }
    Some(())
}

/// Adds entries to a list, each in a line.
fn insert(lines: &mut Vec<String>, key: &str, added: &[&Value]) -> Option<()> {
    let (start, end) = section(lines, key)?;
    let first = lines.get(start + 1..end)?.iter().find(|line| line.trim_start().starts_with('-'));
    let indent = first.map_or(0, |line| line.len() - line.trim_start().len());
    let added = added.iter().map(|entry| format!("{:indent$}- {entry}", ""));
    lines.splice(end..end, added);
    Some(())
}

/// Removes an entry that has a line of its own, as ours have.
fn remove(lines: &mut Vec<String>, key: &str, gone: &Value) -> Option<()> {
    let (start, end) = section(lines, key)?;
    let is_it = |line: &String| {
        let entry = line.trim_start().strip_prefix("- ");
        entry.and_then(|entry| serde_json::from_str::<Value>(entry).ok()).as_ref() == Some(gone)
    };
    let at = lines.get(start + 1..end)?.iter().position(is_it)?;
    lines.remove(start + 1 + at);
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const THEIRS: &str = "\
# mine
kind: Config
clusters: # all of them
  # the one that matters
  - name: prod
    cluster: {server: 'https://prod'}

# who I am there
users: []
current-context: ''
";

    #[test]
    fn lines_of_others_stay() {
        let before = value(THEIRS).unwrap();
        let mut wanted = before.clone();
        wanted["clusters"].as_array_mut().unwrap().push(json!({"name": "a # b"}));
        wanted["users"] = json!([{"name": "me"}]);
        wanted["contexts"] = json!([{"name": "it"}]);
        wanted["current-context"] = json!("it");
        let text = edited(THEIRS, &wanted);
        assert_eq!(
            text,
            "\
# mine
kind: Config
clusters: # all of them
  # the one that matters
  - name: prod
    cluster: {server: 'https://prod'}
  - {\"name\":\"a # b\"}

# who I am there
users:
- {\"name\":\"me\"}
current-context: \"it\"
contexts:
- {\"name\":\"it\"}
"
        );
        let mut gone = before;
        gone["contexts"] = json!([]);
        let back = edited(&text, &gone);
        assert_eq!(back, THEIRS.replace("''", "\"\"") + "contexts: []\n");
    }

    #[test]
    fn what_is_not_in_lines_is_written_anew_with_the_same_content() {
        let wanted = json!({"clusters": [{"name": "a"}, {"name": "b"}], "kind": "Config"});
        for text in ["{\"clusters\": [{\"name\": \"a\"}]}", "clusters: [{name: a}]", "clusters:\n- name: a\n  x: 1\n"] {
            assert_eq!(value(&edited(text, &wanted)), Some(wanted.clone()), "{text}");
        }
    }

    #[test]
    fn documents_are_counted() {
        for (text, more) in [
            ("", false),
            ("# a\n---\na: 1\n", false),
            ("a: 1\n...\n# end\n", false),
            ("a: 1\n---\nb: 1\n", true),
            ("--- # a\na: 1\n--- \nb: 1\n", true),
        ] {
            assert_eq!(has_more_documents(text), more, "{text}");
        }
    }
}

//! What two servers answered, side by side.

use rolewright_testkit::openapi;
use serde_json::Value;

use crate::servers::{Answer, plain};

/// 2 to the 53rd.
const LARGE: f64 = 9_007_199_254_740_992.0;
/// Differences beyond these are not shown.
const SHOWN: usize = 12;

/// The differences of two answers, each with its place; none if they say the same.
pub(crate) fn answers(there: &Answer, here: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    if there.status != here.status {
        found.push(format!("status\n    real {}\n    ours {}", there.status, here.status));
    }
    walk("", &sorted(&plain(&shown(there))), &sorted(&plain(&shown(here))), &mut found);
    found.truncate(SHOWN);
    found
}

fn shown(answer: &Answer) -> Value {
    let document = answer.body.clone();
    if document.get("openapi").is_some() { openapi::bare(document) } else { document }
}

fn walk(path: &str, there: &Value, here: &Value, found: &mut Vec<String>) {
    match (there, here) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                walk(&format!("{path}.{key}"), value, right.get(key).unwrap_or(&Value::Null), found);
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                walk(&format!("{path}.{key}"), &Value::Null, value, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                walk(&format!("{path}[{at}]"), left, right, found);
            }
        }
        _ if there == here => {}
        // Beyond what a float holds exactly, Go writes digits where others write an exponent.
        (Value::Number(left), Value::Number(right))
            if left.as_f64() == right.as_f64() && left.as_f64().is_some_and(|size| size.abs() > LARGE) => {}
        _ => found.push(format!("{path}\n    real {}\n    ours {}", short(there), short(here))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(600).collect()
}

/// What comes in no order: conditions of definitions, faults of objects, resources of a group, and ages.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let one = |(key, value): (&String, &Value)| {
                let mut value = sorted(value);
                match (key.as_str(), &mut value) {
                    ("conditions" | "causes" | "resources", Value::Array(items)) => {
                        items.sort_by_cached_key(Value::to_string);
                    }
                    ("message", Value::String(text)) => *text = faults(text),
                    ("cells", Value::Array(cells)) => cells.iter_mut().for_each(mask_age),
                    ("description", text) if members.contains_key("priority") => *text = Value::Null,
                    _ => {}
                }
                (key.clone(), value)
            };
            Value::Object(members.iter().map(one).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn faults(text: &str) -> String {
    const START: &str = " is invalid: [";
    // Of several faults in an embedded object one is told, whichever comes first in a hash table.
    if let Some((start, fault)) = text.split_once(" cannot be handled as a ")
        && let Some((kind, _)) = fault.split_once(": ").filter(|(_, fault)| fault.contains(": Invalid value: "))
    {
        return format!("{start} cannot be handled as a {kind}");
    }
    let list = text.split_once(START).and_then(|(start, list)| Some((start, list.strip_suffix(']')?)));
    let Some((start, list)) = list else { return text.to_owned() };
    let mut faults: Vec<&str> = list.split(", ").collect();
    faults.sort_unstable();
    format!("{start}{START}{}]", faults.join(", "))
}

/// `5s`: how long ago.
fn mask_age(cell: &mut Value) {
    let number = cell.as_str().and_then(|text| text.strip_suffix('s'));
    if number.is_some_and(|number| number.parse::<u16>().is_ok()) {
        *cell = "<age>".into();
    }
}

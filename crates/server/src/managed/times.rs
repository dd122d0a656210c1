//! Times of managers that change nothing.

use serde_json::{Map, Value};

use super::Kind;
use crate::strategy::Object;

/// Takes the times of managers from `live` where nothing else is different. To be asked after `update` or `apply`, once
/// `new` has its defaults, and before the strategy prepares it.
pub fn keep_times(kind: Kind<'_>, live: &Object, new: &mut Object) {
    let loose = matches!(kind, Kind::BuiltIn(_));
    let (Some(Value::Object(old_metadata)), Some(Value::Object(metadata))) =
        (live.get("metadata"), new.get("metadata"))
    else {
        return;
    };
    let (Some(Value::Array(old)), Some(Value::Array(now))) =
        (old_metadata.get("managedFields"), metadata.get("managedFields"))
    else {
        return;
    };
    let unchanged = old.len() == now.len()
        && old != now
        && old.iter().zip(now).all(|(a, b)| match (a, b) {
            (Value::Object(a), Value::Object(b)) => equal_without(Some("time"), a, b, loose),
            _ => false,
        })
        && equal_without(Some("metadata"), live, new, loose)
        && equal_without(Some("managedFields"), old_metadata, metadata, loose);
    if unchanged {
        let old = Value::Array(old.clone());
        if let Some(Value::Object(metadata)) = new.get_mut("metadata") {
            metadata.insert("managedFields".to_owned(), old);
        }
    }
}

fn equal_without(name: Option<&str>, a: &Map<String, Value>, b: &Map<String, Value>, loose: bool) -> bool {
    let count = |map: &Map<String, Value>| map.len() - usize::from(name.is_some_and(|name| map.contains_key(name)));
    count(a) == count(b)
        && a.iter().all(|(key, value)| {
            Some(key.as_str()) == name || b.get(key).is_some_and(|other| alike(value, other, loose))
        })
}

/// Whether two values are the same to storage. In the types of built-in kinds, an empty list is none.
fn alike(a: &Value, b: &Value, loose: bool) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b, loose)),
        (Value::Object(a), Value::Object(b)) => equal_without(None, a, b, loose),
        (Value::Array(items), Value::Null) | (Value::Null, Value::Array(items)) => loose && items.is_empty(),
        (Value::Object(map), Value::Null) | (Value::Null, Value::Object(map)) => loose && map.is_empty(),
        _ => a == b,
    }
}

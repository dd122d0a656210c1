//! Lists of list type `set` and `map` hold nothing twice.

use rolewright_core::validate::{FieldError, Path};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::go;
use crate::ratchet::distinct;
use crate::schema::{ListType, Schema};

impl Schema {
    /// What is there twice, anywhere in an object.
    pub fn validate_lists(&self, object: &Map<String, Value>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        fields(self, object, Path::Root, &mut errors);
        errors
    }
}

fn fields(schema: &Schema, object: &Map<String, Value>, at: Path<'_>, errors: &mut Vec<FieldError>) {
    // Kubernetes looks at a property by both schemas, if a node has both.
    if let Some(below) = schema.values() {
        for (name, found) in object {
            value(below, found, at.key(name), errors);
        }
    }
    for (name, below) in schema.properties() {
        if let Some(found) = object.get(name.as_str()) {
            value(below, found, at.child(name), errors);
        }
    }
}

fn value(schema: &Schema, value: &Value, at: Path<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => list(schema, items, at, errors),
        Value::Object(object) => fields(schema, object, at, errors),
        _ => {}
    }
}

fn list(schema: &Schema, items: &[Value], at: Path<'_>, errors: &mut Vec<FieldError>) {
    match schema.list_type() {
        Some(ListType::Set) => {
            for (index, item) in repeated(items) {
                errors.push(FieldError::duplicate(at.index(index), go::shown(item)));
            }
        }
        Some(ListType::Map) => map(schema, items, at, errors),
        Some(ListType::Atomic) | None => {}
    }
    if let Some(below) = schema.items() {
        for (index, item) in items.iter().enumerate() {
            value(below, item, at.index(index), errors);
        }
    }
}

fn map(schema: &Schema, items: &[Value], at: Path<'_>, errors: &mut Vec<FieldError>) {
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_null()) {
        let detail = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(at.index(index), go::shown(item), detail));
        return;
    }
    // WHY: one key is compared by value, several by how they are written.
    let repeated = match schema.map_keys() {
        [key] => repeats(items, |item| item.get(key.as_str()).map(form)),
        keys => repeats(items, |item| Some(form(&key_of(keys, item)))),
    };
    for (index, item) in repeated {
        errors.push(FieldError::duplicate(at.index(index), go::shown(&key_of(schema.map_keys(), item))));
    }
}

/// The fields of an item that tell it from others.
fn key_of(keys: &[SmolStr], item: &Value) -> Value {
    let pair = |key: &SmolStr| Some((key.to_string(), item.get(key.as_str())?.clone()));
    Value::Object(keys.iter().filter_map(pair).collect())
}

fn repeated(items: &[Value]) -> Vec<(usize, &Value)> {
    repeats(items, form)
}

/// Where a value is for the second time.
fn repeats<K: std::hash::Hash + Eq>(items: &[Value], form: impl Fn(&Value) -> K) -> Vec<(usize, &Value)> {
    let mut seen: FxHashMap<K, usize> = FxHashMap::default();
    let mut repeats = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let times = seen.entry(form(item)).or_default();
        *times += 1;
        if *times == 2 {
            repeats.push((index, item));
        }
    }
    repeats
}

/// The text by which values are told apart. Go compares scalars by type and value, all else as it is written.
fn form(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => go::json(value),
        scalar => distinct(scalar),
    }
}

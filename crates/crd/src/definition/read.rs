//! Members of JSON objects, read as Go reads the fields of a struct: absent, null and zero are often the same.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// A text; empty where there is none.
pub(super) fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a flag is set.
pub(super) fn flag(object: &Object, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// An object below, where there is one.
pub(super) fn child<'a>(object: &'a Object, key: &str) -> Option<&'a Object> {
    object.get(key).and_then(Value::as_object)
}

/// A list; empty where there is none.
pub(super) fn list<'a>(object: &'a Object, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The objects in a list.
pub(super) fn items<'a>(object: &'a Object, key: &str) -> impl Iterator<Item = &'a Object> + use<'a> {
    list(object, key).iter().filter_map(Value::as_object)
}

/// The texts in a list.
pub(super) fn texts<'a>(object: &'a Object, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    list(object, key).iter().filter_map(Value::as_str)
}

/// An object below, made where there is none.
pub(super) fn child_mut<'a>(object: &'a mut Object, key: &str) -> &'a mut Object {
    let value = object.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut().expect("it was made an object")
}

/// Whether the condition of this type has this status; the first one counts.
pub(super) fn condition_is(definition: &Object, kind: &str, status: &str) -> bool {
    let of_kind = |condition: &&Object| text(condition, "type") == kind;
    child(definition, "status")
        .and_then(|all| items(all, "conditions").find(of_kind))
        .is_some_and(|condition| text(condition, "status") == status)
}

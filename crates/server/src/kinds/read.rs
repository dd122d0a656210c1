//! Reading and filling JSON objects as Go reads and fills structs: absent, null and zero are often the same.

use serde_json::Value;

use crate::strategy::Object;

/// A text; empty where there is none.
pub(super) fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A number, where there is one.
pub(super) fn integer(object: &Object, key: &str) -> Option<i64> {
    object.get(key).and_then(Value::as_i64)
}

/// Whether a flag is set.
pub(super) fn flag(object: &Object, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// An object below, where there is one.
pub(super) fn child<'a>(object: &'a Object, key: &str) -> Option<&'a Object> {
    object.get(key).and_then(Value::as_object)
}

/// An object some steps below.
pub(super) fn below<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Object> {
    path.iter().try_fold(object, |object, key| child(object, key))
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

/// Whether a pointer is nil.
pub(super) fn absent(object: &Object, key: &str) -> bool {
    object.get(key).is_none_or(Value::is_null)
}

/// An object below, made where there is none.
pub(super) fn child_mut<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    let value = object.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = Value::Object(Object::new());
    }
    value.as_object_mut()
}

/// An object below, where there is one.
pub(super) fn known_mut<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    object.get_mut(key).and_then(Value::as_object_mut)
}

/// An object some steps below, where there is one.
pub(super) fn below_mut<'a>(object: &'a mut Object, path: &[&str]) -> Option<&'a mut Object> {
    path.iter().try_fold(object, |object, key| known_mut(object, key))
}

/// The objects in a list.
pub(super) fn items_mut<'a>(object: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Object> + use<'a> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Sets what a nil pointer stands for.
pub(super) fn fill(object: &mut Object, key: &str, value: impl Into<Value>) {
    if absent(object, key) {
        object.insert(key.to_owned(), value.into());
    }
}

/// Sets what the empty text stands for.
pub(super) fn fill_text(object: &mut Object, key: &str, value: &str) {
    if text(object, key).is_empty() {
        object.insert(key.to_owned(), value.into());
    }
}

/// Sets what zero stands for.
pub(super) fn fill_zero(object: &mut Object, key: &str, value: i64) {
    if integer(object, key).unwrap_or_default() == 0 {
        object.insert(key.to_owned(), value.into());
    }
}

//! Reading and writing fields of objects. What is absent, null or of another type reads as empty.

use std::sync::LazyLock;

use serde_json::Value;

use super::Object;

static EMPTY: LazyLock<Object> = LazyLock::new(Object::new);

/// The value at a path, if there is one.
pub(crate) fn get<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |at, name| at.get(*name)?.as_object())?;
    parent.get(*last).filter(|value| !value.is_null())
}

/// The text at a path.
pub(crate) fn text<'a>(object: &'a Object, path: &[&str]) -> &'a str {
    get(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a value, which may be missing.
pub(crate) fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The items of the list at a path.
pub(crate) fn items<'a>(object: &'a Object, path: &[&str]) -> &'a [Value] {
    get(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts in the list at a path.
pub(crate) fn texts<'a>(object: &'a Object, path: &[&str]) -> impl Iterator<Item = &'a str> + Clone {
    items(object, path).iter().map(text_of)
}

/// The object or map at a path.
pub(crate) fn object_at<'a>(object: &'a Object, path: &[&str]) -> &'a Object {
    get(object, path).and_then(Value::as_object).unwrap_or(&EMPTY)
}

/// A value as an object.
pub(crate) fn object_of(value: &Value) -> &Object {
    value.as_object().unwrap_or(&EMPTY)
}

/// The entries of the map of texts at a path.
pub(crate) fn entries<'a>(object: &'a Object, path: &[&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    object_at(object, path).iter().map(|(key, value)| (key.as_str(), text_of(value)))
}

/// The whole number at a path.
pub(crate) fn number(object: &Object, path: &[&str]) -> Option<i64> {
    get(object, path)?.as_i64()
}

/// The boolean at a path.
pub(crate) fn flag(object: &Object, path: &[&str]) -> bool {
    get(object, path).and_then(Value::as_bool).unwrap_or_default()
}

/// Puts a value at a path, and objects on the way there.
pub(crate) fn set(object: &mut Object, path: &[&str], value: impl Into<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = object;
    for name in parents {
        let next = at.entry(*name).or_insert_with(|| Value::Object(Object::new()));
        if !next.is_object() {
            *next = Value::Object(Object::new());
        }
        let Value::Object(next) = next else { return };
        at = next;
    }
    at.insert((*last).to_owned(), value.into());
}

/// Takes away what is at a path.
pub(crate) fn remove(object: &mut Object, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(object, |at, name| at.get_mut(*name)?.as_object_mut())?;
    parent.remove(*last)
}

/// Puts a text at a path, or takes away what is there where the text is empty.
pub(crate) fn set_text(object: &mut Object, path: &[&str], text: &str) {
    if text.is_empty() {
        remove(object, path);
    } else {
        set(object, path, text);
    }
}

/// Makes a field what it is in `old`.
pub(crate) fn keep(object: &mut Object, old: &Object, path: &[&str]) {
    match get(old, path) {
        Some(value) => set(object, path, value.clone()),
        None => {
            remove(object, path);
        }
    }
}

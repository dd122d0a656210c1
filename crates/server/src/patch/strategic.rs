//! Strategic merge patch: a merge that knows which lists are merged, and by which key.

mod keys;
mod lists;
mod objects;
mod order;
mod schema;

use rolewright_crd::go::printed;
use serde_json::Value;

use super::{Fault, go};
use crate::facts::Type;
use crate::strategy::Object;
use schema::Schema;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder";
const DELETE_PRIMITIVES: &str = "$deleteFromPrimitiveList";

const BAD_RETAIN_KEYS: &str = "invalid patch format of retainKeys";
const BAD_SET_ORDER: &str = "invalid patch format of setElementOrder list";
const BAD_DELETE_LIST: &str = "invalid patch format of primitive list";

/// Merges a patch into an object. What is used up of the patch is taken out of it.
pub(super) fn merge(object: &mut Object, patch: &mut Object, ty: &'static Type) -> Result<(), Fault> {
    members(object, patch, Schema::of(ty))
}

fn members(original: &mut Object, patch: &mut Object, schema: Schema) -> Result<(), Fault> {
    match patch.get(DIRECTIVE) {
        None => {}
        Some(Value::String(directive)) if directive == "replace" => {
            patch.remove(DIRECTIVE);
            original.clone_from(patch);
            return Ok(());
        }
        Some(Value::String(directive)) if directive == "delete" => {
            original.clear();
            return Ok(());
        }
        Some(other) => return Err(unknown_directive(other, patch)),
    }
    retain_keys(original, patch)?;
    order::lists(original, patch, schema)?;
    let keys: Vec<String> = patch.keys().cloned().collect();
    for key in keys {
        if let Some(value) = patch.get_mut(&key) {
            member(original, &key, value, schema)?;
        }
    }
    Ok(())
}

fn unknown_directive(directive: &Value, patch: &Object) -> Fault {
    Fault::Failed(format!("unknown patch type: {} in map: {}", go::as_text(directive), printed(patch)))
}

fn member(original: &mut Object, key: &str, patch: &mut Value, schema: Schema) -> Result<(), Fault> {
    let deleting = key.starts_with(DELETE_PRIMITIVES);
    let key = match named_by(key, DELETE_PRIMITIVES) {
        None if deleting => return Err(Fault::Malformed(BAD_DELETE_LIST.to_owned())),
        None | Some("") => key,
        Some(list) => list,
    };
    if patch.is_null() {
        original.remove(key);
        return Ok(());
    }
    match (original.get_mut(key), &mut *patch) {
        (Some(Value::Object(original)), Value::Object(patch)) => {
            let (schema, field) = schema.field(key)?;
            if field.patch.replace {
                original.clone_from(patch);
                return Ok(());
            }
            return members(original, patch, schema);
        }
        (Some(Value::Array(original)), Value::Array(patch)) => {
            let (schema, field) = schema.items(key)?;
            if !field.patch.merge && !deleting {
                original.clone_from(patch);
                return Ok(());
            }
            let merge_key = field.patch.merge_key.unwrap_or_default();
            *original = lists::merge(std::mem::take(original), patch, schema, merge_key, deleting)?.list;
            return Ok(());
        }
        _ if deleting => return Ok(()),
        _ => {}
    }
    discard_nulls(patch);
    match without_directives(patch) {
        Some(value) => original.insert(key.to_owned(), value),
        None => original.remove(key),
    };
    Ok(())
}

/// The list that a directive such as `$setElementOrder/containers` is about.
fn named_by<'a>(key: &'a str, directive: &str) -> Option<&'a str> {
    key.split_once('/').filter(|(name, _)| *name == directive).map(|(_, list)| list)
}

fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), Fault> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || Fault::Malformed(BAD_RETAIN_KEYS.to_owned());
    let Value::Array(kept) = kept else { return Err(bad()) };
    if kept.iter().any(|key| key.is_array() || key.is_object()) {
        return Err(Fault::Panic);
    }
    let kept: std::collections::BTreeSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    for (key, value) in &*patch {
        let directive = key.starts_with(DELETE_PRIMITIVES) || key.starts_with(SET_ORDER);
        if !value.is_null() && !directive && !kept.contains(key.as_str()) {
            return Err(bad());
        }
    }
    original.retain(|key, _| kept.contains(key.as_str()));
    Ok(())
}

/// Removes members that are `null`; in lists, `null` stays.
fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// What is left without objects that are directives; nothing if the value is one.
fn without_directives(value: &mut Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => {
            let mut out = Object::new();
            members.retain(|key, value| {
                let kept = without_directives(value);
                let keep = kept.is_some();
                out.extend(kept.map(|value| (key.clone(), value)));
                keep
            });
            Some(Value::Object(out))
        }
        Value::Array(items) => Some(Value::Array(items.iter_mut().filter_map(without_directives).collect())),
        other => Some(other.clone()),
    }
}

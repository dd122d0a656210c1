//! Lists that are merged: by a key, or as sets of scalars.

use std::collections::HashSet;

use serde_json::Value;

use super::keys::{Keys, key_of};
use super::order::{arranged, partition};
use super::schema::Schema;
use super::{DIRECTIVE, members, unknown_directive};
use crate::patch::{Fault, go};

/// The sort of items in lists that are merged with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Scalars,
    Objects,
}

/// Merges a patch's list into a list; `deleting` takes scalars out instead.
pub(super) fn merge(
    original: Vec<Value>,
    patch: &mut Vec<Value>,
    schema: Schema,
    merge_key: &str,
    deleting: bool,
) -> Result<Vec<Value>, Fault> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    match items(&original, patch)? {
        Items::Scalars if deleting => {
            let gone: HashSet<String> = patch.iter().map(Value::to_string).collect();
            Ok(original.into_iter().filter(|item| !gone.contains(&item.to_string())).collect())
        }
        Items::Scalars => {
            let mut seen = HashSet::new();
            let both = original.iter().chain(&*patch);
            let merged: Vec<Value> = both.filter(|item| seen.insert(item.to_string())).cloned().collect();
            let (chosen, rest) = partition(merged, patch, merge_key)?;
            arranged(chosen, rest, patch, &original, merge_key, Items::Scalars)
        }
        Items::Objects if merge_key.is_empty() => {
            let kind = schema.kind();
            Err(Fault::Failed(format!("cannot merge lists without merge key for {kind}")))
        }
        Items::Objects => objects(original, patch, schema, merge_key),
    }
}

fn objects(
    mut original: Vec<Value>,
    patch: &mut [Value],
    schema: Schema,
    merge_key: &str,
) -> Result<Vec<Value>, Fault> {
    let mut gone = Keys::default();
    let mut replace = false;
    for item in &*patch {
        let Value::Object(item) = item else { continue };
        match item.get(DIRECTIVE) {
            None => {}
            Some(Value::String(directive)) if directive == "delete" => gone.push(Some(key_of(item, merge_key)?)),
            Some(Value::String(directive)) if directive == "replace" => replace = true,
            Some(Value::String(directive)) if directive == "merge" => {
                return Err(Fault::Failed("merging lists cannot yet be specified in the patch".to_owned()));
            }
            Some(other) => return Err(unknown_directive(other, item)),
        }
    }
    let mut kept = Vec::with_capacity(original.len());
    for item in original {
        let found = match item.get(merge_key) {
            None => None,
            Some(key) => gone.position(key)?,
        };
        if found.is_none() {
            kept.push(item);
        }
    }
    original = kept;
    let plain = patch.iter_mut().filter(|item| item.get(DIRECTIVE).is_none());
    let mut order: Vec<Value> = Vec::new();
    if replace {
        original = plain.map(|item| item.clone()).collect();
    } else {
        let before = original.clone();
        let mut keys = Keys::of_objects(&original, merge_key);
        for item in plain {
            let Value::Object(patch) = item else { continue };
            let key = key_of(patch, merge_key)?.clone();
            match keys.position(&key)?.and_then(|at| original.get_mut(at)) {
                Some(Value::Object(original)) => members(original, patch, schema)?,
                _ => {
                    keys.push(Some(&key));
                    original.push(Value::Object(patch.clone()));
                }
            }
            order.push(Value::Object([(merge_key.to_owned(), key)].into_iter().collect()));
        }
        let (chosen, rest) = partition(original, &order, merge_key)?;
        return arranged(chosen, rest, &order, &before, merge_key, Items::Objects);
    }
    let (chosen, rest) = partition(original.clone(), &order, merge_key)?;
    arranged(chosen, rest, &order, &original, merge_key, Items::Objects)
}

/// What both lists hold. Items must be of one type, which must not be a list.
pub(super) fn items(a: &[Value], b: &[Value]) -> Result<Items, Fault> {
    let mut all = a.iter().chain(b);
    let Some(first) = all.next() else {
        return Err(Fault::Failed("no elements in any of the given slices".to_owned()));
    };
    if first.is_null() {
        return Err(Fault::Panic);
    }
    if first.is_array() {
        return Err(Fault::Refused);
    }
    if all.any(|item| go::type_name(item) != go::type_name(first)) {
        let (a, b) = (go::plain_list(a), go::plain_list(b));
        return Err(Fault::Failed(format!("list element types are not identical: [{a} {b}]")));
    }
    Ok(if first.is_object() { Items::Objects } else { Items::Scalars })
}

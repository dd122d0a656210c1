//! Lists that are merged: by a key, or as sets of scalars.

use std::collections::HashSet;

use rolewright_crd::go::printed;
use serde_json::Value;

use super::objects;
use super::order::{arranged, partition};
use super::schema::Schema;
use crate::patch::{Fault, go};

/// The sort of items in lists that are merged with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Scalars,
    Objects,
}

/// A list after its patch.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) list: Vec<Value>,
    /// What Kubernetes finds if it looks at the old list again: it has merged in place. Only keys are of interest.
    pub(super) remains: Vec<Value>,
}

/// Merges a patch's list into a list; `deleting` takes scalars out instead.
pub(super) fn merge(
    original: Vec<Value>,
    patch: &mut Vec<Value>,
    schema: Schema,
    merge_key: &str,
    deleting: bool,
) -> Result<Merged, Fault> {
    if original.is_empty() && patch.is_empty() {
        return Ok(Merged::default());
    }
    match items(&original, patch)? {
        Items::Scalars if deleting => {
            let gone: HashSet<String> = patch.iter().map(Value::to_string).collect();
            let list = original.iter().filter(|item| !gone.contains(&item.to_string())).cloned().collect();
            Ok(Merged { list, remains: original })
        }
        Items::Scalars => {
            let mut seen = HashSet::new();
            let both = original.iter().chain(&*patch);
            let merged: Vec<Value> = both.filter(|item| seen.insert(item.to_string())).cloned().collect();
            let (chosen, rest) = partition(merged, patch, merge_key)?;
            let list = arranged(chosen, rest, patch, &original, merge_key, Items::Scalars)?;
            Ok(Merged { list, remains: original })
        }
        Items::Objects if merge_key.is_empty() => {
            let kind = schema.kind();
            Err(Fault::Failed(format!("cannot merge lists without merge key for {kind}")))
        }
        Items::Objects => objects::merge(original, patch, schema, merge_key),
    }
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
        let (a, b) = (printed(a), printed(b));
        return Err(Fault::Failed(format!("list element types are not identical: [{a} {b}]")));
    }
    Ok(if first.is_object() { Items::Objects } else { Items::Scalars })
}

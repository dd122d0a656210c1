//! Lists of objects with a merge key.

use std::collections::HashMap;

use serde_json::Value;

use super::keys::{Keys, key_of};
use super::lists::{Items, Merged};
use super::order::{arranged, partition};
use super::schema::Schema;
use super::{DIRECTIVE, members, unknown_directive};
use crate::patch::Fault;

/// Deletes what directives name, then merges item by item.
pub(super) fn merge(
    original: Vec<Value>,
    patch: &mut [Value],
    schema: Schema,
    merge_key: &str,
) -> Result<Merged, Fault> {
    let directives = directives(patch, merge_key)?;
    let Kept { mut list, mut remains } = delete(original, &directives.gone, merge_key)?;
    if directives.replace {
        list = patch.iter().filter(|item| item.get(DIRECTIVE).is_none()).cloned().collect();
        let (chosen, rest) = partition(list.clone(), &[], merge_key)?;
        let list = arranged(chosen, rest, &[], &list, merge_key, Items::Objects)?;
        return Ok(Merged { list, remains });
    }
    let before: Vec<Value> = list.iter().map(|item| short(item, merge_key)).collect();
    let mut order: Vec<Value> = Vec::new();
    let mut keys = Keys::of_objects(&list, merge_key);
    // Where items of the patch stood, and whether a later one was merged into them.
    let mut appended: Vec<(usize, bool)> = Vec::new();
    for (position, item) in patch.iter_mut().enumerate() {
        let Value::Object(item) = item else { continue };
        if item.contains_key(DIRECTIVE) {
            continue;
        }
        let key = key_of(item, merge_key)?.clone();
        let found = keys.position(&key)?;
        let named = Value::Object([(merge_key.to_owned(), key.clone())].into_iter().collect());
        if let Some((at, Value::Object(old))) = found.and_then(|at| Some((at, list.get_mut(at)?))) {
            members(old, item, schema)?;
            let again = at.checked_sub(before.len()).and_then(|at| appended.get_mut(at));
            if let Some((_, again)) = again {
                *again = true;
            }
        } else {
            if let Some(slot) = remains.get_mut(list.len()) {
                slot.clone_from(&named);
            }
            keys.push(Some(&key));
            appended.push((position, false));
            list.push(Value::Object(item.clone()));
        }
        order.push(named);
    }
    // Kubernetes has one object in both places, and shows it as it is in the end.
    for (at, (position, _)) in appended.into_iter().enumerate().filter(|(_, (_, again))| *again) {
        if let (Some(item), Some(merged)) = (patch.get_mut(position), list.get(before.len() + at)) {
            item.clone_from(merged);
        }
    }
    let (chosen, rest) = partition(list, &order, merge_key)?;
    let list = arranged(chosen, rest, &order, &before, merge_key, Items::Objects)?;
    Ok(Merged { list, remains })
}

#[derive(Default)]
struct Directives {
    /// Keys of items to delete.
    gone: Vec<Value>,
    /// Only what the patch lists is left.
    replace: bool,
}

fn directives(patch: &[Value], merge_key: &str) -> Result<Directives, Fault> {
    let mut found = Directives::default();
    for item in patch.iter().filter_map(Value::as_object) {
        match item.get(DIRECTIVE) {
            None => {}
            Some(Value::String(directive)) if directive == "delete" => {
                found.gone.push(key_of(item, merge_key)?.clone());
            }
            Some(Value::String(directive)) if directive == "replace" => found.replace = true,
            Some(Value::String(directive)) if directive == "merge" => {
                return Err(Fault::Failed("merging lists cannot yet be specified in the patch".to_owned()));
            }
            Some(other) => return Err(unknown_directive(other, item)),
        }
    }
    Ok(found)
}

struct Kept {
    list: Vec<Value>,
    /// The same, and then what shifting items to the left leaves at the end.
    remains: Vec<Value>,
}

fn delete(original: Vec<Value>, gone: &[Value], merge_key: &str) -> Result<Kept, Fault> {
    let shorts: Vec<Value> = original.iter().map(|item| short(item, merge_key)).collect();
    if gone.is_empty() {
        return Ok(Kept { list: original, remains: shorts });
    }
    let keys = Keys::of_objects(&original, merge_key);
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, item) in original.iter().enumerate() {
        if let Some(key) = item.get(merge_key) {
            places.entry(key.to_string()).or_default().push(at);
        }
    }
    let mut alive = vec![true; original.len()];
    let mut last = original.len();
    // The item that was the last one whenever the list got shorter.
    let mut left_over = Vec::new();
    for key in gone {
        if keys.position(key)?.is_none() {
            continue;
        }
        for at in places.remove(&key.to_string()).unwrap_or_default() {
            while last > 0 && alive.get(last - 1) == Some(&false) {
                last -= 1;
            }
            left_over.extend(last.checked_sub(1).and_then(|last| shorts.get(last)).cloned());
            if let Some(alive) = alive.get_mut(at) {
                *alive = false;
            }
        }
    }
    let kept = |list: Vec<Value>| list.into_iter().zip(&alive).filter(|(_, alive)| **alive).map(|(item, _)| item);
    let remains = kept(shorts).chain(left_over.into_iter().rev()).collect();
    Ok(Kept { list: kept(original).collect(), remains })
}

/// An item with nothing but its key.
fn short(item: &Value, merge_key: &str) -> Value {
    match item.get(merge_key) {
        Some(key) => Value::Object([(merge_key.to_owned(), key.clone())].into_iter().collect()),
        None => item.clone(),
    }
}

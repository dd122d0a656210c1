//! The order of merged lists: what the patch says comes first, then what was there before.

use rolewright_crd::go::printed;
use serde_json::Value;

use super::keys::{Keys, as_object, key_of, same, wrong_type};
use super::lists::{self, Items, Merged};
use super::schema::Schema;
use super::{BAD_SET_ORDER, DIRECTIVE, SET_ORDER, named_by, without_directives};
use crate::patch::Fault;
use crate::strategy::Object;

/// Merges the lists for which a patch gives the order, and takes them out of the patch.
pub(super) fn lists(original: &mut Object, patch: &mut Object, schema: Schema) -> Result<(), Fault> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let wanted = "[]interface {}";
        let order = match patch.remove(&directive) {
            Some(Value::Array(order)) => order,
            Some(other) => return Err(wrong_type(wanted, &other)),
            None => continue,
        };
        let name = named_by(&directive, SET_ORDER).ok_or_else(|| Fault::Malformed(BAD_SET_ORDER.to_owned()))?;
        let before = match original.get(name) {
            None => None,
            Some(Value::Array(list)) => Some(list.clone()),
            Some(other) => return Err(wrong_type(wanted, other)),
        };
        let change = match patch.get_mut(name) {
            None => None,
            Some(Value::Array(list)) => Some(list),
            Some(other) => return Err(wrong_type(wanted, other)),
        };
        let (schema, field) = schema.items(name)?;
        let merge_key = field.patch.merge_key.unwrap_or_default();
        check(change.as_deref().map_or(&[], Vec::as_slice), &order, merge_key)?;
        let after = change.as_deref().cloned().unwrap_or_default();
        let Merged { list, remains } = match (before, change) {
            (None, None) => continue,
            (Some(before), None) => Merged { list: before.clone(), remains: before },
            (None, Some(change)) => {
                Merged { list: change.iter_mut().filter_map(without_directives).collect(), remains: Vec::new() }
            }
            (Some(before), Some(change)) if field.patch.merge => {
                lists::merge(before, change, schema, merge_key, false)?
            }
            (Some(before), Some(change)) => Merged { list: change.clone(), remains: before },
        };
        let (chosen, rest) = partition(list, &order, merge_key)?;
        let items = lists::items(&remains, &after)?;
        let arranged = arranged(chosen, rest, &order, &remains, merge_key, items)?;
        original.insert(name.to_owned(), Value::Array(arranged));
        patch.remove(name);
    }
    Ok(())
}

/// The items of a patch's list must be in the order that the patch gives.
fn check(list: &[Value], order: &[Value], merge_key: &str) -> Result<(), Fault> {
    if list.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut items = Vec::with_capacity(list.len());
    for item in list {
        let deletes = !merge_key.is_empty() && as_object(item)?.get(DIRECTIVE).is_some_and(|value| value == "delete");
        if !deletes {
            items.push(item);
        }
    }
    let (mut at, mut places) = (0, order.iter());
    while let Some(item) = items.get(at) {
        if item.get(DIRECTIVE).is_some() && places.len() > 0 {
            at += 1;
            continue;
        }
        let Some(place) = places.next() else {
            let (list, order) = (printed(list), printed(order));
            return Err(Fault::Failed(format!(
                "The order in patch list:\n{list}\n doesn't match {SET_ORDER} list:\n{order}\n"
            )));
        };
        let equal = if merge_key.is_empty() {
            same(item, place)?
        } else {
            let (item, place) = (as_object(item)?, as_object(place)?);
            same(key_of(item, merge_key)?, key_of(place, merge_key)?)?
        };
        if equal {
            at += 1;
        }
    }
    Ok(())
}

/// Splits a list into items that `by` has too, and all others.
pub(super) fn partition(list: Vec<Value>, by: &[Value], merge_key: &str) -> Result<(Vec<Value>, Vec<Value>), Fault> {
    let (mut chosen, mut rest) = (Vec::new(), Vec::new());
    let keys = if merge_key.is_empty() { Keys::of_scalars(by) } else { Keys::of_objects(by, merge_key) };
    if merge_key.is_empty() && !(keys.are_hashable() && Keys::of_scalars(&list).are_hashable()) {
        return Err(Fault::Panic);
    }
    for item in list {
        let found = if merge_key.is_empty() {
            keys.position(&item)?
        } else {
            keys.position_of_object(key_of(as_object(&item)?, merge_key)?)?
        };
        if found.is_some() { chosen.push(item) } else { rest.push(item) }
    }
    Ok((chosen, rest))
}

/// Puts the items of a patch into the patch's order, all others into the order they had, and the two into each other.
pub(super) fn arranged(
    chosen: Vec<Value>,
    rest: Vec<Value>,
    order: &[Value],
    before: &[Value],
    merge_key: &str,
    items: Items,
) -> Result<Vec<Value>, Fault> {
    let chosen = sorted(chosen, order, merge_key, items)?;
    let rest = sorted(rest, before, merge_key, items)?;
    let keys = index(before, merge_key, items);
    let placed = |list: Vec<Value>| -> Result<Vec<(Option<usize>, Value)>, Fault> {
        list.into_iter().map(|item| Ok((position(&keys, &item, merge_key, items)?, item))).collect()
    };
    let mut left = placed(rest)?.into_iter().peekable();
    let mut right = placed(chosen)?.into_iter().peekable();
    let mut out = Vec::new();
    loop {
        let from_left = match (left.peek(), right.peek()) {
            (None, None) => return Ok(out),
            (Some(_), None) => true,
            (Some((Some(a), _)), Some((Some(b), _))) => a < b,
            (_, Some(_)) => false,
        };
        let next = if from_left { left.next() } else { right.next() };
        out.extend(next.map(|(_, item)| item));
    }
}

fn sorted(list: Vec<Value>, order: &[Value], merge_key: &str, items: Items) -> Result<Vec<Value>, Fault> {
    if items == Items::Objects {
        for item in list.iter().chain(order) {
            key_of(as_object(item)?, merge_key)?;
        }
    }
    let keys = index(order, merge_key, items);
    let mut placed: Vec<(Option<usize>, Value)> = Vec::with_capacity(list.len());
    // A list of one is not compared, and a comparison may fail.
    let alone = list.len() < 2;
    for item in list {
        placed.push((if alone { None } else { position(&keys, &item, merge_key, items)? }, item));
    }
    // Unknown items count as less than all others and each other, which no sort can satisfy. Go sorts short lists by
    // insertion, and that order is kept here; for long ones there is nothing to follow.
    if placed.len() <= 20 && placed.iter().any(|(at, _)| at.is_none()) {
        for end in 1..placed.len() {
            let mut at = end;
            while at > 0 && less(placed.get(at), placed.get(at - 1)) {
                placed.swap(at, at - 1);
                at -= 1;
            }
        }
    } else {
        placed.sort_by_key(|(at, _)| *at);
    }
    Ok(placed.into_iter().map(|(_, item)| item).collect())
}

fn less(a: Option<&(Option<usize>, Value)>, b: Option<&(Option<usize>, Value)>) -> bool {
    match (a, b) {
        (Some((Some(a), _)), Some((Some(b), _))) => a < b,
        _ => true,
    }
}

fn index(list: &[Value], merge_key: &str, items: Items) -> Keys {
    match items {
        Items::Scalars => Keys::of_scalars(list),
        Items::Objects => Keys::of_objects(list, merge_key),
    }
}

fn position(keys: &Keys, item: &Value, merge_key: &str, items: Items) -> Result<Option<usize>, Fault> {
    match items {
        Items::Scalars => keys.position(item),
        Items::Objects => keys.position(item.get(merge_key).unwrap_or(&Value::Null)),
    }
}

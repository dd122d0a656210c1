//! What comes of an object when a configuration is applied to it, and when fields are taken out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::compare::Zip;
use super::element::Element;
use super::schema::{Form, Items, Members, Place, as_list, as_map};
use super::set::Set;

/// The live object with everything that the configuration says. Both have been found to be well formed.
pub(super) fn merge(place: Place<'_>, live: &Map<String, Value>, applied: &Map<String, Value>) -> Map<String, Value> {
    match place.form(None) {
        Form::Map(members) if !members.atomic => merge_members(members, Some(live), Some(applied)),
        Form::Map(_) | Form::Scalar(_) | Form::List(_) => applied.clone(),
    }
}

fn merge_at(place: Place<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let (Some(old), Some(new)) = (live, applied) else { return applied.or(live).cloned() };
    match place.form(applied) {
        Form::Scalar(_) => Some(new.clone()),
        Form::List(items) => {
            let (before, after) = (as_list(live), as_list(applied));
            if items.atomic() || before.is_empty() && after.is_empty() {
                return Some(new.clone());
            }
            Some(Value::Array(merge_items(items, before, after)))
        }
        Form::Map(members) => {
            let empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
            if members.atomic || empty(old) && empty(new) {
                return Some(new.clone());
            }
            Some(Value::Object(merge_members(members, as_map(live), as_map(applied))))
        }
    }
}

fn merge_members(
    members: Members<'_>,
    live: Option<&Map<String, Value>>,
    applied: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let merged = Zip::of(live, applied).filter_map(|(name, live, applied)| {
        let place = members.get(name).map_or(Place::Untyped, |(place, _)| place);
        Some((name.clone(), merge_at(place, live, applied)?))
    });
    merged.collect()
}

/// Items that both have are in the order of the configuration, the others stay with their neighbours.
fn merge_items(items: Items<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    // An element that occurs several times has no one item to merge with.
    static SEVERAL: Value = Value::Null;
    let elements =
        |list: &[Value]| -> Vec<Element> { list.iter().map(|item| items.element_or_nameless(item)).collect() };
    let (left, right) = (elements(live), elements(applied));
    let mut in_left: BTreeMap<&Element, &Value> = BTreeMap::new();
    for (element, item) in left.iter().zip(live) {
        in_left.entry(element).and_modify(|known| *known = &SEVERAL).or_insert(item);
    }
    let in_right: BTreeMap<&Element, &Value> = right.iter().zip(applied).collect();
    let mut shared = right.iter().filter(|element| in_left.contains_key(element));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(applied.len()));
    let both = |element: &Element| merge_at(items.place, in_left.get(element).copied(), in_right.get(element).copied());
    let (mut at, mut of) = (0, 0);
    while at < left.len() || of < right.len() {
        let (l, r) = (left.get(at), right.get(of));
        if let (Some(l), Some(r)) = (l, r) {
            if l == r {
                done.insert(l);
                out.extend(both(l));
                (at, of) = (at + 1, of + 1);
                next_shared = shared.next();
                continue;
            }
            if in_right.contains_key(l) && next_shared.is_some_and(|next| next != l) {
                at += 1;
                continue;
            }
        }
        if let Some(l) = l {
            if !in_right.contains_key(l) {
                out.extend(live.get(at).cloned());
                at += 1;
                continue;
            }
            if done.contains(l) {
                at += 1;
            }
        }
        if let Some(r) = r {
            done.insert(r);
            out.extend(both(r));
            of += 1;
            if next_shared == Some(r) {
                next_shared = shared.next();
            }
        }
    }
    out
}

/// The object without these fields. A list or map that loses all it has becomes null.
pub(super) fn without(place: Place<'_>, object: &Map<String, Value>, fields: &Set) -> Map<String, Value> {
    match place.form(None) {
        Form::Map(members) => members_without(members, object, fields),
        Form::Scalar(_) | Form::List(_) => object.clone(),
    }
}

fn value_without(place: Place<'_>, value: &Value, fields: &Set) -> Value {
    match (place.form(Some(value)), value) {
        (Form::Scalar(_), _) => value.clone(),
        (Form::List(items), Value::Array(list)) if !items.atomic() => {
            let kept: Vec<Value> = list.iter().filter_map(|item| item_without(items, item, fields)).collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        (Form::Map(members), Value::Object(map)) if !members.atomic => {
            let kept = members_without(members, map, fields);
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        _ => Value::Null,
    }
}

fn item_without(items: Items<'_>, item: &Value, fields: &Set) -> Option<Value> {
    match fields.get(&items.element_or_nameless(item)) {
        Some(node) if node.member => None,
        Some(node) => Some(value_without(items.place, item, &node.children)),
        None => Some(item.clone()),
    }
}

fn members_without(members: Members<'_>, map: &Map<String, Value>, fields: &Set) -> Map<String, Value> {
    let kept = map.iter().filter_map(|(name, value)| {
        let value = match fields.get(&Element::Field(SmolStr::new(name))) {
            Some(node) if node.member => return None,
            Some(node) => {
                let place = members.get(name).map_or(Place::Untyped, |(place, _)| place);
                value_without(place, value, &node.children)
            }
            None => value.clone(),
        };
        Some((name.clone(), value))
    });
    kept.collect()
}

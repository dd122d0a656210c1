//! Functions of lists: Kubernetes' own, CEL's, and sets.
use std::cmp::Ordering;

use super::operators;
use crate::value::collection::List;
use crate::value::compare::{equal, is_ordered, order};
use crate::value::{Fault, Outcome, Value, fault, no_such_overload};

/// Longer ranges would cost more than any limit.
const LONGEST_RANGE: i64 = 2_000_000;
/// So would more comparisons: a call that needs them is charged for, and not made.
const MOST_COMPARISONS: usize = 20_000_000;

pub(super) fn call<'a>(id: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    if let ("lists_range", [Value::Int(count)]) = (id, args) {
        return Some(Ok(Value::list((0..(*count).min(LONGEST_RANGE)).map(Value::Int).collect())));
    }
    let (Some(Value::List(list)), rest) = (args.first(), args.get(1..).unwrap_or_default()) else { return None };
    let items = || list.iter().collect::<Result<Vec<Value<'a>>, Fault>>();
    let outcome = match (id, rest) {
        ("list_a_index_of_int", [item]) => Ok(index_of(list, item, false)),
        ("list_a_last_index_of_int", [item]) => Ok(index_of(list, item, true)),
        ("list_slice", [Value::Int(start), Value::Int(end)]) => slice(list, *start, *end),
        ("list_flatten", []) => flatten(list, 1),
        ("list_flatten_int", [Value::Int(depth)]) => flatten(list, *depth),
        ("list_reverse", []) => items().map(|mut items| {
            items.reverse();
            Value::list(items)
        }),
        ("list_distinct", []) if are_too_many(list, list) => Ok(Value::List(list.clone())),
        ("list_distinct", []) => items().map(distinct),
        (id, [Value::List(two)]) if id.starts_with("list_sets_") && are_too_many(list, two) => Ok(Value::Bool(false)),
        ("list_sets_contains_list", [Value::List(two)]) => contains_all(list, two).map(Value::Bool),
        ("list_sets_equivalent_list", [Value::List(two)]) => contains_all(list, two)
            .and_then(|one| if one { contains_all(two, list) } else { Ok(false) })
            .map(Value::Bool),
        ("list_sets_intersects_list", [Value::List(two)]) => {
            let any = list.iter().flatten().any(|item| operators::contains(two, &item) == Ok(true));
            Ok(Value::Bool(any))
        }
        (id, []) if id.ends_with("_is_sorted_bool") => is_sorted(list),
        (id, []) if id.contains("_sum_") => sum(id, list),
        (id, []) if id.contains("_max_") => extreme("max", list, Ordering::Less),
        (id, []) if id.contains("_min_") => extreme("min", list, Ordering::Greater),
        _ => return None,
    };
    Some(outcome)
}

fn index_of<'a>(list: &List<'a>, wanted: &Value<'a>, last: bool) -> Value<'a> {
    let places: Box<dyn Iterator<Item = usize>> =
        if last { Box::new((0..list.len()).rev()) } else { Box::new(0..list.len()) };
    for at in places {
        if let Some(Ok(item)) = list.get(at)
            && equal(&item, wanted) == Ok(true)
        {
            return Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
        }
    }
    Value::Int(-1)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Outcome<'a> {
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    if start < 0 || end < 0 {
        return fault(format!("cannot slice({start}, {end}), negative indexes not supported"));
    }
    if start > end {
        return fault(format!("cannot slice({start}, {end}), start index must be less than or equal to end index"));
    }
    if length < end {
        return fault(format!("cannot slice({start}, {end}), list is length {length}"));
    }
    let places = (start..end).filter_map(|at| list.get(usize::try_from(at).ok()?));
    Ok(Value::list(places.collect::<Result<_, _>>()?))
}

fn flatten<'a>(list: &List<'a>, depth: i64) -> Outcome<'a> {
    if depth < 0 {
        return fault("level must be non-negative");
    }
    let mut flat = Vec::new();
    flatten_into(list, depth, &mut flat)?;
    Ok(Value::list(flat))
}

fn flatten_into<'a>(list: &List<'a>, depth: i64, flat: &mut Vec<Value<'a>>) -> Result<(), Fault> {
    for item in list.iter() {
        match item? {
            Value::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, flat)?,
            other => flat.push(other),
        }
    }
    Ok(())
}

fn are_too_many(one: &List<'_>, two: &List<'_>) -> bool {
    one.len().saturating_mul(two.len()) > MOST_COMPARISONS
}

fn distinct(items: Vec<Value<'_>>) -> Value<'_> {
    let mut unique: Vec<Value<'_>> = Vec::new();
    for item in items {
        if !unique.iter().any(|known| equal(&item, known) == Ok(true)) {
            unique.push(item);
        }
    }
    Value::list(unique)
}

fn contains_all<'a>(list: &List<'a>, wanted: &List<'a>) -> Result<bool, Fault> {
    for item in wanted.iter() {
        if !operators::contains(list, &item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_sorted<'a>(list: &List<'a>) -> Outcome<'a> {
    let mut previous: Option<Value<'a>> = None;
    for item in list.iter() {
        let item = item?;
        if !is_ordered(&item) {
            return no_such_overload();
        }
        if let Some(previous) = &previous
            && order(previous, &item) == Ok(Ordering::Greater)
        {
            return Ok(Value::Bool(false));
        }
        previous = Some(item);
    }
    Ok(Value::Bool(true))
}

fn sum<'a>(id: &str, list: &List<'a>) -> Outcome<'a> {
    let mut total = match id {
        "list_int_sum_int" => Value::Int(0),
        "list_uint_sum_uint" => Value::Uint(0),
        "list_double_sum_double" => Value::Double(0.0),
        _ => Value::Duration(0),
    };
    for item in list.iter() {
        // A sum that cannot be computed is no number to go on with.
        total = operators::call("_+_", vec![total, item?])?;
    }
    Ok(total)
}

fn extreme<'a>(name: &str, list: &List<'a>, replaced: Ordering) -> Outcome<'a> {
    let mut result: Option<Value<'a>> = None;
    for item in list.iter() {
        let item = item?;
        if !is_ordered(&item) {
            return no_such_overload();
        }
        if result.as_ref().is_none_or(|result| order(result, &item) == Ok(replaced)) {
            result = Some(item);
        }
    }
    result.map_or_else(|| fault(format!("{name} called on empty list")), Ok)
}

/// A list in the order of its keys.
pub(super) fn sort<'a>(list: &List<'a>, keys: &List<'a>) -> Outcome<'a> {
    if list.len() != keys.len() {
        return fault(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            list.len(),
            keys.len()
        ));
    }
    let keys: Vec<Value<'a>> = keys.iter().collect::<Result<_, _>>()?;
    let items: Vec<Value<'a>> = list.iter().collect::<Result<_, _>>()?;
    let Some(first) = keys.first() else { return Ok(Value::List(list.clone())) };
    if !is_ordered(first) {
        return fault("list elements must be comparable");
    }
    let kind = first.type_name();
    if keys.len() > 1 && keys.iter().any(|key| key.type_name() != kind) {
        return fault("list elements must have the same type");
    }
    let mut pairs: Vec<(Value<'a>, Value<'a>)> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(one, _), (two, _)| order(one, two).unwrap_or(Ordering::Equal));
    Ok(Value::list(pairs.into_iter().map(|(_, item)| item).collect()))
}

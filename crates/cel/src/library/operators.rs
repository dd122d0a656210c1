//! Operators, and the functions that look at the types of their arguments themselves.
use std::cmp::Ordering;
use std::sync::Arc;

use super::{lists, regex};
use crate::schema::ListKind;
use crate::value::collection::{Items, List, Map};
use crate::value::compare::{Native, equal, list_key, native, order};
use crate::value::{Fault, Outcome, Value, fault, no_such_overload};

pub(super) fn call<'a>(name: &str, args: Vec<Value<'a>>) -> Outcome<'a> {
    let mut args = args.into_iter();
    match (args.next(), args.next()) {
        (Some(value), None) => unary(name, value),
        (Some(one), Some(two)) => binary(name, &one, &two),
        _ => no_such_overload(),
    }
}

/// A value for which the function does not exist at all; some kinds of values do not tell which.
fn unknown<'a>(name: &str, value: &Value<'_>) -> Outcome<'a> {
    match value {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => no_such_overload(),
        _ => fault(format!("no such overload: {name}")),
    }
}

fn unary<'a>(name: &str, value: Value<'a>) -> Outcome<'a> {
    match (name, &value) {
        ("!_", Value::Bool(value)) => Ok(Value::Bool(!value)),
        ("@not_strictly_false", Value::Bool(value)) => Ok(Value::Bool(*value)),
        ("@not_strictly_false", _) => Ok(Value::Bool(true)),
        ("!_", _) | ("-_", Value::Bool(_)) => no_such_overload(),
        ("-_", Value::Int(number)) => number.checked_neg().map(Value::Int).ok_or_else(overflow),
        ("-_", Value::Duration(nanos)) => nanos.checked_neg().map(Value::Duration).ok_or_else(overflow),
        ("-_", Value::Double(number)) => Ok(Value::Double(-number)),
        ("size", Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_)) => {
            Ok(Value::Int(i64::try_from(value.size().unwrap_or(0)).unwrap_or(i64::MAX)))
        }
        ("type", Value::Preserved(_)) => fault(
            "type conversion to 'type' not supported for values preserved by x-kubernetes-preserve-unknown-fields",
        ),
        ("type", _) => Ok(Value::Type(value.type_name())),
        ("dyn", _) => Ok(value),
        ("sort", Value::List(list)) => lists::sort(list, list),
        _ => unknown(name, &value),
    }
}

fn overflow() -> Fault {
    "integer overflow".into()
}

fn binary<'a>(name: &str, one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    match name {
        "_+_" => add(one, two),
        "_-_" => subtract(one, two),
        "_*_" | "_/_" | "_%_" => arithmetic(name, one, two),
        "_<_" => compare(name, one, two, |order| order == Ordering::Less),
        "_<=_" => compare(name, one, two, |order| order != Ordering::Greater),
        "_>_" => compare(name, one, two, |order| order == Ordering::Greater),
        "_>=_" => compare(name, one, two, |order| order != Ordering::Less),
        "@in" => is_in(one, two),
        "matches" => match (one, two) {
            (Value::String(text), Value::String(pattern)) => {
                regex::call("matches", &regex::compile(pattern)?, text, None)
            }
            (Value::String(_), _) => no_such_overload(),
            _ => unknown(name, one),
        },
        "@sortByAssociatedKeys" => match (one, two) {
            (Value::List(list), Value::List(keys)) => lists::sort(list, keys),
            _ => unknown(name, one),
        },
        _ => no_such_overload(),
    }
}

fn compare<'a>(name: &str, one: &Value<'_>, two: &Value<'_>, answer: impl Fn(Ordering) -> bool) -> Outcome<'a> {
    if !crate::value::compare::is_ordered(one) {
        return unknown(name, one);
    }
    Ok(Value::Bool(answer(order(one, two)?)))
}

fn add<'a>(one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    Ok(match (one, two) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_add(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => match a.checked_add(*b) {
            Some(sum) => Value::Uint(sum),
            None => return fault("unsigned integer overflow"),
        },
        (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Value::String(a), Value::String(b)) => Value::text(format!("{}{}", &**a, &**b)),
        (Value::Bytes(a), Value::Bytes(b)) => Value::Bytes([&**a, &**b].concat().into()),
        (Value::Duration(a), Value::Duration(b)) => Value::Duration(a.checked_add(*b).ok_or_else(overflow)?),
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            Value::Timestamp(time.plus(*nanos)?)
        }
        (Value::List(a), Value::List(b)) => return add_lists(a, b),
        (
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
            | Value::List(_),
            _,
        ) => return no_such_overload(),
        _ => return unknown("_+_", one),
    })
}

fn add_lists<'a>(one: &List<'a>, two: &List<'a>) -> Outcome<'a> {
    let mut items: Vec<Value<'a>> = one.iter().collect::<Result<_, _>>()?;
    let more = two.iter();
    match one.schema.map(|schema| &schema.kind) {
        Some(ListKind::Set) => {
            let mut known: Vec<Native<'a>> = items.iter().filter_map(native).collect();
            for item in more {
                let item = item?;
                let native = native(&item);
                if native.as_ref().is_none_or(|native| !known.contains(native)) {
                    known.extend(native);
                    items.push(item);
                }
            }
        }
        Some(ListKind::Map(keys)) => {
            let mut places = std::collections::HashMap::new();
            for (at, item) in items.iter().enumerate() {
                if let Some(key) = list_key(item, keys) {
                    places.insert(key, at);
                }
            }
            for item in more {
                let item = item?;
                let place = list_key(&item, keys).and_then(|key| places.get(&key)).and_then(|at| items.get_mut(*at));
                match place {
                    Some(place) => *place = item,
                    None => items.push(item),
                }
            }
        }
        _ => {
            for item in more {
                items.push(item?);
            }
        }
    }
    Ok(Value::List(List { items: Items::Made(Arc::new(items)), schema: one.schema }))
}

fn subtract<'a>(one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    Ok(match (one, two) {
        (Value::Int(a), Value::Int(b)) => Value::Int(a.checked_sub(*b).ok_or_else(overflow)?),
        (Value::Uint(a), Value::Uint(b)) => match a.checked_sub(*b) {
            Some(rest) => Value::Uint(rest),
            None => return fault("unsigned integer overflow"),
        },
        (Value::Double(a), Value::Double(b)) => Value::Double(a - b),
        (Value::Duration(a), Value::Duration(b)) => Value::Duration(a.checked_sub(*b).ok_or_else(overflow)?),
        (Value::Timestamp(time), Value::Duration(nanos)) => Value::Timestamp(time.minus(*nanos)?),
        (Value::Timestamp(a), Value::Timestamp(b)) => Value::Duration(a.since(b)?),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_) | Value::Timestamp(_), _) => {
            return no_such_overload();
        }
        _ => return unknown("_-_", one),
    })
}

fn arithmetic<'a>(name: &str, one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    Ok(match (name, one, two) {
        ("_*_", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_mul(*b).ok_or_else(overflow)?),
        ("_*_", Value::Double(a), Value::Double(b)) => Value::Double(a * b),
        ("_*_", Value::Uint(a), Value::Uint(b)) => match a.checked_mul(*b) {
            Some(product) => Value::Uint(product),
            None => return fault("unsigned integer overflow"),
        },
        ("_/_", Value::Int(_), Value::Int(0)) | ("_/_", Value::Uint(_), Value::Uint(0)) => {
            return fault("division by zero");
        }
        ("_%_", Value::Int(_), Value::Int(0)) | ("_%_", Value::Uint(_), Value::Uint(0)) => {
            return fault("modulus by zero");
        }
        ("_/_", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_div(*b).ok_or_else(overflow)?),
        ("_/_", Value::Uint(a), Value::Uint(b)) => Value::Uint(a / b),
        ("_/_", Value::Double(a), Value::Double(b)) => Value::Double(a / b),
        ("_%_", Value::Int(a), Value::Int(b)) => Value::Int(a.checked_rem(*b).ok_or_else(overflow)?),
        ("_%_", Value::Uint(a), Value::Uint(b)) => Value::Uint(a % b),
        (_, Value::Int(_) | Value::Uint(_), _) | ("_*_" | "_/_", Value::Double(_), _) => return no_such_overload(),
        _ => return unknown(name, one),
    })
}

fn is_in<'a>(one: &Value<'a>, two: &Value<'a>) -> Outcome<'a> {
    match two {
        Value::Map(map @ (Map::Made(_) | Map::Json(..))) => Ok(Value::Bool(map.find(one)?.is_some())),
        Value::List(list) => contains(list, one).map(Value::Bool),
        _ => no_such_overload(),
    }
}

/// Whether a list holds a value; a list over JSON tells when nothing fits and something could not be compared.
pub(super) fn contains<'a>(list: &List<'a>, value: &Value<'a>) -> Result<bool, Fault> {
    let mut first = None;
    for item in list.iter() {
        let item = item?;
        let same = if list.schema.is_some() { equal(&item, value) } else { equal(value, &item) };
        match same {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(fault) => first = first.or(Some(fault)),
        }
    }
    match first {
        Some(fault) if list.schema.is_some() => Err(fault),
        _ => Ok(false),
    }
}

//! Which values are equal, and which come first.
use std::cmp::Ordering;

use serde_json::Value as Json;

use super::collection::{List, Map, property_schema};
use super::convert::{TWO_TO_63, TWO_TO_64};
use super::{Fault, Value, fault, no_such_overload};
use crate::schema::ListKind;

/// Whether two values are equal; comparing what cannot be compared is a fault for values over JSON, and false otherwise.
pub(crate) fn equal(one: &Value<'_>, two: &Value<'_>) -> Result<bool, Fault> {
    match (one, two) {
        (Value::Null, other) | (other, Value::Null) => Ok(matches!(other, Value::Null)),
        _ => equal_values(one, two),
    }
}

fn equal_values(one: &Value<'_>, two: &Value<'_>) -> Result<bool, Fault> {
    Ok(match (one, two) {
        (Value::Null, other) => matches!(other, Value::Null),
        (Value::Bool(one), Value::Bool(two)) => one == two,
        (Value::String(one), Value::String(two)) => **one == **two,
        (Value::Bytes(one), Value::Bytes(two)) => one == two,
        (Value::Timestamp(one), Value::Timestamp(two)) => one.key() == two.key(),
        (Value::Duration(one), Value::Duration(two)) => one == two,
        (Value::Type(one), Value::Type(two)) => one == two,
        (Value::Optional(one), Value::Optional(two)) => match (one, two) {
            (Some(one), Some(two)) => return equal_values(one, two),
            (one, two) => one.is_none() && two.is_none(),
        },
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            number_order(one, two) == Some(Ordering::Equal)
        }
        (Value::List(one), two) => return equal_lists(one, two),
        (Value::Map(one), two) => return equal_maps(one, two),
        (Value::Opaque(one), two) => return one.equal(two),
        (Value::Preserved(Json::Object(one)), Value::Map(Map::Json(two, _))) => one == *two,
        (Value::Preserved(Json::Array(one)), Value::List(two)) => two.raw().is_some_and(|two| one.as_slice() == two),
        (Value::Preserved(one), two) => native(two).is_some_and(|two| is_native(one, &two)),
        _ => false,
    })
}

fn equal_lists(one: &List<'_>, two: &Value<'_>) -> Result<bool, Fault> {
    let Value::List(two) = two else {
        return if one.schema.is_some() { no_such_overload() } else { Ok(false) };
    };
    if one.len() != two.len() {
        return Ok(false);
    }
    match one.schema.map(|schema| &schema.kind) {
        Some(ListKind::Set) => equal_sets(one, two),
        Some(ListKind::Map(keys)) => equal_map_lists(one, two, keys),
        over_json => {
            for (one, two) in one.iter().zip(two.iter()) {
                let (one, two) = (one?, two?);
                let same = if over_json.is_some() { equal_values(&one, &two) } else { equal(&one, &two) };
                match same {
                    Ok(false) => return Ok(false),
                    Err(fault) if over_json.is_some() => return Err(fault),
                    Ok(true) | Err(_) => {}
                }
            }
            Ok(true)
        }
    }
}

/// A value as Go holds it: sets and keys compare these.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Native<'a> {
    Text(String),
    Int(i64),
    Uint(u64),
    Double(f64),
    Bool(bool),
    Nil,
    Json(&'a Json),
    /// A type of its own: equal only to its like.
    Time(i64, i64),
    Duration(i64),
}

fn native_json(json: &Json) -> Native<'_> {
    match json {
        Json::Null => Native::Nil,
        Json::Bool(value) => Native::Bool(*value),
        Json::String(text) => Native::Text(text.clone()),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Native::Int(number),
            None => Native::Double(number.as_f64().unwrap_or(0.0)),
        },
        other => Native::Json(other),
    }
}

pub(crate) fn native<'a>(value: &Value<'a>) -> Option<Native<'a>> {
    Some(match value {
        Value::Bool(value) => Native::Bool(*value),
        Value::Int(value) => Native::Int(*value),
        Value::Uint(value) => Native::Uint(*value),
        Value::Double(value) => Native::Double(*value),
        Value::String(text) => Native::Text(text.to_string()),
        Value::Timestamp(time) => Native::Time(time.seconds, time.nanos),
        Value::Duration(nanos) => Native::Duration(*nanos),
        Value::Preserved(json) => native_json(json),
        _ => return None,
    })
}

fn is_native(json: &Json, other: &Native<'_>) -> bool {
    match (native_json(json), other) {
        (Native::Json(one), Native::Json(two)) => one == *two,
        (one, two) => one == *two,
    }
}

fn equal_sets(one: &List<'_>, two: &List<'_>) -> Result<bool, Fault> {
    let ours: Vec<Native<'_>> = match one.raw() {
        Some(raw) => raw.iter().map(native_json).collect(),
        None => one.iter().filter_map(|item| native(&item.ok()?)).collect(),
    };
    let texts: std::collections::HashSet<&str> =
        ours.iter().filter_map(|item| if let Native::Text(text) = item { Some(text.as_str()) } else { None }).collect();
    for item in two.iter() {
        let known = match native(&item?) {
            Some(Native::Text(text)) => texts.contains(text.as_str()),
            Some(other) => ours.contains(&other),
            None => false,
        };
        if !known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The key of an element of a map list: the text of its key fields.
pub(crate) fn list_key(element: &Value<'_>, keys: &[String]) -> Option<String> {
    let Value::Map(Map::Json(map, _)) = element else { return None };
    let parts: Vec<String> = keys.iter().map(|key| map.get(key.as_str()).unwrap_or(&Json::Null).to_string()).collect();
    Some(parts.join("\u{0}"))
}

fn equal_map_lists(one: &List<'_>, two: &List<'_>, keys: &[String]) -> Result<bool, Fault> {
    let mut ours = std::collections::HashMap::new();
    for item in one.iter().flatten() {
        if let Some(key) = list_key(&item, keys) {
            ours.insert(key, item);
        }
    }
    for item in two.iter() {
        let item = item?;
        let Some(same) = list_key(&item, keys).and_then(|key| ours.get(&key)) else { return Ok(false) };
        if !equal_values(same, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(one: &Map<'_>, two: &Value<'_>) -> Result<bool, Fault> {
    let Value::Map(two) = two else {
        return if one.is_made() { Ok(false) } else { no_such_overload() };
    };
    if one.len() != two.len() {
        return Ok(false);
    }
    let (Map::Json(map, schema), false) = (one, one.is_made()) else {
        for key in one.keys() {
            let (Some(ours), Some(theirs)) = (one.find(&key)?, two.find(&key)?) else { return Ok(false) };
            if equal(&ours, &theirs) == Ok(false) {
                return Ok(false);
            }
        }
        return Ok(true);
    };
    for (name, json) in *map {
        if property_schema(schema, name).is_none() {
            let Map::Json(theirs, _) = two else { return no_such_overload() };
            if theirs.get(name).is_some_and(|theirs| theirs != json) {
                return Ok(false);
            }
            continue;
        }
        let key = Value::text(name.as_str());
        match (one.find(&key)?, two.find(&key)?) {
            (None, None) => {}
            (Some(ours), Some(theirs)) => {
                if !equal_values(&ours, &theirs)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// The order of two numbers; none when one is not a number.
fn number_order(one: &Value<'_>, two: &Value<'_>) -> Option<Ordering> {
    match (one, two) {
        (Value::Int(one), Value::Int(two)) => Some(one.cmp(two)),
        (Value::Uint(one), Value::Uint(two)) => Some(one.cmp(two)),
        (Value::Int(one), Value::Uint(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
        (Value::Uint(one), Value::Int(two)) => Some(i128::from(*one).cmp(&i128::from(*two))),
        (Value::Double(one), Value::Double(two)) => one.partial_cmp(two),
        (Value::Double(one), Value::Int(two)) => double_order(*one, in_double(i128::from(*two)), -TWO_TO_63, TWO_TO_63),
        (Value::Double(one), Value::Uint(two)) => double_order(*one, in_double(i128::from(*two)), 0.0, TWO_TO_64),
        (one, Value::Double(_)) => number_order(two, one).map(Ordering::reverse),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "integers compare with doubles as doubles")]
fn in_double(value: i128) -> f64 {
    value as f64
}

fn double_order(one: f64, two: f64, least: f64, most: f64) -> Option<Ordering> {
    if one < least {
        return Some(Ordering::Less);
    }
    if one > most {
        return Some(Ordering::Greater);
    }
    one.partial_cmp(&two)
}

/// The order of two values of one kind.
pub(crate) fn order(one: &Value<'_>, two: &Value<'_>) -> Result<Ordering, Fault> {
    let is_number = |value: &Value<'_>| matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_));
    let is_nan = |value: &Value<'_>| matches!(value, Value::Double(value) if value.is_nan());
    Ok(match (one, two) {
        (Value::Double(value), _) if value.is_nan() => return fault("NaN values cannot be ordered"),
        (Value::Bool(one), Value::Bool(two)) => one.cmp(two),
        (Value::String(one), Value::String(two)) => (**one).cmp(&**two),
        (Value::Bytes(one), Value::Bytes(two)) => one.cmp(two),
        (Value::Timestamp(one), Value::Timestamp(two)) => one.key().cmp(&two.key()),
        (Value::Duration(one), Value::Duration(two)) => one.cmp(two),
        (one, two) if is_number(one) && is_number(two) => {
            if is_nan(two) {
                return fault("NaN values cannot be ordered");
            }
            number_order(one, two).unwrap_or(Ordering::Equal)
        }
        _ => return no_such_overload(),
    })
}

/// Whether values of the kind have an order.
pub(crate) fn is_ordered(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Bool(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Timestamp(_)
            | Value::Duration(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
    )
}

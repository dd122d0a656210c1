//! What Go says when it cannot turn loose values into a typed object: another decoder, with words of its own.

use serde_json::Value;

use super::base64;
use super::typed::item_of;
use crate::facts::{Shape, Ty, Type};
use crate::strategy::Object;

/// The first fault; none for those that single types find themselves.
pub(crate) fn restore_fault(ty: &'static Type, object: &Object) -> Option<String> {
    let Shape::Struct(_) = ty.shape else { return None };
    ty.fields().find_map(|field| object.get(field.name).and_then(|value| fault(field.ty, field.go, value)))
}

/// `go` names the type if given.
fn fault(ty: Ty, go: &'static str, value: &Value) -> Option<String> {
    let named = |plain: &'static str| if go.is_empty() { plain } else { go };
    match (ty, value) {
        (Ty::Bytes, Value::String(text)) => {
            base64::canonical(text).err().map(|why| format!("error decoding from json: {why}"))
        }
        // Go would make a letter of an integer, and refuses what it could do.
        (Ty::String, Value::Number(number)) if !number.is_f64() => {
            Some(format!("cannot convert int64 to {}", named("string")))
        }
        (Ty::Int32 | Ty::Int64 | Ty::Uint32, Value::Number(number))
            if number.as_f64().is_some_and(|number| number.fract() != 0.0) =>
        {
            let plain = match ty {
                Ty::Int32 => "int32",
                Ty::Int64 => "int64",
                _ => "uint32",
            };
            Some(format!("cannot convert float64 to {}", named(plain)))
        }
        (_, Value::Null)
        | (Ty::Any, _)
        | (Ty::Bool, Value::Bool(_))
        | (Ty::String, Value::String(_))
        | (Ty::Bytes, Value::Array(_))
        | (Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64, Value::Number(_)) => None,
        (Ty::Bool, _) => Some("unrecognized type: bool".to_owned()),
        (Ty::String, _) => Some("unrecognized type: string".to_owned()),
        (Ty::Int32, _) => Some("unrecognized type: int32".to_owned()),
        (Ty::Int64, _) => Some("unrecognized type: int64".to_owned()),
        (Ty::Uint32, _) => Some("unrecognized type: uint32".to_owned()),
        (Ty::Float64, _) => Some("unrecognized type: float64".to_owned()),
        (Ty::List(item), Value::Array(items)) => items.iter().find_map(|value| fault(*item, item_of(go), value)),
        (Ty::List(_) | Ty::Bytes, other) => Some(format!("cannot restore slice from {}", kind(other))),
        (Ty::Map(item), Value::Object(members)) => members.values().find_map(|value| fault(*item, item_of(go), value)),
        (Ty::Map(_), other) => Some(format!("cannot restore map from {}", kind(other))),
        (Ty::Ref(ty), value) => match (&ty.shape, value) {
            (Shape::Struct(_), Value::Object(object)) => restore_fault(ty, object),
            (Shape::Struct(_), other) => Some(format!("cannot restore struct from: {}", kind(other))),
            _ => None,
        },
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

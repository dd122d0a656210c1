//! What Go says when it cannot turn loose values into a typed object: another decoder, with words of its own.

use serde_json::Value;

use crate::facts::{Shape, Ty, Type};
use crate::strategy::Object;

/// The first fault; none for those that single types find themselves.
pub(crate) fn restore_fault(ty: &'static Type, object: &Object) -> Option<String> {
    let Shape::Struct(_) = ty.shape else { return None };
    ty.fields().find_map(|field| object.get(field.name).and_then(|value| fault(field.ty, value)))
}

fn fault(ty: Ty, value: &Value) -> Option<String> {
    match (ty, value) {
        (_, Value::Null)
        | (Ty::Any | Ty::Bytes, _)
        | (Ty::Bool, Value::Bool(_))
        | (Ty::String, Value::String(_))
        | (Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64, Value::Number(_)) => None,
        (Ty::Bool, _) => Some("unrecognized type: bool".to_owned()),
        (Ty::String, _) => Some("unrecognized type: string".to_owned()),
        (Ty::Int32, _) => Some("unrecognized type: int32".to_owned()),
        (Ty::Int64, _) => Some("unrecognized type: int64".to_owned()),
        (Ty::Uint32, _) => Some("unrecognized type: uint32".to_owned()),
        (Ty::Float64, _) => Some("unrecognized type: float64".to_owned()),
        (Ty::List(item), Value::Array(items)) => items.iter().find_map(|value| fault(*item, value)),
        (Ty::List(_), other) => Some(format!("cannot restore slice from {}", kind(other))),
        (Ty::Map(item), Value::Object(members)) => members.values().find_map(|value| fault(*item, value)),
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

//! Values as Go sees them: what zero looks like, and when two of them mean the same.

use std::collections::BTreeSet;

use serde_json::Value;

use super::quantity::Quantity;
use super::read::child;
use crate::facts::{Codec, Field, Shape, Ty, Type};
use crate::strategy::Object;

/// The zero value of a member, as Go writes it.
pub(super) fn zero_of(ty: &'static Type, member: &str) -> Value {
    match ty.field(member).map(|field| field.ty) {
        Some(Ty::Ref(inner)) => zero_struct(inner),
        _ => Value::Null,
    }
}

fn zero_struct(ty: &'static Type) -> Value {
    let written = ty.fields().filter_map(|field| Some((field.name.to_owned(), zero_field(field)?)));
    Value::Object(written.collect())
}

fn zero_field(field: &'static Field) -> Option<Value> {
    if let Ty::Ref(inner) = field.ty
        && matches!(inner.shape, Shape::Struct(_))
        && !field.pointer
    {
        return (!field.omitzero).then(|| zero_struct(inner));
    }
    if field.omitempty || field.omitzero {
        return None;
    }
    Some(match field.ty {
        _ if field.pointer => Value::Null,
        Ty::Bool => false.into(),
        Ty::Int32
        | Ty::Int64
        | Ty::Uint32
        | Ty::Float64
        | Ty::Ref(Type { shape: Shape::Codec(Codec::IntOrString, _), .. }) => 0.into(),
        Ty::String => "".into(),
        Ty::Ref(Type { shape: Shape::Codec(Codec::Quantity, _), .. }) => "0".into(),
        _ => Value::Null,
    })
}

/// Whether a member of two objects, or of their metadata, means the same.
pub(super) fn same_at(ty: &'static Type, a: &Object, b: &Object, path: &str) -> bool {
    let (ty, a, b, key) = match path.strip_prefix("metadata.") {
        None => (Some(ty), Some(a), Some(b), path),
        Some(key) => {
            let metadata = ty.field("metadata").and_then(|field| match field.ty {
                Ty::Ref(ty) => Some(ty),
                _ => None,
            });
            (metadata, child(a, "metadata"), child(b, "metadata"), key)
        }
    };
    let Some(field) = ty.and_then(|ty| ty.field(key)) else { return true };
    same(field.ty, a.and_then(|a| a.get(key)), b.and_then(|b| b.get(key)))
}

/// Amounts are compared as amounts, and an empty list or map is as good as none.
pub(super) fn same(ty: Ty, a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None | Some(Value::Null), None | Some(Value::Null)) => true,
        (Some(value), None | Some(Value::Null)) | (None | Some(Value::Null), Some(value)) => match (ty, value) {
            (Ty::List(_), Value::Array(items)) => items.is_empty(),
            (Ty::Map(_), Value::Object(entries)) => entries.is_empty(),
            _ => false,
        },
        (Some(a), Some(b)) => same_values(ty, a, b),
    }
}

fn same_values(ty: Ty, a: &Value, b: &Value) -> bool {
    match (ty, a, b) {
        (Ty::Ref(inner), Value::Object(a), Value::Object(b)) if matches!(inner.shape, Shape::Struct(_)) => {
            inner.fields().all(|field| same(field.ty, a.get(field.name), b.get(field.name)))
        }
        (Ty::Ref(inner), Value::String(a), Value::String(b))
            if matches!(inner.shape, Shape::Codec(Codec::Quantity, _)) =>
        {
            match (Quantity::parse(a), Quantity::parse(b)) {
                (Some(a), Some(b)) => a.compare(b).is_eq(),
                _ => a == b,
            }
        }
        (Ty::List(inner), Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_values(*inner, a, b))
        }
        (Ty::Map(inner), Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().all(|key| match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => same_values(*inner, a, b),
                _ => false,
            })
        }
        _ => a == b,
    }
}

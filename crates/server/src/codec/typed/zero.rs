//! What Go writes where nothing was read.

use serde_json::{Map, Value};

use crate::facts::{Codec, Field, Shape, Ty, Type};

/// The zero value of a type, as Go writes it.
pub(super) fn zero(ty: Ty) -> Value {
    match ty {
        Ty::Bool => Value::Bool(false),
        Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64 => Value::from(0),
        Ty::String => Value::String(String::new()),
        Ty::Bytes | Ty::Any | Ty::List(_) | Ty::Map(_) => Value::Null,
        Ty::Ref(ty) => zero_of(ty),
    }
}

fn zero_of(ty: &'static Type) -> Value {
    match ty.shape {
        Shape::Struct(fields) => {
            let mut out = Map::new();
            fill(fields, &mut out);
            Value::Object(out)
        }
        Shape::List(_) => Value::Null,
        Shape::Codec(codec, _) => match codec {
            Codec::Quantity => Value::from("0"),
            Codec::IntOrString => Value::from(0),
            Codec::JsonSchemaPropsOrBool => Value::Bool(false),
            Codec::Time
            | Codec::MicroTime
            | Codec::RawExtension
            | Codec::FieldsV1
            | Codec::Json
            | Codec::JsonSchemaPropsOrArray
            | Codec::JsonSchemaPropsOrStringArray
            | Codec::Unknown => Value::Null,
        },
    }
}

/// Adds what Go writes for fields that are not there.
pub(super) fn fill(fields: &'static [Field], out: &mut Map<String, Value>) {
    for field in fields {
        match field.ty {
            Ty::Ref(inner) if field.inline => fill(inner.own_fields(), out),
            _ if left_out(field) || out.contains_key(field.name) => {}
            _ if field.pointer => {
                out.insert(field.name.to_owned(), Value::Null);
            }
            _ => {
                out.insert(field.name.to_owned(), zero(field.ty));
            }
        }
    }
}

/// Whether Go leaves the zero value of a field out. It does not for structs, unless told so twice.
fn left_out(field: &Field) -> bool {
    let is_struct = match field.ty {
        Ty::Ref(ty) => !matches!(ty.shape, Shape::List(_)),
        _ => false,
    };
    field.omitzero || field.omitempty && (field.pointer || !is_struct)
}

/// What `omitempty` leaves out.
pub(super) fn is_empty(ty: Ty, value: &Value) -> bool {
    match (ty, value) {
        (Ty::Ref(ty), _) if !matches!(ty.shape, Shape::List(_)) => false,
        (_, Value::Null) => true,
        (Ty::Any, _) => false,
        (_, Value::Bool(on)) => !on,
        (_, Value::Number(number)) => number.as_f64() == Some(0.0),
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Array(items)) => items.is_empty(),
        (_, Value::Object(members)) => members.is_empty(),
    }
}

/// What `omitzero` leaves out: a struct with nothing in it, or a type's own idea of zero.
pub(super) fn is_zero(ty: Ty, value: &Value) -> bool {
    match value {
        Value::Null => true,
        value => *value == zero(ty),
    }
}

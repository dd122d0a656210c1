//! JSON in the order in which Go writes the fields of a struct: errors show values so.

use serde_json::Value;

use crate::facts::{Shape, Ty, Type};

/// The text of a value of a type.
pub(crate) fn ordered(ty: &'static Type, value: &Value) -> String {
    let (Shape::Struct(_), Value::Object(object)) = (&ty.shape, value) else { return value.to_string() };
    let known = ty.fields().filter_map(|field| object.get(field.name).map(|value| (field, value)));
    let members = known.map(|(field, value)| format!("{:?}:{}", field.name, text(field.ty, value)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn text(ty: Ty, value: &Value) -> String {
    match (ty, value) {
        (Ty::Ref(ty), value) => ordered(ty, value),
        (Ty::List(item), Value::Array(items)) => {
            format!("[{}]", items.iter().map(|value| text(*item, value)).collect::<Vec<_>>().join(","))
        }
        _ => value.to_string(),
    }
}

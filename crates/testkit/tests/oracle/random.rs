//! Random objects of any kind, from the tables of types.

use rolewright_server::facts::{Codec, Field, Shape, Ty, Type};
pub(crate) use rolewright_testkit::random::Random;
use serde_json::{Map, Value, json};

/// An object of a type.
pub(crate) fn random_object(random: &mut Random, ty: &'static Type) -> Value {
    structure(random, ty, None, 0)
}

/// An object of a type that shares much with another.
pub(crate) fn mutated(random: &mut Random, ty: &'static Type, from: &Value) -> Value {
    structure(random, ty, Some(from), 0)
}

fn structure(random: &mut Random, ty: &'static Type, from: Option<&Value>, depth: usize) -> Value {
    let fields: Vec<&'static Field> = ty.fields().collect();
    let mut out = Map::new();
    for field in &fields {
        let old = from.and_then(|from| from.get(field.name));
        if field.name == "managedFields" || depth > 7 {
            continue;
        }
        // Wide types get about as many fields as narrow ones.
        let wanted = match (depth, field.name) {
            (0, "metadata" | "spec" | "data" | "rules" | "webhooks") => true,
            (0, _) => random.one_in(2),
            _ => random.one_in(1 + fields.len() / 3),
        };
        let value = match old {
            Some(old) if !random.one_in(3) => Some(old.clone()),
            Some(_) if random.one_in(4) => None,
            Some(old) => Some(value(random, field.ty, Some(old), depth + 1)),
            None if from.is_some() && !random.one_in(4) => None,
            None => wanted.then(|| value(random, field.ty, None, depth + 1)),
        };
        // Inside of lists that are one value, Kubernetes tells empty from absent where JSON does not.
        let empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty() && field.omitempty,
            Value::Object(map) => map.is_empty() && field.omitempty && matches!(field.ty, Ty::Map(_)),
            _ => false,
        };
        if let Some(value) = value.filter(|value| !empty(value)) {
            out.insert(field.name.to_owned(), value);
        }
    }
    Value::Object(out)
}

fn value(random: &mut Random, ty: Ty, from: Option<&Value>, depth: usize) -> Value {
    match ty {
        Ty::Bool => json!(random.one_in(2)),
        Ty::Int32 | Ty::Int64 => json!(*random.of(&[0, 1, 80, 443, -1, 7])),
        Ty::Uint32 => json!(*random.of(&[0, 1, 7])),
        Ty::Float64 => json!(*random.of(&[0.0, 0.5, 1.0, 1e22])),
        Ty::String => json!(*random.of(&["", "a", "b", "c", "TCP", "UDP", "<é\">"])),
        Ty::Bytes => json!(*random.of(&["", "YQ==", "Yg=="])),
        Ty::Any => anything(random, 0),
        Ty::List(item) => {
            let old = from.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let mut items: Vec<Value> = Vec::new();
            for item_from in old {
                match random.below(5) {
                    0 => {}
                    1 => items.push(value(random, *item, Some(item_from), depth + 1)),
                    _ => items.push(item_from.clone()),
                }
            }
            let more = if old.is_empty() { random.below(4) } else { random.below(2) };
            for _ in 0..more {
                let at = random.below(items.len() + 1);
                items.insert(at, value(random, *item, None, depth + 1));
            }
            Value::Array(items)
        }
        Ty::Map(item) => {
            let mut map = from.and_then(Value::as_object).cloned().unwrap_or_default();
            for name in ["a", "b", "example.com/c", "<\"é>"] {
                if random.one_in(5) {
                    map.remove(name);
                } else if random.one_in(2) {
                    let old = map.get(name).cloned();
                    map.insert(name.to_owned(), value(random, *item, old.as_ref(), depth + 1));
                }
            }
            Value::Object(map)
        }
        Ty::Ref(ty) => match ty.shape {
            Shape::Struct(_) => structure(random, ty, from, depth),
            Shape::List(item) => value(random, Ty::List(Box::leak(Box::new(item))), from, depth),
            Shape::Codec(codec, _) => special(random, codec),
        },
    }
}

fn special(random: &mut Random, codec: Codec) -> Value {
    match codec {
        Codec::Time => json!(random.of(&["2001-02-03T04:05:06Z", "2001-02-03T04:05:07Z"])),
        Codec::MicroTime => json!(random.of(&["2001-02-03T04:05:06.000007Z", "2001-02-03T04:05:07.000000Z"])),
        Codec::Quantity => json!(random.of(&["1", "100m", "2Gi", "0"])),
        Codec::IntOrString => random.of(&[json!(1), json!("a"), json!("50%"), json!(0)]).clone(),
        Codec::RawExtension => json!({"apiVersion": "v1", "kind": "X", "a": anything(random, 1)}),
        Codec::Json => anything(random, 0),
        Codec::JsonSchemaPropsOrBool => {
            random.of(&[json!(true), json!(false), json!({"type": "string"}), json!({"minimum": 1.0})]).clone()
        }
        Codec::JsonSchemaPropsOrArray => {
            random.of(&[json!({"type": "string"}), json!([{"type": "string"}]), json!({"title": "a"})]).clone()
        }
        Codec::JsonSchemaPropsOrStringArray => {
            random.of(&[json!({"type": "string"}), json!(["a"]), json!(["b"])]).clone()
        }
        Codec::FieldsV1 | Codec::Unknown => json!({}),
    }
}

fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 2 { 4 } else { 7 }) {
        0 => json!("a"),
        1 => json!(1),
        2 => json!(1.5),
        3 => json!(true),
        4 => json!([anything(random, depth + 1)]),
        5 => json!({"a": anything(random, depth + 1)}),
        _ => json!({"a": anything(random, depth + 1), "b": anything(random, depth + 1)}),
    }
}

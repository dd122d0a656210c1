//! Objects as errors show them: Kubernetes' internal types have no names in JSON, so Go writes the names of the fields.

use serde_json::Value;

use super::check::selector_json;
use crate::facts::{Codec, Field, Shape, Ty, Type, type_of};
use crate::strategy::Object;

/// The internal form of what is at a path below an object of this kind, through lists and all.
pub(super) fn shown(group: &str, kind: &str, path: &[&str], value: Option<&Value>) -> String {
    let at = |ty: Ty, key: &&str| struct_of(ty)?.field(key).map(|field| field.ty);
    let start = type_of(group, "v1", kind).map(Ty::Ref);
    match path.iter().try_fold(start, |ty, key| Some(ty.and_then(|ty| at(ty, key)))).flatten() {
        Some(ty) => written(innermost(ty), value, false),
        None => value.unwrap_or(&Value::Null).to_string(),
    }
}

fn innermost(ty: Ty) -> Ty {
    match ty {
        Ty::List(inner) => innermost(*inner),
        ty => ty,
    }
}

fn struct_of(ty: Ty) -> Option<&'static Type> {
    match innermost(ty) {
        Ty::Ref(ty) => Some(ty),
        _ => None,
    }
}

fn written(ty: Ty, value: Option<&Value>, pointer: bool) -> String {
    let value = value.filter(|value| !value.is_null());
    match (ty, value) {
        (_, None) if pointer => "null".to_owned(),
        // Types of the machinery keep their names.
        (Ty::Ref(known), value) if known.name.ends_with(".LabelSelector") => {
            selector_json(value.and_then(Value::as_object))
        }
        (Ty::Ref(known), value) => match known.shape {
            Shape::Struct(_) => {
                let empty = Object::new();
                let object = value.and_then(Value::as_object).unwrap_or(&empty);
                let member = |field: &Field| {
                    let member = written(field.ty, object.get(field.name), field.pointer);
                    format!("\"{}\":{member}", go_name(field.name))
                };
                let members: Vec<String> = known.fields().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
            Shape::Codec(Codec::IntOrString, _) => value.map_or_else(|| "0".to_owned(), Value::to_string),
            Shape::Codec(Codec::Quantity, _) => value.map_or_else(|| "\"0\"".to_owned(), Value::to_string),
            _ => value.map_or_else(|| "null".to_owned(), Value::to_string),
        },
        (Ty::List(inner), Some(Value::Array(items))) => {
            let items: Vec<String> = items.iter().map(|item| written(*inner, Some(item), false)).collect();
            format!("[{}]", items.join(","))
        }
        (_, Some(value)) => value.to_string(),
        (Ty::Bool, None) => "false".to_owned(),
        (Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64, None) => "0".to_owned(),
        (Ty::String, None) => "\"\"".to_owned(),
        (_, None) => "null".to_owned(),
    }
}

fn go_name(name: &str) -> String {
    match name {
        "ip" => return "IP".to_owned(),
        "seLinuxOptions" => return "SELinuxOptions".to_owned(),
        "gmsaCredentialSpecName" => return "GMSACredentialSpecName".to_owned(),
        "gmsaCredentialSpec" => return "GMSACredentialSpec".to_owned(),
        _ => {}
    }
    let mut characters = name.chars();
    let first = characters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

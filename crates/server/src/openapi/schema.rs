//! Types as OpenAPI schemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::facts::{Codec, Field, ListType, Shape, Ty, Type};

/// Every type that these refer to, and they themselves, by name.
pub(super) fn reachable(roots: impl IntoIterator<Item = &'static Type>) -> BTreeMap<&'static str, &'static Type> {
    let mut found = BTreeMap::new();
    let mut open: Vec<&'static Type> = roots.into_iter().collect();
    while let Some(ty) = open.pop() {
        if found.insert(ty.name, ty).is_some() || opaque(ty).is_some() {
            continue;
        }
        open.extend(ty.fields().filter_map(|field| named(field.ty)));
    }
    found
}

/// The named type in a type, however deep in lists and maps.
fn named(mut ty: Ty) -> Option<&'static Type> {
    loop {
        ty = match ty {
            Ty::List(inner) | Ty::Map(inner) | Ty::Ref(Type { shape: Shape::List(inner), .. }) => *inner,
            Ty::Ref(named) => return Some(named),
            _ => return None,
        };
    }
}

/// The schema of a type with its kinds. Options and events are kinds of every group, so they are said to be of `home` too,
/// the group and version of the document.
pub(super) fn of_type(ty: &'static Type, home: (&str, &str)) -> Value {
    let mut schema = opaque(ty).unwrap_or_else(|| of_fields(ty));
    let kinds = kinds(ty, home);
    if !kinds.is_empty() {
        schema.insert("x-kubernetes-group-version-kind".to_owned(), kinds.into());
    }
    Value::Object(schema)
}

fn kinds(ty: &'static Type, home: (&str, &str)) -> Vec<Value> {
    let mut kinds = Vec::new();
    for (group, version, kind, _) in crate::facts::kinds().iter().filter(|(.., of)| std::ptr::eq(*of, ty)) {
        let group = if *group == "meta.k8s.io" { "" } else { group };
        kinds.push(kind_of(group, version, kind));
        if group.is_empty() && matches!(*kind, "DeleteOptions" | "WatchEvent") && home != ("", "v1") {
            kinds.push(kind_of(home.0, home.1, kind));
        }
    }
    kinds
}

/// A kind as extensions have it.
pub(super) fn kind_of(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

/// A reference to the schema of a type.
pub(super) fn reference(ty: &Type) -> Value {
    json!({"$ref": format!("#/components/schemas/{}", ty.name)})
}

/// The schema of types whose JSON does not follow from their fields.
fn opaque(ty: &Type) -> Option<Map<String, Value>> {
    let Shape::Codec(codec, _) = ty.shape else { return None };
    let schema = match codec {
        Codec::Time | Codec::MicroTime => json!({"type": "string", "format": "date-time"}),
        Codec::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Codec::IntOrString => json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
        Codec::RawExtension | Codec::FieldsV1 | Codec::Unknown => json!({"type": "object"}),
        Codec::Json
        | Codec::JsonSchemaPropsOrArray
        | Codec::JsonSchemaPropsOrBool
        | Codec::JsonSchemaPropsOrStringArray => json!({}),
    };
    schema.as_object().cloned()
}

fn of_fields(ty: &'static Type) -> Map<String, Value> {
    let mut schema = object("object");
    let properties: Map<String, Value> =
        ty.fields().map(|field| (field.name.to_owned(), of_field(field).into())).collect();
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), properties.into());
    }
    let required: Vec<&str> = ty.fields().filter(|field| field.required).map(|field| field.name).collect();
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if ty.atomic {
        schema.insert("x-kubernetes-map-type".to_owned(), "atomic".into());
    }
    if !ty.unions.is_empty() {
        let unions = ty.unions.iter().map(|union| {
            let fields: BTreeMap<&str, &str> = union.fields.iter().copied().collect();
            match union.discriminator {
                None => json!({"fields-to-discriminateBy": fields}),
                Some(by) => json!({"discriminator": by, "fields-to-discriminateBy": fields}),
            }
        });
        schema.insert("x-kubernetes-unions".to_owned(), unions.collect());
    }
    schema
}

fn of_field(field: &'static Field) -> Map<String, Value> {
    let mut extra = extensions(field);
    if !field.default.is_empty() {
        let default = serde_json::from_str(field.default).unwrap_or_default();
        extra.insert("default".to_owned(), default);
    } else if !field.pointer
        && let Some(zero) = zero(field.ty)
        && (matches!(field.ty, Ty::Ref(_)) || !field.omitempty)
    {
        extra.insert("default".to_owned(), zero);
    }
    with(of_use(field.ty, field.values), extra)
}

fn extensions(field: &'static Field) -> Map<String, Value> {
    let mut extra = Map::new();
    let mut add = |name: &str, value: Value| extra.insert(format!("x-kubernetes-{name}"), value);
    let is_map =
        matches!(field.ty, Ty::Map(_)) || matches!(field.ty, Ty::Ref(ty) if !matches!(ty.shape, Shape::List(_)));
    if field.declared && is_map {
        add("map-type", if field.atomic { "atomic" } else { "granular" }.into());
    } else if field.declared {
        match field.list {
            ListType::Atomic => add("list-type", "atomic".into()),
            ListType::Set => add("list-type", "set".into()),
            ListType::Map(keys) => {
                add("list-map-keys", json!(keys));
                add("list-type", "map".into())
            }
        };
    }
    let patch = field.patch;
    let strategies = [(patch.merge, "merge"), (patch.retain_keys, "retainKeys"), (patch.replace, "replace")];
    let strategies: Vec<&str> = strategies.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if !strategies.is_empty() {
        add("patch-strategy", strategies.join(",").into());
    }
    if let Some(key) = patch.merge_key {
        add("patch-merge-key", key.into());
    }
    extra
}

/// The schema of a value of this type wherever it is used.
fn of_use(ty: Ty, values: &[&str]) -> Map<String, Value> {
    let formatted = |ty: &str, format: &str| {
        let mut schema = object(ty);
        schema.insert("format".to_owned(), format.into());
        schema
    };
    match ty {
        Ty::Any => object("object"),
        Ty::Bool => object("boolean"),
        Ty::Int32 => formatted("integer", "int32"),
        Ty::Int64 | Ty::Uint32 => formatted("integer", "int64"),
        Ty::Float64 => formatted("number", "double"),
        Ty::Bytes => formatted("string", "byte"),
        Ty::String => {
            let mut schema = object("string");
            if !values.is_empty() {
                schema.insert("enum".to_owned(), json!(values));
            }
            schema
        }
        Ty::List(item) | Ty::Ref(Type { shape: Shape::List(item), .. }) => {
            let mut schema = object("array");
            schema.insert("items".to_owned(), of_element(*item, values).into());
            schema
        }
        Ty::Map(value) => {
            let mut schema = object("object");
            schema.insert("additionalProperties".to_owned(), of_element(*value, values).into());
            schema
        }
        Ty::Ref(named) => reference(named).as_object().cloned().unwrap_or_default(),
    }
}

/// The schema of what is in a list or a map, which always has its zero value as the default.
fn of_element(ty: Ty, values: &[&str]) -> Map<String, Value> {
    let extra = zero(ty).map(|zero| ("default".to_owned(), zero)).into_iter().collect();
    with(of_use(ty, values), extra)
}

/// The zero value where OpenAPI has one.
fn zero(ty: Ty) -> Option<Value> {
    match ty {
        Ty::String => Some("".into()),
        Ty::Bool => Some(false.into()),
        Ty::Int32 | Ty::Int64 | Ty::Uint32 | Ty::Float64 => Some(0.into()),
        Ty::Ref(Type { shape: Shape::Struct(_), .. }) => Some(json!({})),
        Ty::Ref(_) | Ty::Bytes | Ty::Any | Ty::List(_) | Ty::Map(_) => None,
    }
}

/// Adds members to a schema. A reference stands alone in OpenAPI 3.0, so it moves into `allOf` beside them.
fn with(mut schema: Map<String, Value>, extra: Map<String, Value>) -> Map<String, Value> {
    if !extra.is_empty() && schema.contains_key("$ref") {
        let all_of = vec![Value::Object(std::mem::take(&mut schema))];
        schema.insert("allOf".to_owned(), all_of.into());
    }
    schema.extend(extra);
    schema
}

fn object(ty: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), ty.into())])
}

//! From JSON to [`Schema`].

use serde_json::{Map, Value};
use smol_str::SmolStr;

use super::{
    Additional, Children, EMBEDDED, EXCLUSIVE_MAXIMUM, EXCLUSIVE_MINIMUM, Enumeration, Facet, INT_OR_STRING, ListType,
    MapType, NULLABLE, PRESERVE, Schema, Shape, Type, UNIQUE,
};
use crate::pattern::Pattern;

/// No reader of bodies takes JSON this deep, so nothing real is cut off.
const DEEPEST: usize = 200;

pub(super) fn node(schema: &Value, depth: usize) -> Schema {
    let Value::Object(schema) = schema else { return Schema::default() };
    if depth >= DEEPEST {
        return Schema::default();
    }
    let children = children(schema, depth);
    Schema { children, facets: facets(schema, depth).into(), shape: shape(schema) }
}

fn shape(schema: &Map<String, Value>) -> Shape {
    let text = |key| schema.get(key).and_then(Value::as_str);
    let mut marks = 0;
    for (key, mark) in [
        ("nullable", NULLABLE),
        ("x-kubernetes-int-or-string", INT_OR_STRING),
        ("x-kubernetes-embedded-resource", EMBEDDED),
        ("x-kubernetes-preserve-unknown-fields", PRESERVE),
        ("uniqueItems", UNIQUE),
        ("exclusiveMaximum", EXCLUSIVE_MAXIMUM),
        ("exclusiveMinimum", EXCLUSIVE_MINIMUM),
    ] {
        if schema.get(key) == Some(&Value::Bool(true)) {
            marks |= mark;
        }
    }
    Shape {
        kind: text("type").and_then(Type::of),
        list: match text("x-kubernetes-list-type") {
            Some("atomic") => Some(ListType::Atomic),
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            _ => None,
        },
        map: match text("x-kubernetes-map-type") {
            Some("atomic") => Some(MapType::Atomic),
            Some("granular") => Some(MapType::Granular),
            _ => None,
        },
        marks,
    }
}

fn children(schema: &Map<String, Value>, depth: usize) -> Option<Box<Children>> {
    let properties: Box<[(SmolStr, Schema)]> = match schema.get("properties") {
        Some(Value::Object(properties)) => {
            let mut properties: Vec<(SmolStr, Schema)> =
                properties.iter().map(|(name, below)| (SmolStr::new(name), node(below, depth + 1))).collect();
            // A map of another JSON library, or of other features of this one, may not be sorted.
            properties.sort_unstable_by(|one, other| one.0.cmp(&other.0));
            properties.into()
        }
        _ => Box::default(),
    };
    let additional = match schema.get("additionalProperties") {
        Some(Value::Bool(allowed)) => Some(Additional::Allowed(*allowed)),
        Some(below @ Value::Object(_)) => Some(Additional::Schema(Box::new(node(below, depth + 1)))),
        _ => None,
    };
    let items = match schema.get("items") {
        Some(below @ Value::Object(_)) => Some(Box::new(node(below, depth + 1))),
        _ => None,
    };
    let none = properties.is_empty() && additional.is_none() && items.is_none();
    (!none).then(|| Box::new(Children { properties, additional, items }))
}

fn facets(schema: &Map<String, Value>, depth: usize) -> Vec<Facet> {
    let mut facets: Vec<Facet> = schema.iter().filter_map(|(key, value)| facet(key, value, depth)).collect();
    facets.shrink_to_fit();
    facets
}

fn facet(key: &str, value: &Value, depth: usize) -> Option<Facet> {
    let limit = || value.as_i64();
    let bound = || value.as_f64();
    match key {
        "allOf" => Some(Facet::AllOf(nodes(value, depth)?)),
        "anyOf" => Some(Facet::AnyOf(nodes(value, depth)?)),
        "oneOf" => Some(Facet::OneOf(nodes(value, depth)?)),
        "not" if value.is_object() => Some(Facet::Not(Box::new(node(value, depth + 1)))),
        "default" if !value.is_null() => Some(Facet::Default(Box::new(value.clone()))),
        "enum" => Some(Facet::Enum(Box::new(Enumeration::of(value.as_array().filter(|values| !values.is_empty())?)))),
        "required" => names(value).map(Facet::Required),
        "x-kubernetes-list-map-keys" => names(value).map(Facet::MapKeys),
        "format" => text(value).map(|format| Facet::Format(SmolStr::new(format))),
        "pattern" => text(value).map(|pattern| Facet::Pattern(Box::new(Pattern::new(pattern)))),
        "maximum" => bound().map(Facet::Maximum),
        "minimum" => bound().map(Facet::Minimum),
        "multipleOf" => bound().map(Facet::MultipleOf),
        "maxLength" => limit().map(Facet::MaxLength),
        "minLength" => limit().map(Facet::MinLength),
        "maxItems" => limit().map(Facet::MaxItems),
        "minItems" => limit().map(Facet::MinItems),
        "maxProperties" => limit().map(Facet::MaxProperties),
        "minProperties" => limit().map(Facet::MinProperties),
        _ => None,
    }
}

fn nodes(value: &Value, depth: usize) -> Option<Box<[Schema]>> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    Some(values.iter().map(|below| node(below, depth + 1)).collect())
}

fn names(value: &Value) -> Option<Box<[SmolStr]>> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    Some(values.iter().filter_map(Value::as_str).map(SmolStr::new).collect())
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

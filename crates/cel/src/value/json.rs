//! JSON as values, by its schema.
use serde_json::Value as Json;

use super::collection::{Items, List, Map};
use super::time::{date, rfc3339};
use super::{Outcome, Str, Value, fault};
use crate::library::base64;
use crate::schema::{ANY, Format, ListKind, Schema, Shape};

/// How Go calls the type of a JSON value.
fn go_type(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_f64() => "float64",
        Json::Number(_) => "int64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// The value of an object.
pub(crate) fn object<'a>(map: &'a serde_json::Map<String, Json>, schema: &'a Schema) -> Outcome<'a> {
    match schema.shape {
        Shape::Object(_) | Shape::Map(_) | Shape::Any => Ok(Value::Map(Map::Json(map, schema))),
        _ => fault("invalid data, expected another type than an object"),
    }
}

/// The value of some JSON.
pub(crate) fn value<'a>(json: &'a Json, schema: &'a Schema) -> Outcome<'a> {
    if json.is_null() {
        return if schema.nullable {
            Ok(Value::Null)
        } else {
            fault("invalid data, got null for schema with nullable=false")
        };
    }
    let integer = || json.as_i64().map(Value::Int);
    match (&schema.shape, json) {
        (Shape::IntOrString, Json::String(text)) => Ok(Value::String(Str::Borrowed(text))),
        (Shape::IntOrString, _) => integer()
            .map_or_else(|| fault("invalid data, expected XIntOrString value to be either a string or integer"), Ok),
        (Shape::Object(_) | Shape::Map(_), Json::Object(map)) => Ok(Value::Map(Map::Json(map, schema))),
        (Shape::Object(_) | Shape::Map(_), _) => {
            fault("invalid data, expected a map for the provided schema with type=object")
        }
        (Shape::List(list), Json::Array(items)) => {
            if let ListKind::Other(other) = &list.kind {
                return fault(format!(
                    "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got {other}"
                ));
            }
            match &list.items {
                Some(schema) => Ok(Value::List(List { items: Items::Json(items, schema), schema: Some(list) })),
                None => fault("invalid array type, expected Items with a non-empty Schema"),
            }
        }
        (Shape::List(_), _) => fault("invalid data, expected an array for the provided schema with type=array"),
        (Shape::String(format), Json::String(text)) => string(text, *format),
        (Shape::String(_), other) => fault(format!("invalid data, expected string, got {}", go_type(other))),
        (Shape::Number, other) => match other.as_f64() {
            Some(number) => Ok(Value::Double(number)),
            None => fault(format!("invalid data, expected float, got {}", go_type(other))),
        },
        (Shape::Integer, other) => {
            integer().map_or_else(|| fault(format!("invalid data, expected int, got {}", go_type(other))), Ok)
        }
        (Shape::Boolean, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Shape::Boolean, other) => fault(format!("invalid data, expected bool, got {}", go_type(other))),
        (Shape::Preserved, other) => Ok(Value::Preserved(other)),
        (Shape::Any, other) => Ok(untyped(other)),
        (Shape::Untyped(name), _) => fault(format!(
            "invalid type, expected object, array, number, integer, boolean or string, or no type with \
             x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {name}"
        )),
    }
}

fn string(text: &str, format: Format) -> Outcome<'_> {
    let quoted = super::text::quoted;
    match format {
        Format::Plain => Ok(Value::String(Str::Borrowed(text))),
        Format::Bytes => match base64::decode(text) {
            Some(bytes) => Ok(Value::Bytes(bytes.into())),
            None => fault(format!("Invalid byte formatted string {text}: illegal base64 data")),
        },
        Format::Duration => match crate::strfmt::parse_duration(text) {
            Some(nanos) => Ok(Value::Duration(nanos)),
            None => fault(format!("Invalid duration {text}: unable to parse {} as duration", quoted(text))),
        },
        Format::Date => match date(text) {
            Some(time) => Ok(Value::Timestamp(time)),
            None => fault(format!(
                "Invalid date formatted string {text}: parsing time {} as \"2006-01-02\": cannot parse",
                quoted(text)
            )),
        },
        Format::DateTime => match rfc3339(text) {
            Some(time) => Ok(Value::Timestamp(time)),
            None => fault(format!("Invalid date-time formatted string {text}: cannot parse")),
        },
    }
}

/// JSON as what it looks like.
fn untyped(json: &Json) -> Value<'_> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Double(number.as_f64().unwrap_or(0.0)),
        },
        Json::String(text) => Value::String(Str::Borrowed(text)),
        Json::Array(items) => Value::List(List { items: Items::Json(items, &ANY), schema: None }),
        Json::Object(map) => Value::Map(Map::Json(map, &ANY)),
    }
}

//! Parts of a definition as errors show them. Kubernetes' internal types have no names in JSON, so Go writes the names of
//! the fields, all of them.

use std::fmt::Write as _;

use rolewright_core::quote::JsonText;
use rolewright_core::validate::BadValue;
use serde_json::Value;

use super::internal::Version;
use super::props::{Additional, Items, Props};
use super::read::{self, Object};
use crate::go;

/// A list of texts.
pub(super) fn texts(list: &[Value]) -> BadValue {
    let mut out = String::new();
    list_of(&mut out, list, any);
    BadValue::Json(out)
}

/// A text that may be missing.
pub(super) fn pointer(text: Option<&str>) -> BadValue {
    text.map_or_else(BadValue::null, BadValue::typed_text)
}

/// A schema.
pub(super) fn schema(schema: Props<'_>) -> BadValue {
    let mut out = String::new();
    props(&mut out, schema);
    BadValue::Json(out)
}

/// The `items` of a schema.
pub(super) fn items(items: Items<'_>) -> BadValue {
    let mut out = String::new();
    write_items(&mut out, items);
    BadValue::Json(out)
}

/// A rule.
pub(super) fn rule(rule: &Object) -> BadValue {
    let mut out = String::new();
    write_rule(&mut out, rule);
    BadValue::Json(out)
}

/// All versions; `None` where Go has no list.
pub(super) fn versions(versions: Option<&[Version<'_>]>) -> BadValue {
    let Some(versions) = versions else { return BadValue::null() };
    let mut out = String::from("[");
    for (i, version) in versions.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_version(&mut out, version);
    }
    out.push(']');
    BadValue::Json(out)
}

fn write_version(out: &mut String, version: &Version<'_>) {
    let Version { name, served, storage, deprecated, .. } = *version;
    push(out, format_args!("{{\"Name\":{},\"Served\":{served},\"Storage\":{storage}", JsonText(name)));
    push(out, format_args!(",\"Deprecated\":{deprecated},\"DeprecationWarning\":{}", pointer(version.warning)));
    out.push_str(",\"Schema\":");
    nullable(out, version.schema, |out, validation| {
        out.push_str("{\"OpenAPIV3Schema\":");
        nullable(out, Props::of(validation.get("openAPIV3Schema")), props);
        out.push('}');
    });
    out.push_str(",\"Subresources\":");
    nullable(out, version.subresources, |out, subresources| {
        out.push_str("{\"Status\":");
        nullable(out, read::child(subresources, "status"), |out, _| out.push_str("{}"));
        out.push_str(",\"Scale\":");
        nullable(out, read::child(subresources, "scale"), |out, scale| {
            push(out, format_args!("{{\"SpecReplicasPath\":{}", JsonText(read::text(scale, "specReplicasPath"))));
            push(out, format_args!(",\"StatusReplicasPath\":{}", JsonText(read::text(scale, "statusReplicasPath"))));
            let labels = scale.get("labelSelectorPath").and_then(Value::as_str);
            push(out, format_args!(",\"LabelSelectorPath\":{}}}", pointer(labels)));
        });
        out.push('}');
    });
    out.push_str(",\"AdditionalPrinterColumns\":");
    list_of(out, version.columns, |out, column| {
        let empty = Object::new();
        let column = column.as_object().unwrap_or(&empty);
        let text = |key| JsonText(read::text(column, key));
        push(out, format_args!("{{\"Name\":{},\"Type\":{}", text("name"), text("type")));
        push(out, format_args!(",\"Format\":{},\"Description\":{}", text("format"), text("description")));
        let priority = column.get("priority").and_then(Value::as_i64).unwrap_or_default();
        push(out, format_args!(",\"Priority\":{priority},\"JSONPath\":{}}}", text("jsonPath")));
    });
    out.push_str(",\"SelectableFields\":");
    list_of(out, version.selectable, |out, field| {
        let path = field.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        push(out, format_args!("{{\"JSONPath\":{}}}", JsonText(path)));
    });
    out.push('}');
}

#[derive(Clone, Copy)]
enum Form {
    Text,
    Pointer,
    Flag,
    MaybeFlag,
    Any,
    Float,
    Number,
    Anys,
    Items,
    Schema,
    Schemas,
    Entries,
    OrBool,
    Dependencies,
    Docs,
    Rules,
}

/// The fields of a schema in the order of Go's struct.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("ID", "id"),
    ("Schema", "$schema"),
    ("Ref", "$ref"),
    ("Description", "description"),
    ("Type", "type"),
    ("Nullable", "nullable"),
    ("Format", "format"),
    ("Title", "title"),
    ("Default", "default"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Enum", "enum"),
    ("MaxProperties", "maxProperties"),
    ("MinProperties", "minProperties"),
    ("Required", "required"),
    ("Items", "items"),
    ("AllOf", "allOf"),
    ("OneOf", "oneOf"),
    ("AnyOf", "anyOf"),
    ("Not", "not"),
    ("Properties", "properties"),
    ("AdditionalProperties", "additionalProperties"),
    ("PatternProperties", "patternProperties"),
    ("Dependencies", "dependencies"),
    ("AdditionalItems", "additionalItems"),
    ("Definitions", "definitions"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource"),
    ("XIntOrString", "x-kubernetes-int-or-string"),
    ("XListMapKeys", "x-kubernetes-list-map-keys"),
    ("XListType", "x-kubernetes-list-type"),
    ("XMapType", "x-kubernetes-map-type"),
    ("XValidations", "x-kubernetes-validations"),
];

fn form(key: &str) -> Form {
    match key {
        "$ref" | "x-kubernetes-list-type" | "x-kubernetes-map-type" => Form::Pointer,
        "nullable"
        | "exclusiveMaximum"
        | "exclusiveMinimum"
        | "uniqueItems"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string" => Form::Flag,
        "x-kubernetes-preserve-unknown-fields" => Form::MaybeFlag,
        "default" | "example" => Form::Any,
        "maximum" | "minimum" | "multipleOf" => Form::Float,
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => Form::Number,
        "enum" | "required" | "x-kubernetes-list-map-keys" => Form::Anys,
        "items" => Form::Items,
        "not" => Form::Schema,
        "allOf" | "oneOf" | "anyOf" => Form::Schemas,
        "properties" | "patternProperties" | "definitions" => Form::Entries,
        "additionalProperties" | "additionalItems" => Form::OrBool,
        "dependencies" => Form::Dependencies,
        "externalDocs" => Form::Docs,
        "x-kubernetes-validations" => Form::Rules,
        _ => Form::Text,
    }
}

fn props(out: &mut String, schema: Props<'_>) {
    for (i, (go, key)) in FIELDS.iter().enumerate() {
        push(out, format_args!("{}\"{go}\":", if i == 0 { '{' } else { ',' }));
        match form(key) {
            Form::Text => push(out, JsonText(schema.text(key))),
            Form::Pointer => push(out, pointer(schema.pointer(key))),
            Form::Flag => push(out, schema.flag(key)),
            Form::MaybeFlag | Form::Any | Form::Float | Form::Number => {
                any(out, schema.0.get(*key).unwrap_or(&Value::Null));
            }
            Form::Anys => list_of(out, schema.list(key), any),
            Form::Items => nullable(out, schema.items(), write_items),
            Form::Schema => nullable(out, schema.schema(key), props),
            Form::Schemas => list_of(out, schema.list(key), |out, item| nullable(out, Props::of(Some(item)), props)),
            Form::Entries => entries(out, schema, key, |out, entry| nullable(out, Props::of(Some(entry)), props)),
            Form::OrBool => nullable(out, Props(schema.0).or_bool(key), |out, either| match either {
                Additional::Flag(flag) => push(out, format_args!("{{\"Allows\":{flag},\"Schema\":null}}")),
                Additional::Schema(schema) => {
                    out.push_str("{\"Allows\":true,\"Schema\":");
                    props(out, schema);
                    out.push('}');
                }
            }),
            Form::Dependencies => entries(out, schema, key, |out, entry| {
                out.push_str("{\"Schema\":");
                nullable(out, Props::of(Some(entry)), props);
                out.push_str(",\"Property\":");
                list_of(out, entry.as_array().map(Vec::as_slice).unwrap_or_default(), any);
                out.push('}');
            }),
            Form::Docs => nullable(out, read::child(schema.0, key), |out, docs| {
                push(out, format_args!("{{\"Description\":{}", JsonText(read::text(docs, "description"))));
                push(out, format_args!(",\"URL\":{}}}", JsonText(read::text(docs, "url"))));
            }),
            Form::Rules => list_of(out, schema.list(key), |out, rule| {
                nullable(out, rule.as_object(), write_rule);
            }),
        }
    }
    out.push('}');
}

impl<'a> Props<'a> {
    fn or_bool(self, key: &str) -> Option<Additional<'a>> {
        match self.0.get(key)? {
            Value::Object(schema) => Some(Additional::Schema(Props(schema))),
            Value::Bool(flag) => Some(Additional::Flag(*flag)),
            _ => None,
        }
    }
}

fn write_items(out: &mut String, items: Items<'_>) {
    out.push_str("{\"Schema\":");
    match items {
        Items::Schema(schema) => props(out, schema),
        Items::List(_) | Items::Nothing => out.push_str("null"),
    }
    out.push_str(",\"JSONSchemas\":");
    match items {
        Items::List(list) => list_of(out, list, |out, item| nullable(out, Props::of(Some(item)), props)),
        Items::Schema(_) => out.push_str("null"),
        // A list without schemas is the likely one of the ways to say nothing.
        Items::Nothing => out.push_str("[]"),
    }
    out.push('}');
}

fn write_rule(out: &mut String, rule: &Object) {
    let text = |key| JsonText(read::text(rule, key));
    push(out, format_args!("{{\"Rule\":{},\"Message\":{}", text("rule"), text("message")));
    push(out, format_args!(",\"MessageExpression\":{}", text("messageExpression")));
    push(out, format_args!(",\"Reason\":{}", pointer(rule.get("reason").and_then(Value::as_str))));
    push(out, format_args!(",\"FieldPath\":{},\"OptionalOldSelf\":", text("fieldPath")));
    any(out, rule.get("optionalOldSelf").unwrap_or(&Value::Null));
    out.push('}');
}

fn nullable<T>(out: &mut String, value: Option<T>, write: impl FnOnce(&mut String, T)) {
    match value {
        Some(value) => write(out, value),
        None => out.push_str("null"),
    }
}

/// A list, where an empty one is none.
fn list_of(out: &mut String, list: &[Value], mut write: impl FnMut(&mut String, &Value)) {
    if list.is_empty() {
        return out.push_str("null");
    }
    for (i, item) in list.iter().enumerate() {
        out.push(if i == 0 { '[' } else { ',' });
        write(out, item);
    }
    out.push(']');
}

fn entries(out: &mut String, schema: Props<'_>, key: &str, mut write: impl FnMut(&mut String, &Value)) {
    let Some(map) = read::child(schema.0, key).filter(|map| !map.is_empty()) else { return out.push_str("null") };
    for (i, (name, entry)) in map.iter().enumerate() {
        push(out, format_args!("{}{}:", if i == 0 { '{' } else { ',' }, JsonText(name)));
        write(out, entry);
    }
    out.push('}');
}

/// Any JSON, as Go's encoder writes it.
fn any(out: &mut String, value: &Value) {
    out.push_str(&go::json(value));
}

fn push(out: &mut String, part: impl std::fmt::Display) {
    write!(out, "{part}").expect("a String takes all text");
}

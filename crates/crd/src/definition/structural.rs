//! Structural schemas: every value has one place that says what it is, and conditions on values stand apart from that.

use rolewright_cel::regexp;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::complete;
use super::faults::Faults;
use super::props::{Additional, Items, Props};

/// Why a schema cannot even be read as a structural one.
pub(super) fn unreadable(schema: Props<'_>) -> Option<String> {
    let unsupported = |key: &str| Some(format!("OpenAPIV3Schema '{key}' is not supported"));
    if !schema.text("id").is_empty() {
        return unsupported("id");
    }
    if !schema.text("$schema").is_empty() {
        return unsupported("schema");
    }
    if !schema.text("$ref").is_empty() {
        return unsupported("$ref");
    }
    for key in ["patternProperties", "dependencies"] {
        if schema.filled(key) {
            return unsupported(key);
        }
    }
    if schema.has("additionalItems") {
        return unsupported("additionalItems");
    }
    if schema.filled("definitions") {
        return unsupported("definitions");
    }
    if let Some(fault) = schema.schema("not").and_then(unreadable) {
        return Some(fault);
    }
    let clauses = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|key| schema.schemas(key));
    if let Some(fault) = clauses.into_iter().find_map(|(_, clause)| unreadable(clause)) {
        return Some(fault);
    }
    if schema.preserves() == Some(false) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    match schema.items() {
        Some(Items::List(_)) => return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned()),
        Some(Items::Schema(item)) => {
            if let Some(fault) = unreadable(item) {
                return Some(fault);
            }
        }
        Some(Items::Nothing) | None => {}
    }
    let properties = schema.entries("properties").map(|(_, property)| property);
    properties.chain(schema.additional_schema()).find_map(unreadable)
}

/// What keeps a readable schema from being structural, in the order of the texts.
pub(super) fn faults(schema: Props<'_>, at: Path<'_>) -> Vec<FieldError> {
    let mut faults = Faults::new();
    check(&mut faults, schema, Level::Root, at);
    complete::check(&mut faults, schema, at);
    faults.sorted()
}

/// Whether a schema is no structural one.
pub(super) fn is_not(schema: Props<'_>) -> bool {
    unreadable(schema).is_some() || !faults(schema, Path::Root).is_empty()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

fn check(faults: &mut Faults, schema: Props<'_>, level: Level, at: Path<'_>) {
    if faults.is_full() {
        return;
    }
    let kind = schema.kind();
    match schema.item() {
        Some(item) => check(faults, item, Level::Item, at.child("items")),
        None if kind == "array" => faults.required(at.child("items"), "must be specified"),
        None => {}
    }
    let properties = at.child("properties");
    for (name, property) in schema.entries("properties") {
        check(faults, property, Level::Field, properties.key(name));
    }
    if let Some(additional) = schema.additional() {
        if level == Level::Root {
            faults.forbidden(at.child("additionalProperties"), "must not be used at the root");
        }
        if let Additional::Schema(additional) = additional {
            check(faults, additional, Level::Field, at.child("additionalProperties"));
        }
    }
    check_extensions(faults, schema, at);
    check_values(faults, schema, is_int_or_string(schema), first_is_int_or_string(schema), at);
    check_type(faults, schema, level, at);
    check_metadata(faults, schema, level, at);
    let embedded = schema.flag("x-kubernetes-embedded-resource");
    if embedded && schema.preserves().is_none() && !schema.filled("properties") {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        faults.required(at.child("properties"), why);
    }
}

fn check_extensions(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    let yes = || BadValue::Json("true".to_owned());
    let why = "must be false if x-kubernetes-int-or-string is true";
    if schema.flag("x-kubernetes-int-or-string") {
        if schema.preserves().is_some() {
            faults.invalid(at.child("x-kubernetes-preserve-unknown-fields"), yes(), why);
        }
        if schema.flag("x-kubernetes-embedded-resource") {
            faults.invalid(at.child("x-kubernetes-embedded-resource"), yes(), why);
        }
    }
}

fn check_type(faults: &mut Faults, schema: Props<'_>, level: Level, at: Path<'_>) {
    let kind = schema.kind();
    let embedded = schema.flag("x-kubernetes-embedded-resource");
    if embedded && kind != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "" => faults.required(at.child("type"), why),
            kind => faults.invalid(at.child("type"), kind, why),
        }
    } else if kind.is_empty() && !schema.flag("x-kubernetes-int-or-string") && schema.preserves().is_none() {
        let what = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        faults.required(at.child("type"), format!("must not be empty {what}"));
    }
    if embedded && schema.additional().is_some() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        faults.forbidden(at.child("additionalProperties"), why);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        faults.invalid(at.child("type"), kind, "must be object at the root");
    }
}

/// What every object has is known: a schema may only restrict its name.
fn check_metadata(faults: &mut Faults, schema: Props<'_>, level: Level, at: Path<'_>) {
    let is_object = level == Level::Root || schema.flag("x-kubernetes-embedded-resource");
    let at = at.child("properties");
    for key in ["kind", "apiVersion"] {
        if let Some(property) = schema.property(key).filter(|property| is_object && property.kind() != "string") {
            let at = at.key(key);
            faults.invalid(at.child("type"), property.kind(), "must be string");
        }
    }
    let Some(metadata) = schema.property("metadata") else { return };
    let at = at.key("metadata");
    if is_object && metadata.kind() != "object" {
        faults.invalid(at.child("type"), metadata.kind(), "must be object");
    }
    if level == Level::Root && !restricts_names_only(metadata) {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        faults.forbidden(at, why);
    }
}

fn restricts_names_only(metadata: Props<'_>) -> bool {
    metadata.0.iter().all(|(key, value)| match key.as_str() {
        "type" | "default" => true,
        "properties" => {
            let properties = value.as_object();
            properties.is_none_or(|all| all.keys().all(|name| name == "name" || name == "generateName"))
        }
        key => leaves_no_trace(key, value),
    })
}

/// Whether a member of a schema is nothing in its structural form. Pointers are something even if they point to nothing.
fn leaves_no_trace(key: &str, value: &Value) -> bool {
    let is_pointer = matches!(
        key,
        "not"
            | "externalDocs"
            | "items"
            | "additionalProperties"
            | "default"
            | "example"
            | "x-kubernetes-list-type"
            | "x-kubernetes-map-type"
    );
    match value {
        Value::Null => true,
        Value::String(text) => !is_pointer && text.is_empty(),
        Value::Array(list) => !is_pointer && list.is_empty(),
        Value::Object(map) => !is_pointer && map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// An integer or a text, in the one form that is allowed beside `x-kubernetes-int-or-string`.
fn is_int_or_string(schema: Props<'_>) -> bool {
    let clauses: Vec<Props<'_>> = schema.schemas("anyOf").map(|(_, clause)| clause).take(3).collect();
    matches!(clauses.as_slice(), [first, second] if is_only(*first, "integer") && is_only(*second, "string"))
}

fn first_is_int_or_string(schema: Props<'_>) -> bool {
    schema.schemas("allOf").next().is_some_and(|(_, clause)| is_int_or_string(clause))
}

fn is_only(clause: Props<'_>, kind: &str) -> bool {
    clause.kind() == kind
        && clause.0.iter().all(|(key, value)| match key.as_str() {
            "type" => true,
            "additionalProperties" => value == false,
            key => leaves_no_trace(key, value),
        })
}

fn check_values(faults: &mut Faults, schema: Props<'_>, skip_any: bool, skip_first_any: bool, at: Path<'_>) {
    if !skip_any {
        let at = at.child("anyOf");
        for (i, clause) in schema.schemas("anyOf") {
            check_clause(faults, clause, false, at.index(i));
        }
    }
    let all = at.child("allOf");
    for (i, clause) in schema.schemas("allOf") {
        check_clause(faults, clause, skip_first_any && i == 0, all.index(i));
    }
    let one = at.child("oneOf");
    for (i, clause) in schema.schemas("oneOf") {
        check_clause(faults, clause, false, one.index(i));
    }
    if let Some(not) = schema.schema("not") {
        check_clause(faults, not, false, at.child("not"));
    }
    let text = schema.text("pattern");
    if !text.is_empty()
        && let Err(why) = regexp::translate(text)
    {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        faults.invalid(at.child("pattern"), text, why);
    }
}

/// Conditions say nothing about what a value is.
fn check_clause(faults: &mut Faults, clause: Props<'_>, skip_any: bool, at: Path<'_>) {
    if faults.is_full() {
        return;
    }
    check_values(faults, clause, skip_any, false, at);
    if let Some(item) = clause.item() {
        check_clause(faults, item, false, at.child("items"));
    }
    let properties = at.child("properties");
    for (name, property) in clause.entries("properties") {
        check_clause(faults, property, false, properties.key(name));
    }
    let restricts = match clause.additional() {
        Some(Additional::Flag(flag)) => flag,
        Some(Additional::Schema(_)) => true,
        None => false,
    };
    let text = |key| !clause.text(key).is_empty();
    let listed = |key| !clause.list(key).is_empty();
    for (is_there, key, why) in [
        (text("type"), "type", "must be empty to be structural"),
        (restricts, "additionalProperties", "must be undefined to be structural"),
        (clause.has("default"), "default", "must be undefined to be structural"),
        (text("title"), "title", "must be empty to be structural"),
        (text("description"), "description", "must be empty to be structural"),
        (clause.flag("nullable"), "nullable", "must be false to be structural"),
        (clause.preserves().is_some(), "x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        (clause.flag(EMBEDDED), EMBEDDED, "must be false to be structural"),
        (clause.flag(INT_OR_STRING), INT_OR_STRING, "must be false to be structural"),
        (listed(MAP_KEYS), MAP_KEYS, "must be empty to be structural"),
        (clause.list_type().is_some(), "x-kubernetes-list-type", "must be undefined to be structural"),
        (clause.map_type().is_some(), "x-kubernetes-map-type", "must be undefined to be structural"),
        (clause.has_rules(), "x-kubernetes-validations", "must be empty to be structural"),
    ] {
        if is_there {
            faults.forbidden(at.child(key), why);
        }
    }
    if clause.property("metadata").is_some() {
        faults.forbidden(properties.key("metadata"), "must not be specified in a nested context");
    }
}

const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const MAP_KEYS: &str = "x-kubernetes-list-map-keys";

//! Defaults in a schema are values that the schema itself accepts.

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{ErrorKind, FieldError, Path, summary};
use serde_json::{Map, Value};

use super::faults::Faults;
use super::props::Props;
use super::structural;
use crate::go;
use crate::metadata::{Malformed, ObjectMeta};
use crate::prune::{self, Mode};
use crate::rules::Rules;
use crate::schema::Schema;

/// What is wrong with the defaults of a structural schema. `pruned`: they have no unknown fields.
pub(super) fn faults(schema: Props<'_>, pruned: bool, meta: &dyn ObjectMeta, at: Path<'_>) -> Vec<FieldError> {
    if !has_any(schema) {
        return Vec::new();
    }
    let compiled = compile(schema);
    let mut walk = Walk { faults: Faults::new(), pruned, meta };
    let place = Place { resource: &compiled, inside_metadata: false };
    walk.check(schema, &compiled, place, &Way::Resource, at);
    walk.faults.into_vec()
}

/// Whether a default has fields that its schema does not know.
pub(super) fn has_unpruned(schema: Props<'_>) -> bool {
    has_any(schema) && !structural::is_not(schema) && differs(schema, &compile(schema))
}

/// Gives the metadata of resources in defaults the form of its type: Kubernetes does so while it looks at them.
pub(super) fn settle(schema: &mut Map<String, Value>, meta: &dyn ObjectMeta) {
    if !has_any(Props(schema)) || structural::is_not(Props(schema)) {
        return;
    }
    let compiled = compile(Props(schema));
    settle_in(schema, &compiled, false, meta);
}

fn has_any(schema: Props<'_>) -> bool {
    schema.any(&mut |schema| schema.has("default"))
}

/// The root of a schema is a resource like embedded ones.
fn compile(schema: Props<'_>) -> Schema {
    let mut root = schema.0.clone();
    root.insert("x-kubernetes-embedded-resource".to_owned(), true.into());
    let mut root = Value::Object(root);
    forget_unions(&mut root);
    Schema::compile(&root)
}

/// Here Kubernetes does not know what `x-kubernetes-int-or-string` means, only what stands beside it.
fn forget_unions(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("x-kubernetes-int-or-string");
            members.values_mut().for_each(forget_unions);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_unions),
        _ => {}
    }
}

fn differs(schema: Props<'_>, compiled: &Schema) -> bool {
    let own = schema.0.get("default").filter(|value| !value.is_null());
    own.is_some_and(|default| compiled.default_value() != Some(default))
        || schema.item().zip(compiled.items()).is_some_and(|(schema, compiled)| differs(schema, compiled))
        || schema.additional_schema().zip(compiled.values()).is_some_and(|(schema, compiled)| differs(schema, compiled))
        || schema
            .entries("properties")
            .any(|(name, schema)| compiled.property(name).is_some_and(|compiled| differs(schema, compiled)))
}

fn settle_in(schema: &mut Map<String, Value>, compiled: &Schema, inside_metadata: bool, meta: &dyn ObjectMeta) {
    let is_resource = compiled.embedded_resource();
    let inside_metadata = inside_metadata && !is_resource;
    if let Some(default) = schema.get_mut("default").filter(|_| !inside_metadata) {
        // What cannot be settled is refused elsewhere.
        let _ = compiled.coerce_value(default, meta, Malformed::Refuse);
    }
    if let (Some(Value::Object(item)), Some(compiled)) = (schema.get_mut("items"), compiled.items()) {
        settle_in(item, compiled, inside_metadata, meta);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if let (Value::Object(property), Some(compiled)) = (property, compiled.property(name)) {
            settle_in(property, compiled, inside_metadata || is_resource && prune::is_meta(name), meta);
        }
    }
}

/// The way from a resource to a value in it.
enum Way<'a> {
    Resource,
    Field(&'a Way<'a>, &'a str),
    Item(&'a Way<'a>),
}

impl Way<'_> {
    /// The resource that has nothing but this value.
    fn around(&self, value: Value) -> Map<String, Value> {
        match self {
            Self::Resource => {
                let mut resource = match value {
                    Value::Object(resource) => resource,
                    _ => Map::new(),
                };
                resource.entry("kind").or_insert_with(|| "Validation".into());
                resource.entry("apiVersion").or_insert_with(|| "validation/v1".into());
                resource
            }
            Self::Field(above, name) => above.around(Value::Object(Map::from_iter([((*name).to_owned(), value)]))),
            Self::Item(above) => above.around(Value::Array(vec![value])),
        }
    }
}

#[derive(Clone, Copy)]
struct Place<'a> {
    /// The schema of the resource around.
    resource: &'a Schema,
    /// In what every resource has.
    inside_metadata: bool,
}

struct Walk<'a> {
    faults: Faults,
    pruned: bool,
    meta: &'a dyn ObjectMeta,
}

impl Walk<'_> {
    fn check(&mut self, schema: Props<'_>, compiled: &Schema, place: Place<'_>, way: &Way<'_>, at: Path<'_>) {
        if self.faults.is_full() {
            return;
        }
        let embedded = compiled.embedded_resource();
        let (place, way) = if embedded {
            (Place { resource: compiled, inside_metadata: false }, &Way::Resource)
        } else {
            (place, way)
        };
        if let Some(default) = schema.0.get("default").filter(|value| !value.is_null()) {
            let at = at.child("default");
            if place.inside_metadata {
                self.check_in_metadata((default, schema), compiled, place.resource, way, at);
            } else {
                self.check_default(default, schema, compiled, at);
            }
        }
        if let (Some(item), Some(compiled)) = (schema.item(), compiled.items()) {
            self.check(item, compiled, place, &Way::Item(way), at.child("items"));
        }
        let at = at.child("properties");
        for (name, property) in schema.entries("properties") {
            let Some(compiled) = compiled.property(name) else { continue };
            let inside_metadata = place.inside_metadata || embedded && prune::is_meta(name);
            self.check(property, compiled, Place { inside_metadata, ..place }, &Way::Field(way, name), at.key(name));
        }
    }

    fn check_in_metadata(
        &mut self,
        (default, schema): (&Value, Props<'_>),
        compiled: &Schema,
        resource: &Schema,
        way: &Way<'_>,
        at: Path<'_>,
    ) {
        let mut around = way.around(default.clone());
        let wrong = match resource.coerce_metadata(&mut around, self.meta, Malformed::Refuse) {
            Err(error) => error.to_string(),
            Ok(_) => summary(&resource.validate_metadata(&around, self.meta)),
        };
        if wrong.is_empty() {
            self.check_value(default, schema, compiled, at);
        } else {
            self.faults.invalid(at, go::shown(default), format!("must result in valid metadata: {wrong}"));
        }
    }

    fn check_default(&mut self, default: &Value, schema: Props<'_>, compiled: &Schema, at: Path<'_>) {
        if self.pruned {
            let mut known = default.clone();
            prune::value(&mut known, compiled, Mode::Prune);
            if known != *default {
                self.faults.invalid(at, go::shown(default), "must not have unknown fields");
            }
        }
        let mut coerced = default.clone();
        if let Err(error) = compiled.coerce_value(&mut coerced, self.meta, Malformed::Refuse) {
            return self.faults.push(below(at, error));
        }
        let wrong = compiled.validate_value_metadata(&coerced, self.meta);
        if wrong.is_empty() {
            self.check_value(&coerced, schema, compiled, at);
        } else {
            self.faults.extend(wrong.into_iter().map(|error| below(at, error)));
        }
    }

    fn check_value(&mut self, default: &Value, schema: Props<'_>, compiled: &Schema, at: Path<'_>) {
        let before = self.faults.count();
        let kind = schema.kind();
        if !kind.is_empty() && compiled.kind().is_none() {
            // No value has a type that nobody knows.
            let found = json_type(default);
            let why = format!(" in body must be of type {kind}: {}", Quoted(found));
            return self.faults.push(FieldError {
                kind: ErrorKind::TypeInvalid,
                field: at.to_string(),
                value: Some(found.into()),
                detail: why,
            });
        }
        let untyped = self.is_odd(default, schema, at).then(|| {
            let mut members = schema.0.clone();
            members.remove("type");
            let mut members = Value::Object(members);
            forget_unions(&mut members);
            Schema::compile(&members)
        });
        let compiled = untyped.as_ref().unwrap_or(compiled);
        self.faults.extend(compiled.validate_value(default).into_iter().map(|error| {
            let field = if error.field == "<nil>" { at.to_string() } else { format!("{at}.{}", error.field) };
            FieldError { field, ..error }
        }));
        if self.faults.count() == before {
            self.check_rules(default, schema, compiled, at);
        }
    }
}

impl Walk<'_> {
    /// Whether the type of a default is not to be looked at again. A format that does not go with the type is dropped when
    /// objects are validated, but not here: either may fit, and a text fits all but numbers.
    fn is_odd(&mut self, default: &Value, schema: Props<'_>, at: Path<'_>) -> bool {
        let (kind, format) = (schema.kind(), schema.text("format"));
        let (found, found_format) = match default {
            Value::Number(number) if number.is_f64() => ("number", "float64"),
            Value::Number(_) => ("integer", "int64"),
            other => (json_type(other), ""),
        };
        let is_whole = || default.as_f64().is_some_and(|float| float.fract() == 0.0);
        let fits = match (kind, found) {
            ("number", "integer") => true,
            ("integer", "number") => is_whole(),
            (kind, found) => kind == found,
        };
        let goes_with_type = matches!((kind, format), ("integer", "int32" | "int64") | ("number", "float" | "double"));
        if format.is_empty() || fits || goes_with_type {
            return false;
        }
        let is_text = matches!(default, Value::String(_) | Value::Array(_));
        if is_text {
            return !matches!(kind, "number" | "integer");
        }
        if format == found_format {
            return false;
        }
        self.faults.push(FieldError {
            kind: ErrorKind::TypeInvalid,
            field: at.to_string(),
            value: Some(found_format.into()),
            detail: format!(" in body must be of type {format}: {}", Quoted(found_format)),
        });
        true
    }

    /// Rules hold for a default that stays what it is, and for one that comes into being.
    fn check_rules(&mut self, default: &Value, schema: Props<'_>, compiled: &Schema, at: Path<'_>) {
        let rules = Rules::of_part(schema.0, compiled.embedded_resource());
        let mut wrong = rules.judge_value(compiled, default, Some(default));
        if wrong.is_empty() {
            wrong = rules.judge_value(compiled, default, None);
        }
        self.faults.extend(wrong.into_iter().map(|error| below(at, error)));
    }
}

/// The type of a value.
fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// An error about a value, seen from outside.
fn below(at: Path<'_>, error: FieldError) -> FieldError {
    let field = match error.field.as_str() {
        "<nil>" | "" => at.to_string(),
        field if field.starts_with('[') => format!("{at}{field}"),
        field => format!("{at}.{field}"),
    };
    FieldError { field, ..error }
}

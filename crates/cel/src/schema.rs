//! What a structural schema says to rules: the types of fields, the sizes they may have, and how JSON becomes values.
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::escape::escape;
use crate::types::Type;

/// Sizes are estimated for requests of this many bytes.
const LARGEST_REQUEST: i64 = 3 * 1024 * 1024;

/// A node of a structural schema, as rules see it.
#[derive(Debug)]
pub struct Schema {
    pub(crate) nullable: bool,
    pub(crate) shape: Shape,
    /// The most elements, characters or entries a value has.
    pub(crate) max_elements: i64,
    /// The fewest bytes a value is written in.
    pub(crate) min_size: i64,
}

/// The schema of JSON that has none.
pub(crate) static ANY: Schema = Schema { nullable: true, shape: Shape::Any, max_elements: 0, min_size: 0 };

/// The form of the values of a node.
#[derive(Debug)]
pub(crate) enum Shape {
    IntOrString,
    Object(Object),
    Map(Arc<Schema>),
    List(List),
    String(Format),
    Number,
    Integer,
    Boolean,
    /// Anything, preserved but without a type.
    Preserved,
    /// JSON as it is, without a schema.
    Any,
    /// A node without a type that rules could use.
    Untyped(String),
}

#[derive(Debug, Default)]
pub(crate) struct Object {
    /// The properties by their names.
    pub(crate) properties: BTreeMap<String, Arc<Schema>>,
    /// The properties by the names of their fields.
    pub(crate) fields: BTreeMap<String, Arc<Schema>>,
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) items: Option<Arc<Schema>>,
    pub(crate) kind: ListKind,
}

/// What makes two lists equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Elements in their order.
    Atomic,
    /// Elements in any order.
    Set,
    /// Elements by their keys.
    Map(Vec<String>),
    /// Unknown to Kubernetes.
    Other(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Plain,
    Bytes,
    Duration,
    Date,
    DateTime,
}

fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn flag(json: &Json, key: &str) -> bool {
    json.get(key).and_then(Json::as_bool).unwrap_or(false)
}

fn limit(json: &Json, key: &str) -> Option<i64> {
    json.get(key).and_then(Json::as_i64).map(|limit| limit.max(0))
}

impl Schema {
    /// Reads a node of a structural schema; the root of a resource also has its kind, version and name.
    pub fn structural(json: &Json, resource_root: bool) -> Arc<Self> {
        Arc::new(read(json, resource_root || flag(json, "x-kubernetes-embedded-resource")))
    }

    fn new(shape: Shape, max_elements: i64, min_size: i64) -> Self {
        Self { nullable: false, shape, max_elements, min_size }
    }

    /// The type of the node's values, when rules can use them; objects are named by their path.
    pub(crate) fn type_at(&self, path: &str) -> Option<Type> {
        Some(match &self.shape {
            Shape::IntOrString => Type::Dyn,
            Shape::Object(_) => Type::Object(path.into()),
            Shape::Map(values) => Type::map(Type::String, values.type_at(&format!("{path}.@elem"))?),
            Shape::List(list) => Type::list(list.items.as_ref()?.type_at(&format!("{path}.@idx"))?),
            Shape::String(Format::Plain) => Type::String,
            Shape::String(Format::Bytes) => Type::Bytes,
            Shape::String(Format::Duration) => Type::Duration,
            Shape::String(Format::Date | Format::DateTime) => Type::Timestamp,
            Shape::Number => Type::Double,
            Shape::Integer => Type::Int,
            Shape::Boolean => Type::Bool,
            Shape::Preserved | Shape::Any | Shape::Untyped(_) => return None,
        })
    }

    /// Whether rules can use the values.
    pub fn is_typed(&self) -> bool {
        self.type_at("").is_some()
    }

    /// The fewest bytes a value is written in.
    pub fn min_size(&self) -> i64 {
        self.min_size
    }

    /// The most elements a list or map has.
    pub fn max_elements(&self) -> i64 {
        self.max_elements
    }

    /// The node of a property that fields can name.
    pub fn property(&self, name: &str) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::Object(object) => object.fields.get(&escape(name)?),
            _ => None,
        }
    }

    /// The node of a list's items or a map's values.
    pub fn elements(&self) -> Option<&Arc<Self>> {
        match &self.shape {
            Shape::List(list) => list.items.as_ref(),
            Shape::Map(values) => Some(values),
            _ => None,
        }
    }

    /// The node below, by a field's name, `@idx` or `@elem`.
    pub(crate) fn below(&self, segment: &str) -> Option<&Arc<Self>> {
        match (&self.shape, segment) {
            (Shape::List(list), "@idx") => list.items.as_ref(),
            (Shape::Map(values), "@elem") => Some(values),
            (Shape::Object(object), field) => object.fields.get(field),
            _ => None,
        }
    }
}

fn read(json: &Json, resource: bool) -> Schema {
    let mut schema = shaped(json, resource);
    schema.nullable = flag(json, "nullable");
    schema
}

fn shaped(json: &Json, resource: bool) -> Schema {
    let longest = limit(json, "maxLength");
    if flag(json, "x-kubernetes-int-or-string") {
        let max = longest.map_or(LARGEST_REQUEST - 2, |limit| limit.saturating_mul(4));
        return Schema::new(Shape::IntOrString, max, 1);
    }
    match text(json, "type") {
        "array" => list(json),
        "object" => object(json, resource),
        "string" => string(json, longest),
        "boolean" => Schema::new(Shape::Boolean, 0, 4),
        "number" => Schema::new(Shape::Number, 0, 1),
        "integer" => Schema::new(Shape::Integer, 0, 1),
        _ if flag(json, "x-kubernetes-preserve-unknown-fields") => Schema::new(Shape::Preserved, 0, 1),
        other => Schema::new(Shape::Untyped(other.to_owned()), 0, 1),
    }
}

fn list(json: &Json) -> Schema {
    let items = json.get("items").filter(|items| items.is_object()).map(|items| Schema::structural(items, false));
    let max = limit(json, "maxItems")
        .unwrap_or_else(|| (LARGEST_REQUEST - 2) / (items.as_ref().map_or(0, |items| items.min_size) + 1));
    let kind = match text(json, "x-kubernetes-list-type") {
        "" | "atomic" => ListKind::Atomic,
        "set" => ListKind::Set,
        "map" => {
            let keys = json.get("x-kubernetes-list-map-keys").and_then(Json::as_array);
            let keys = keys.into_iter().flatten().filter_map(Json::as_str);
            ListKind::Map(keys.map(|key| escape(key).unwrap_or_else(|| key.to_owned())).collect())
        }
        other => ListKind::Other(other.to_owned()),
    };
    Schema::new(Shape::List(List { items, kind }), max, 2)
}

fn string(json: &Json, longest: Option<i64>) -> Schema {
    let format = match text(json, "format") {
        "byte" => Format::Bytes,
        "duration" => Format::Duration,
        "date" => Format::Date,
        "date-time" => Format::DateTime,
        _ => Format::Plain,
    };
    let enumeration = || {
        let values = json.get("enum").and_then(Json::as_array).filter(|values| !values.is_empty())?;
        let lengths = values.iter().filter_map(Json::as_str).map(str::len);
        i64::try_from(lengths.max().unwrap_or(0)).ok()
    };
    let (max, min) = match format {
        Format::Plain => {
            let longest = longest.map(|limit| limit.saturating_mul(4)).or_else(enumeration);
            (longest.unwrap_or(LARGEST_REQUEST - 2), 2)
        }
        Format::Bytes => (longest.unwrap_or(LARGEST_REQUEST - 2), 2),
        Format::Duration => (32, 3),
        Format::Date => (12, 12),
        Format::DateTime => (32, 21),
    };
    Schema::new(Shape::String(format), max, min)
}

fn object(json: &Json, resource: bool) -> Schema {
    let properties = json.get("properties").and_then(Json::as_object).filter(|properties| !properties.is_empty());
    if let Some(values) = json.get("additionalProperties").filter(|values| values.is_object())
        && properties.is_none()
        && !resource
    {
        let values = Schema::structural(values, false);
        let max = limit(json, "maxProperties").unwrap_or((LARGEST_REQUEST - 2) / (values.min_size + 6));
        return Schema::new(Shape::Map(values), max, 2);
    }
    let mut children: BTreeMap<&str, &Json> =
        properties.into_iter().flatten().map(|(name, json)| (name.as_str(), json)).collect();
    let own = resource.then(|| own_properties(json)).flatten();
    children.extend(own.iter().filter_map(|own| own.as_object()).flatten().map(|(name, json)| (name.as_str(), json)));
    let required = json.get("required").and_then(Json::as_array);
    let mut min_size = 2;
    let mut object = Object::default();
    for (name, json) in children {
        let schema = Schema::structural(json, false);
        if schema.is_typed() {
            if let Some(field) = escape(name) {
                object.fields.insert(field, Arc::clone(&schema));
            }
            let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
            if is_required && json.get("default").is_none_or(Json::is_null) {
                min_size += i64::try_from(name.len()).unwrap_or(0) + schema.min_size + 4;
            }
        }
        object.properties.insert(name.to_owned(), schema);
    }
    Schema::new(Shape::Object(object), 0, min_size)
}

/// The properties every resource has, when the schema does not spell them out.
fn own_properties(json: &Json) -> Option<Json> {
    let is = |pointer: &str, wanted: &str| json.pointer(pointer).is_some_and(|json| text(json, "type") == wanted);
    let complete = is("/properties/kind", "string")
        && is("/properties/apiVersion", "string")
        && is("/properties/metadata", "object")
        && is("/properties/metadata/properties/name", "string")
        && is("/properties/metadata/properties/generateName", "string");
    (!complete).then(|| {
        let string = serde_json::json!({"type": "string"});
        serde_json::json!({
            "kind": string,
            "apiVersion": string,
            "metadata": {"type": "object", "properties": {"name": string, "generateName": string}},
        })
    })
}

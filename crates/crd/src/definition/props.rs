//! A schema of OpenAPI as it stands in a definition: `JSONSchemaProps`, read as Go reads it.

use serde_json::{Map, Value};

use super::read;

/// One schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Props<'a>(pub(super) &'a Map<String, Value>);

/// What `items` is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Items<'a> {
    /// Neither a schema nor a list of them.
    Nothing,
    Schema(Props<'a>),
    List(&'a [Value]),
}

/// What `additionalProperties` is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Additional<'a> {
    Flag(bool),
    Schema(Props<'a>),
}

impl<'a> Props<'a> {
    pub(super) fn of(value: Option<&'a Value>) -> Option<Self> {
        value.and_then(Value::as_object).map(Self)
    }

    pub(super) fn text(self, key: &str) -> &'a str {
        read::text(self.0, key)
    }

    /// The text of a pointer.
    pub(super) fn pointer(self, key: &str) -> Option<&'a str> {
        self.0.get(key).and_then(Value::as_str)
    }

    pub(super) fn flag(self, key: &str) -> bool {
        read::flag(self.0, key)
    }

    /// Whether a pointer is set.
    pub(super) fn has(self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| !value.is_null())
    }

    pub(super) fn list(self, key: &str) -> &'a [Value] {
        read::list(self.0, key)
    }

    pub(super) fn texts(self, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        read::texts(self.0, key)
    }

    pub(super) fn kind(self) -> &'a str {
        self.text("type")
    }

    /// A list of schemas, with their positions.
    pub(super) fn schemas(self, key: &str) -> impl Iterator<Item = (usize, Props<'a>)> + use<'a> {
        self.list(key).iter().enumerate().filter_map(|(i, item)| Some((i, Props::of(Some(item))?)))
    }

    /// A map of schemas.
    pub(super) fn entries(self, key: &str) -> impl Iterator<Item = (&'a String, Props<'a>)> + use<'a> {
        let map = self.0.get(key).and_then(Value::as_object);
        map.into_iter().flatten().filter_map(|(name, value)| Some((name, Props::of(Some(value))?)))
    }

    pub(super) fn schema(self, key: &str) -> Option<Props<'a>> {
        Props::of(self.0.get(key))
    }

    pub(super) fn property(self, name: &str) -> Option<Props<'a>> {
        Props::of(self.0.get("properties").and_then(|properties| properties.get(name)))
    }

    /// Whether there is any entry in a map.
    pub(super) fn filled(self, key: &str) -> bool {
        self.0.get(key).and_then(Value::as_object).is_some_and(|map| !map.is_empty())
    }

    /// `items`, if set. A list without schemas, or null in its place, is set too.
    pub(super) fn items(self) -> Option<Items<'a>> {
        Some(match self.0.get("items")? {
            Value::Object(schema) => Items::Schema(Props(schema)),
            Value::Array(list) if !list.is_empty() => Items::List(list),
            _ => Items::Nothing,
        })
    }

    /// The one schema of all items.
    pub(super) fn item(self) -> Option<Props<'a>> {
        match self.items() {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    pub(super) fn additional(self) -> Option<Additional<'a>> {
        match self.0.get("additionalProperties")? {
            Value::Object(schema) => Some(Additional::Schema(Props(schema))),
            Value::Bool(flag) => Some(Additional::Flag(*flag)),
            _ => None,
        }
    }

    pub(super) fn additional_schema(self) -> Option<Props<'a>> {
        match self.additional() {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// `x-kubernetes-preserve-unknown-fields`, if set.
    pub(super) fn preserves(self) -> Option<bool> {
        self.0.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool)
    }

    pub(super) fn list_type(self) -> Option<&'a str> {
        self.pointer("x-kubernetes-list-type")
    }

    pub(super) fn map_type(self) -> Option<&'a str> {
        self.pointer("x-kubernetes-map-type")
    }

    pub(super) fn rules(self) -> impl Iterator<Item = &'a Map<String, Value>> + use<'a> {
        self.list("x-kubernetes-validations").iter().filter_map(Value::as_object)
    }

    pub(super) fn has_rules(self) -> bool {
        !self.list("x-kubernetes-validations").is_empty()
    }

    /// Whether any schema in here, this one first, satisfies a predicate. Kubernetes looks in this order.
    pub(super) fn any(self, look: &mut impl FnMut(Props<'a>) -> bool) -> bool {
        if look(self) {
            return true;
        }
        let items = match self.items() {
            Some(Items::Schema(schema)) => schema.any(look),
            Some(Items::List(list)) => list.iter().filter_map(|item| Props::of(Some(item))).any(|item| item.any(look)),
            Some(Items::Nothing) | None => false,
        };
        items
            || self.schemas("allOf").any(|(_, schema)| schema.any(look))
            || self.schemas("anyOf").any(|(_, schema)| schema.any(look))
            || self.schemas("oneOf").any(|(_, schema)| schema.any(look))
            || self.schema("not").is_some_and(|schema| schema.any(look))
            || self.entries("properties").any(|(_, schema)| schema.any(look))
            || self.schema("additionalProperties").is_some_and(|schema| schema.any(look))
            || self.entries("patternProperties").any(|(_, schema)| schema.any(look))
            || self.schema("additionalItems").is_some_and(|schema| schema.any(look))
            || self.entries("definitions").any(|(_, schema)| schema.any(look))
            || self.entries("dependencies").any(|(_, schema)| schema.any(look))
    }
}

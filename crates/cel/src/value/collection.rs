//! Lists and maps: made by expressions, or read from JSON.
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;
use smol_str::SmolStr;

use super::{Fault, Outcome, Str, Value, json};
use crate::escape::{escape, unescape};
use crate::schema::{self, Schema, Shape};

#[derive(Clone, Debug)]
pub(crate) struct List<'a> {
    pub(crate) items: Items<'a>,
    /// The schema of a list over JSON, and of what was added to one.
    pub(crate) schema: Option<&'a schema::List>,
}

#[derive(Clone, Debug)]
pub(crate) enum Items<'a> {
    Made(Arc<Vec<Value<'a>>>),
    Json(&'a [Json], &'a Schema),
}

impl<'a> List<'a> {
    pub(crate) fn of(items: Vec<Value<'a>>) -> Self {
        Self { items: Items::Made(Arc::new(items)), schema: None }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.items {
            Items::Made(items) => items.len(),
            Items::Json(items, _) => items.len(),
        }
    }

    pub(crate) fn is_made(&self) -> bool {
        self.schema.is_none()
    }

    pub(crate) fn get(&self, index: usize) -> Option<Outcome<'a>> {
        match &self.items {
            Items::Made(items) => items.get(index).cloned().map(Ok),
            Items::Json(items, schema) => items.get(index).map(|item| json::value(item, schema)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Outcome<'a>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(crate) fn native_name(&self) -> &'static str {
        match self.schema.map(|schema| &schema.kind) {
            None => "*types.baseList",
            Some(schema::ListKind::Set) => "*common.unstructuredSetList",
            Some(schema::ListKind::Map(_)) => "*common.unstructuredMapList",
            Some(_) => "*common.unstructuredList",
        }
    }

    /// The raw elements, when they are JSON.
    pub(crate) fn raw(&self) -> Option<&'a [Json]> {
        if let Items::Json(items, _) = &self.items { Some(items) } else { None }
    }
}

/// A key of a map made by an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(u64),
    Text(SmolStr),
    Time(i64, i64),
    Duration(i64),
    Type(SmolStr),
    Null,
}

fn key(value: &Value<'_>) -> Option<Key> {
    Some(match value {
        Value::Null => Key::Null,
        Value::Bool(value) => Key::Bool(*value),
        Value::Int(value) => Key::Int(*value),
        Value::Uint(value) => Key::Uint(*value),
        // Zero has two signs and one meaning.
        Value::Double(value) => Key::Double(if *value == 0.0 { 0.0_f64 } else { *value }.to_bits()),
        Value::String(text) => Key::Text(SmolStr::new(&**text)),
        Value::Timestamp(time) => Key::Time(time.seconds, time.nanos),
        Value::Duration(nanos) => Key::Duration(*nanos),
        Value::Type(name) => Key::Type(name.clone()),
        _ => return None,
    })
}

/// A map made by an expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    index: HashMap<Key, usize>,
}

impl<'a> Made<'a> {
    /// Puts an entry in place of one of the same key.
    pub(crate) fn set(&mut self, name: Value<'a>, value: Value<'a>) {
        let Some(key) = key(&name) else {
            self.entries.push((name, value));
            return;
        };
        if let Some(entry) = self.index.get(&key).and_then(|at| self.entries.get_mut(*at)) {
            entry.1 = value;
            return;
        }
        self.index.insert(key, self.entries.len());
        self.entries.push((name, value));
    }

    pub(crate) fn remove(&mut self, name: &Value<'a>) {
        if let Some(at) = key(name).and_then(|key| self.index.remove(&key)) {
            self.entries.remove(at);
            self.index.values_mut().filter(|index| **index > at).for_each(|index| *index -= 1);
        }
    }

    fn exact(&self, key: &Key) -> Option<&Value<'a>> {
        self.index.get(key).and_then(|at| self.entries.get(*at)).map(|(_, value)| value)
    }

    pub(crate) fn find(&self, name: &Value<'_>) -> Option<&Value<'a>> {
        if let Some(found) = key(name).and_then(|key| self.exact(&key)) {
            return Some(found);
        }
        match name {
            Value::Double(value) => super::convert::exact_int(*value)
                .and_then(|value| self.exact(&Key::Int(value)))
                .or_else(|| self.exact(&Key::Uint(super::convert::exact_uint(*value)?))),
            Value::Int(value) => self.exact(&Key::Uint(u64::try_from(*value).ok()?)),
            Value::Uint(value) => self.exact(&Key::Int(i64::try_from(*value).ok()?)),
            _ => None,
        }
    }
}

/// The value of a key, if there is one.
pub(crate) type Found<'a> = Result<Option<Value<'a>>, Fault>;

#[derive(Clone, Debug)]
pub(crate) enum Map<'a> {
    Made(Arc<Made<'a>>),
    Json(&'a serde_json::Map<String, Json>, &'a Schema),
}

impl<'a> Map<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Made(made) => made.entries.len(),
            Self::Json(map, _) => map.len(),
        }
    }

    pub(crate) fn is_made(&self) -> bool {
        match self {
            Self::Made(_) => true,
            Self::Json(_, schema) => matches!(schema.shape, Shape::Any),
        }
    }

    pub(crate) fn native_name(&self) -> &'static str {
        if self.is_made() { "*types.baseMap" } else { "*common.unstructuredMap" }
    }

    /// The value of a key; looking with a key of another type in JSON is wrong.
    pub(crate) fn find(&self, name: &Value<'_>) -> Found<'a> {
        let (map, schema) = match self {
            Self::Made(made) => return Ok(made.find(name).cloned()),
            Self::Json(map, schema) => (*map, *schema),
        };
        let Value::String(name) = name else {
            return if self.is_made() { Ok(None) } else { super::no_such_overload() };
        };
        let is_object = is_object(schema);
        let unescaped = if is_object { unescape(name) } else { Some(name.to_string()) };
        let Some(property) = unescaped else { return Ok(None) };
        match (map.get(&property), property_schema(schema, &property)) {
            (Some(Json::Null), _) if is_object => Ok(None),
            (Some(json), Some(schema)) => json::value(json, schema).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn keys(&self) -> Vec<Value<'a>> {
        match self {
            Self::Made(made) => made.entries.iter().map(|(key, _)| key.clone()).collect(),
            Self::Json(map, schema) => {
                let is_object = is_object(schema);
                let known = map.keys().filter(|name| property_schema(schema, name).is_some());
                known
                    .map(|name| match escape(name) {
                        Some(escaped) if is_object && escaped != *name => Value::text(escaped),
                        _ => Value::String(Str::Borrowed(name)),
                    })
                    .collect()
            }
        }
    }

    pub(crate) fn entries(&self) -> Vec<(Value<'a>, Outcome<'a>)> {
        let value = |found: Found<'a>| found.map(|value| value.unwrap_or(Value::Null));
        self.found().into_iter().map(|(key, found)| (key, value(found))).collect()
    }

    /// Each key with what is found by it. A key that cannot be looked up, such as an optional, has its value all the same.
    pub(crate) fn found(&self) -> Vec<(Value<'a>, Found<'a>)> {
        match self {
            Self::Made(made) => {
                made.entries.iter().map(|(key, value)| (key.clone(), Ok(Some(value.clone())))).collect()
            }
            Self::Json(..) => {
                let found = |key: Value<'a>| {
                    let found = self.find(&key);
                    (key, found)
                };
                self.keys().into_iter().map(found).collect()
            }
        }
    }

    pub(crate) fn first(&self) -> Option<(Value<'a>, Outcome<'a>)> {
        let key = self.keys().into_iter().next()?;
        let value = self.find(&key).map(|value| value.unwrap_or(Value::Null));
        Some((key, value))
    }
}

fn is_object(schema: &Schema) -> bool {
    matches!(&schema.shape, Shape::Object(object) if !object.properties.is_empty())
}

/// The schema of a property.
pub(crate) fn property_schema<'a>(schema: &'a Schema, property: &str) -> Option<&'a Schema> {
    match &schema.shape {
        Shape::Any => Some(schema),
        Shape::Map(values) => Some(values),
        Shape::Object(object) => object.properties.get(property).map(|schema| &**schema),
        _ => None,
    }
}

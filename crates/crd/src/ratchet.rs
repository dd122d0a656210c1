//! What of an object is the same as before: such parts are not validated again.
//!
//! Old and new values belong together by field, and by key in lists of list type `map`; items of other lists do not.

use std::fmt::Write as _;

use rolewright_core::quote::Quoted;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::go::{self, Data, Num};
use crate::schema::{ListType, Schema, Type};

/// Whether a value is the same as before. Objects with fields that no schema describes never are.
pub(crate) fn same(schema: &Schema, new: Data<'_>, old: Data<'_>) -> bool {
    match (new, old) {
        (Data::List(new), Data::List(old_items)) => {
            if new.len() != old_items.len() {
                return false;
            }
            let Some(old_list) = MapList::of(schema, old) else { return all_equal(new, old_items) };
            let Some(below) = schema.items() else { return new.is_empty() };
            new.iter().all(|item| old_list.get(item).is_some_and(|old| same(below, item.into(), old.into())))
        }
        (Data::Object(new), Data::Object(old)) => {
            new.len() == old.len()
                && new.iter().all(|(name, value)| match (schema.field(name), old.get(name)) {
                    (Some(below), Some(old)) => same(below, value.into(), old.into()),
                    _ => false,
                })
        }
        (new, old) => go::equal_data(new, old),
    }
}

fn all_equal(new: &[Value], old: &[Value]) -> bool {
    new.iter().zip(old).all(|(new, old)| go::equal(new, old))
}

/// The fields of an object that the schema has properties for.
pub(crate) fn known_fields<'a>(
    schema: &'a Schema,
    object: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a str, &'a Schema, &'a Value)> {
    schema.properties().iter().filter_map(|(name, below)| Some((name.as_str(), below, object.get(name.as_str())?)))
}

/// The items of a list by their keys.
#[derive(Debug)]
pub(crate) struct MapList<'a> {
    keys: &'a [SmolStr],
    items: FxHashMap<String, &'a Map<String, Value>>,
}

impl<'a> MapList<'a> {
    /// None if the old value is no list, or its items are not told apart by keys.
    pub(crate) fn of(schema: &'a Schema, old: Data<'a>) -> Option<Self> {
        let Data::List(old) = old else { return None };
        if schema.list_type() != Some(ListType::Map) {
            return None;
        }
        let keys = schema.map_keys();
        let mut items = FxHashMap::default();
        if schema.kind() == Some(Type::Array) && !keys.is_empty() {
            for item in old {
                if let Value::Object(item) = item
                    && let Some(key) = key_of(keys, item)
                {
                    items.entry(key).or_insert(item);
                }
            }
        }
        Some(Self { keys, items })
    }

    /// The old item with the key of a new one.
    pub(crate) fn get(&self, item: &Value) -> Option<&'a Map<String, Value>> {
        let Value::Object(item) = item else { return None };
        self.items.get(&key_of(self.keys, item)?).copied()
    }
}

/// None if a key is missing or no scalar.
fn key_of(keys: &[SmolStr], item: &Map<String, Value>) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        match Data::from(item.get(key.as_str())?) {
            Data::Bool(on) => write!(text, "\0{on}"),
            Data::Number(Num::Int(int)) => write!(text, "\0{int}"),
            // WHY: Go tells floats of one key apart by value, of several by six digits after the point.
            Data::Number(Num::Float(float)) if keys.len() == 1 => write!(text, "\0{float:e}"),
            Data::Number(Num::Float(float)) => write!(text, "\0{float:.6}"),
            Data::Text(value) => write!(text, "\0{}", Quoted(value)),
            Data::Null | Data::List(_) | Data::Object(_) => return None,
        }
        .expect("a String takes all text");
    }
    Some(text)
}

/// A text that equal values share, and no others.
pub(crate) fn distinct(value: &Value) -> String {
    match Data::from(value) {
        Data::Number(Num::Float(float)) => format!("{float:e}"),
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(distinct).collect();
            format!("[{}]", items.join(","))
        }
        Data::Object(object) => {
            let fields = object.iter().map(|(name, value)| format!("{}:{}", Quoted(name), distinct(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        data => go::json(data),
    }
}

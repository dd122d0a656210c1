//! Items of lists by the value of their merge key, or by themselves if there is none.

use std::collections::HashMap;

use rolewright_crd::go::printed;
use serde_json::Value;

use crate::patch::{Fault, go};
use crate::strategy::Object;

/// What tells one item from another. Go cannot compare lists with lists, nor maps with maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Incomparable {
    List,
    Map,
}

fn incomparable(value: &Value) -> Option<Incomparable> {
    match value {
        Value::Array(_) => Some(Incomparable::List),
        Value::Object(_) => Some(Incomparable::Map),
        _ => None,
    }
}

/// Whether two values are the same to Go's `==`.
pub(super) fn same(a: &Value, b: &Value) -> Result<bool, Fault> {
    match (incomparable(a), incomparable(b)) {
        (Some(a), Some(b)) if a == b => Err(Fault::Panic),
        _ => Ok(a == b),
    }
}

/// The first position of each key.
#[derive(Debug, Default)]
pub(super) struct Keys {
    positions: HashMap<String, usize>,
    lists: bool,
    maps: bool,
    /// The first item that is no object, where all have to be.
    stray: Option<usize>,
    len: usize,
}

impl Keys {
    /// The keys of objects; objects without one are passed over.
    pub(super) fn of_objects<'a>(items: impl IntoIterator<Item = &'a Value>, merge_key: &str) -> Self {
        let mut keys = Self::default();
        for item in items {
            if !item.is_object() {
                keys.stray.get_or_insert(keys.len);
            }
            keys.push(item.get(merge_key));
        }
        keys
    }

    /// Scalars, each its own key.
    pub(super) fn of_scalars<'a>(items: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut keys = Self::default();
        for item in items {
            keys.push(Some(item));
        }
        keys
    }

    pub(super) fn push(&mut self, key: Option<&Value>) {
        match key.map(|key| (incomparable(key), key)) {
            None => {}
            Some((Some(Incomparable::List), _)) => self.lists = true,
            Some((Some(Incomparable::Map), _)) => self.maps = true,
            Some((None, key)) => {
                self.positions.entry(key.to_string()).or_insert(self.len);
            }
        }
        self.len += 1;
    }

    /// Where a key occurs first.
    pub(super) fn position(&self, key: &Value) -> Result<Option<usize>, Fault> {
        match incomparable(key) {
            Some(Incomparable::List) if self.lists => Err(Fault::Panic),
            Some(Incomparable::Map) if self.maps => Err(Fault::Panic),
            Some(_) => Ok(None),
            None => Ok(self.positions.get(&key.to_string()).copied()),
        }
    }

    /// The same among items that have to be objects, up to the one that is found.
    pub(super) fn position_of_object(&self, key: &Value) -> Result<Option<usize>, Fault> {
        let found = self.position(key)?;
        match self.stray {
            Some(stray) if found.is_none_or(|at| at > stray) => {
                Err(Fault::Failed(format!("value for key {stray} is not a map")))
            }
            _ => Ok(found),
        }
    }

    /// Whether Go could use all of them as keys of a map.
    pub(super) fn are_hashable(&self) -> bool {
        !self.lists && !self.maps
    }
}

/// The value of an object's merge key.
pub(super) fn key_of<'a>(object: &'a Object, merge_key: &str) -> Result<&'a Value, Fault> {
    object.get(merge_key).ok_or_else(|| {
        let shown = printed(object);
        Fault::Failed(format!("map: {shown} does not contain declared merge key: {merge_key}"))
    })
}

/// An item that has to be an object.
pub(super) fn as_object(item: &Value) -> Result<&Object, Fault> {
    item.as_object().ok_or_else(|| wrong_type("map[string]interface {}", item))
}

pub(super) fn wrong_type(wanted: &str, found: &Value) -> Fault {
    Fault::Failed(format!("expected a {wanted}, but received a {}", go::type_name(found)))
}

//! One stored object.

use bytes::Bytes;
use rolewright_core::Name;
use serde_json::Value;

use super::Collection;
use crate::strategy::Object;

/// Labels, sorted by key.
pub(crate) type Labels = Box<[(Name, Name)]>;

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectName {
    pub(crate) collection: Collection,
    /// Empty at cluster scope.
    pub(crate) namespace: Name,
    pub(crate) name: Name,
}

/// An object as it is stored: bytes, and the few things that are asked of it without reading them.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) namespace: Name,
    pub(crate) name: Name,
    pub(crate) uid: Name,
    pub(crate) revision: u64,
    pub(crate) labels: Labels,
    /// The uids of its owners.
    pub(crate) owners: Box<[Name]>,
    /// It has a deletionTimestamp.
    pub(crate) deleting: bool,
    /// The JSON object without `apiVersion` and `kind`, which lists leave out: `{"metadata":..` and so on.
    pub(crate) body: Bytes,
}

impl Entry {
    /// The object, read; without `apiVersion` and `kind`.
    pub(crate) fn object(&self) -> Object {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(object)) => object,
            _ => unreachable!("stored bodies are written by `Draft`, which writes objects"),
        }
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let at = self.labels.binary_search_by(|(held, _)| held.as_str().cmp(key)).ok()?;
        self.labels.get(at).map(|(_, value)| value.as_str())
    }
}

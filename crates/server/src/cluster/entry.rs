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
    /// Our own controllers have to look at it.
    pub(crate) collecting: bool,
    /// When it was written, in seconds since 1970.
    pub(crate) written: u32,
    /// Where in the body the digits of the revision are.
    pub(crate) digits_at: usize,
    /// The JSON object without `kind` and, unless it is of a custom kind, without `apiVersion`: lists leave both out.
    /// `{"metadata":..` and so on.
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

    /// The same object with another revision: how a watch shows what no longer matches.
    pub(crate) fn at_revision(&self, revision: u64) -> Self {
        let (head, rest) = self.body.split_at(self.digits_at.min(self.body.len()));
        let tail = rest.iter().position(|byte| *byte == b'"').and_then(|at| rest.get(at..)).unwrap_or_default();
        let body = [head, revision.to_string().as_bytes(), tail].concat();
        Self {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            revision,
            labels: self.labels.clone(),
            owners: self.owners.clone(),
            deleting: self.deleting,
            collecting: self.collecting,
            written: self.written,
            digits_at: self.digits_at,
            body: Bytes::from(body),
        }
    }

    /// An object that is only shown: a dry run, or the last look at something. It keeps the version that it names.
    pub(crate) fn shown(object: &Object, left_out: &[&str]) -> Self {
        let mut body = object.clone();
        for member in left_out {
            body.remove(*member);
        }
        let metadata = object.get("metadata");
        let text =
            |member: &str| metadata.and_then(|meta| meta.get(member)).and_then(Value::as_str).unwrap_or_default();
        Self {
            namespace: text("namespace").into(),
            name: text("name").into(),
            uid: text("uid").into(),
            revision: text("resourceVersion").parse().unwrap_or_default(),
            labels: Box::default(),
            owners: Box::default(),
            deleting: false,
            collecting: false,
            written: 0,
            digits_at: 0,
            body: Value::Object(body).to_string().into(),
        }
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let at = self.labels.binary_search_by(|(held, _)| held.as_str().cmp(key)).ok()?;
        self.labels.get(at).map(|(_, value)| value.as_str())
    }
}

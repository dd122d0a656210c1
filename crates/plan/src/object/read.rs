//! An object from its JSON.

use std::fmt;

use rolewright_core::Labels;
use serde::Deserialize;
use serde_json::Value;

use super::managed::{managed, only};
use super::{Condition, Live, Meta, Owner};
use crate::Name;
use crate::kind::{Kind, Reports};
use crate::vocabulary::{annotation, manager};

/// An object without the metadata that every stored object has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metadata cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Live {
    /// Reads an object. What is wrong with its content stays with it; without metadata there is no object.
    pub fn read(kind: &Kind, object: &Value) -> Result<Self, Unreadable> {
        let conditions = if kind.reports == Reports::Never { Vec::new() } else { Condition::read_all(object) };
        Ok(Self { meta: Meta::read(object)?, body: kind.read(object), conditions })
    }
}

impl Meta {
    /// Reads the metadata of an object.
    pub fn read(object: &Value) -> Result<Self, Unreadable> {
        let written = Metadata::deserialize(object.get("metadata").unwrap_or(&Value::Null))
            .map_err(|error| Unreadable(error.to_string()))?;
        if written.name.is_empty() {
            return Err(Unreadable("it has no name".to_owned()));
        }
        let mut annotations = written.annotations.unwrap_or_default();
        annotations.remove(annotation::LAST_APPLIED);
        let fields = object.pointer("/metadata/managedFields");
        Ok(Self {
            name: written.name,
            namespace: written.namespace,
            uid: written.uid,
            resource_version: written.resource_version.parse().unwrap_or(0),
            generation: written.generation,
            labels: written.labels.unwrap_or_default(),
            annotations,
            owners: written.owner_references.into_iter().flatten().map(Owner::from).collect(),
            finalizers: written.finalizers.unwrap_or_default(),
            deleting: written.deletion_timestamp.is_some(),
            ours: managed(fields, manager::ROLEWRIGHT, "Apply"),
            revived: only(fields, manager::AGGREGATION) || says_nothing(object),
            inherited: manager::UPSTREAM.iter().find_map(|name| managed(fields, name, "Update")).map(Box::new),
        })
    }
}

/// Whether an object is but a name: what is left when no rules at all are applied to a role that is gone, for who applies
/// nothing leaves no trace.
fn says_nothing(object: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let has = |path: &str| object.pointer(path).is_some_and(|value| !is_empty(value));
    let metadata = ["managedFields", "labels", "annotations", "ownerReferences", "finalizers"];
    let content = ["rules", "aggregationRule", "roleRef", "subjects", "spec", "status"];
    !metadata.iter().any(|field| has(&format!("/metadata/{field}")))
        && !content.iter().any(|field| has(&format!("/{field}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Metadata {
    name: Name,
    namespace: Name,
    uid: Name,
    resource_version: Name,
    generation: i64,
    labels: Option<Labels>,
    annotations: Option<Labels>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<Name>>,
    deletion_timestamp: Option<Name>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference {
    api_version: Name,
    kind: Name,
    name: Name,
    uid: Name,
    controller: Option<bool>,
}

impl From<OwnerReference> for Owner {
    fn from(written: OwnerReference) -> Self {
        let OwnerReference { api_version, kind, name, uid, controller } = written;
        Self { api_version, kind, name, uid, controller: controller.unwrap_or(false) }
    }
}

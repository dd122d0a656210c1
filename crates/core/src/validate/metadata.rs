//! Metadata: the name, the namespace, the labels.

use super::error::FieldError;
use super::names;
use super::path::Path;
use crate::{Binding, BindingKey, Labels, Role, RoleKey};

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// In the cluster: ClusterRole, ClusterRoleBinding.
    Cluster,
    /// In a namespace: Role, RoleBinding.
    Namespaced,
}

/// As much of an object's metadata as core knows.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    /// The object's name.
    pub name: &'a str,
    /// Its namespace, or `""`.
    pub namespace: &'a str,
    /// Its labels.
    pub labels: &'a Labels,
}

static NO_LABELS: Labels = Labels::new();

impl<'a> From<&'a Role> for Metadata<'a> {
    fn from(role: &'a Role) -> Self {
        Self { name: role.key.name(), namespace: role.key.namespace(), labels: &role.labels }
    }
}

impl<'a> From<&'a Binding> for Metadata<'a> {
    fn from(binding: &'a Binding) -> Self {
        Self { name: binding.key.name(), namespace: binding.key.namespace(), labels: &NO_LABELS }
    }
}

impl From<&RoleKey> for Scope {
    fn from(key: &RoleKey) -> Self {
        match key {
            RoleKey::Cluster(_) => Self::Cluster,
            RoleKey::Namespaced { .. } => Self::Namespaced,
        }
    }
}

impl From<&BindingKey> for Scope {
    fn from(key: &BindingKey) -> Self {
        match key {
            BindingKey::Cluster(_) => Self::Cluster,
            BindingKey::Namespaced { .. } => Self::Namespaced,
        }
    }
}

/// Faults of the metadata by itself.
///
/// No client of an API server sees the error about a namespace on a cluster's kind: the server drops that namespace
/// before it validates.
pub fn metadata(meta: Metadata<'_>, scope: Scope) -> Vec<FieldError> {
    let at = Path::field("metadata");
    let mut errors = Vec::new();
    if meta.name.is_empty() {
        errors.push(FieldError::required(at.child("name"), "name or generateName is required"));
    } else {
        errors.extend(invalid(at.child("name"), meta.name, names::path_segment(meta.name)));
    }
    match (scope, meta.namespace) {
        (Scope::Namespaced, "") => errors.push(FieldError::required(at.child("namespace"), "")),
        (Scope::Namespaced, namespace) => {
            errors.extend(invalid(at.child("namespace"), namespace, names::dns_label(namespace)));
        }
        (Scope::Cluster, "") => {}
        (Scope::Cluster, _) => errors.push(FieldError::forbidden(at.child("namespace"), "not allowed on this type")),
    }
    errors.extend(labels(meta.labels, at.child("labels")));
    errors
}

/// Faults of the metadata as a change of `old`.
pub fn metadata_update(meta: Metadata<'_>, old: Metadata<'_>) -> Vec<FieldError> {
    let at = Path::field("metadata");
    let mut errors = Vec::new();
    for (field, new, old) in [("name", meta.name, old.name), ("namespace", meta.namespace, old.namespace)] {
        if new != old {
            errors.push(FieldError::invalid(at.child(field), new, "field is immutable"));
        }
    }
    errors.extend(labels(meta.labels, at.child("labels")));
    errors
}

/// Faults of labels, in the order of their keys; Kubernetes reports them in no order.
///
/// All errors point at the whole map and differ only in the key or value that they show.
pub fn labels(labels: &Labels, at: Path<'_>) -> Vec<FieldError> {
    labels.iter().flat_map(|(key, value)| label(key, value, at)).collect()
}

/// Faults of one label in the map at `at`.
pub fn label<'a>(key: &'a str, value: &'a str, at: Path<'a>) -> impl Iterator<Item = FieldError> + use<'a> {
    invalid(at, key, names::label_key(key)).chain(invalid(at, value, names::label_value(value)))
}

/// One error for each fault of the text at `at`.
pub fn invalid<'a>(at: Path<'a>, text: &'a str, faults: Vec<String>) -> impl Iterator<Item = FieldError> + use<'a> {
    faults.into_iter().map(move |fault| FieldError::invalid(at, text, fault))
}

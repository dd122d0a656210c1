//! Kubernetes' JSON for roles and bindings, both ways.

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Binding, BindingKey, Labels, Name, Role, RoleKey, RoleRef, Rule, Subject, World};
use serde::{Deserialize, Serialize};

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// A world as lists of Kubernetes objects.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Objects {
    /// ClusterRoles.
    pub cluster_roles: Vec<RoleObject>,
    /// Roles.
    pub roles: Vec<RoleObject>,
    /// ClusterRoleBindings.
    pub cluster_role_bindings: Vec<BindingObject>,
    /// RoleBindings.
    pub role_bindings: Vec<BindingObject>,
}

/// A Role or ClusterRole object.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleObject {
    api_version: Name,
    kind: Name,
    metadata: Metadata,
    rules: Option<Vec<Rule>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregation_rule: Option<AggregationRule>,
}

/// A RoleBinding or ClusterRoleBinding object.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingObject {
    api_version: Name,
    kind: Name,
    metadata: Metadata,
    subjects: Option<Vec<Subject>>,
    role_ref: RoleRef,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Metadata {
    name: Name,
    #[serde(skip_serializing_if = "Name::is_empty")]
    namespace: Name,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    labels: Labels,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AggregationRule {
    cluster_role_selectors: Option<Vec<LabelSelector>>,
}

impl From<&Role> for RoleObject {
    fn from(role: &Role) -> Self {
        Self {
            api_version: API_VERSION.into(),
            kind: role.key.kind().into(),
            metadata: Metadata {
                name: role.key.name().clone(),
                namespace: role.key.namespace().into(),
                labels: role.labels.clone(),
            },
            rules: Some(role.rules.clone()),
            aggregation_rule: role
                .aggregation
                .clone()
                .map(|selectors| AggregationRule { cluster_role_selectors: Some(selectors) }),
        }
    }
}

impl From<RoleObject> for Role {
    fn from(object: RoleObject) -> Self {
        let Metadata { name, namespace, labels } = object.metadata;
        Self {
            key: if object.kind == "Role" { RoleKey::namespaced(namespace, name) } else { RoleKey::cluster(name) },
            labels,
            rules: object.rules.unwrap_or_default(),
            aggregation: object.aggregation_rule.map(|rule| rule.cluster_role_selectors.unwrap_or_default()),
        }
    }
}

impl From<&Binding> for BindingObject {
    fn from(binding: &Binding) -> Self {
        Self {
            api_version: API_VERSION.into(),
            kind: binding.key.kind().into(),
            metadata: Metadata {
                name: binding.key.name().clone(),
                namespace: binding.key.namespace().into(),
                labels: Labels::new(),
            },
            subjects: Some(binding.subjects.clone()),
            role_ref: binding.role_ref.clone(),
        }
    }
}

impl From<BindingObject> for Binding {
    fn from(object: BindingObject) -> Self {
        let Metadata { name, namespace, .. } = object.metadata;
        let key = if object.kind == "RoleBinding" {
            BindingKey::namespaced(namespace, name)
        } else {
            BindingKey::cluster(name)
        };
        Self { key, role_ref: object.role_ref, subjects: object.subjects.unwrap_or_default() }
    }
}

impl From<&World> for Objects {
    fn from(world: &World) -> Self {
        let (cluster_roles, roles) = world.roles.values().partition::<Vec<_>, _>(|r| r.key.namespace().is_empty());
        let (cluster_bindings, bindings) =
            world.bindings.values().partition::<Vec<_>, _>(|b| b.key.namespace().is_empty());
        Self {
            cluster_roles: cluster_roles.into_iter().map(Into::into).collect(),
            roles: roles.into_iter().map(Into::into).collect(),
            cluster_role_bindings: cluster_bindings.into_iter().map(Into::into).collect(),
            role_bindings: bindings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Objects> for World {
    fn from(objects: Objects) -> Self {
        Self::new(
            objects.cluster_roles.into_iter().chain(objects.roles).map(Into::into),
            objects.cluster_role_bindings.into_iter().chain(objects.role_bindings).map(Into::into),
        )
    }
}

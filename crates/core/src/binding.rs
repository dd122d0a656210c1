//! Bindings: who gets which role, and where.

use crate::{BindingKey, Name, Principal, RoleKey, Subject};

/// The role a binding points at, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default))]
pub struct RoleRef {
    /// Always the RBAC group in valid data. Never part of a decision.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub api_group: Name,
    /// `ClusterRole` or `Role`; any other kind grants nothing.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub kind: Name,
    /// The role's name.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::null::or_default"))]
    pub name: Name,
}

impl RoleRef {
    /// A reference to a ClusterRole.
    pub fn cluster_role(name: impl Into<Name>) -> Self {
        Self { api_group: crate::RBAC_GROUP.into(), kind: "ClusterRole".into(), name: name.into() }
    }

    /// A reference to a Role in the binding's own namespace.
    pub fn role(name: impl Into<Name>) -> Self {
        Self { kind: "Role".into(), ..Self::cluster_role(name) }
    }

    /// The role meant when the binding lives in `namespace`; `None` for an unknown kind.
    pub fn resolve(&self, namespace: &str) -> Option<RoleKey> {
        match self.kind.as_str() {
            "ClusterRole" => Some(RoleKey::Cluster(self.name.clone())),
            "Role" => Some(RoleKey::namespaced(namespace, self.name.clone())),
            _ => None,
        }
    }
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Which binding.
    pub key: BindingKey,
    /// What it grants.
    pub role_ref: RoleRef,
    /// To whom.
    pub subjects: Vec<Subject>,
}

impl Binding {
    /// A ClusterRoleBinding.
    pub fn cluster(name: impl Into<Name>, role_ref: RoleRef, subjects: impl Into<Vec<Subject>>) -> Self {
        Self { key: BindingKey::cluster(name), role_ref, subjects: subjects.into() }
    }

    /// A RoleBinding.
    pub fn namespaced(
        namespace: impl Into<Name>,
        name: impl Into<Name>,
        role_ref: RoleRef,
        subjects: impl Into<Vec<Subject>>,
    ) -> Self {
        Self { key: BindingKey::namespaced(namespace, name), role_ref, subjects: subjects.into() }
    }

    /// Whom this binding reaches; subjects that match nobody are left out.
    pub fn principals(&self) -> impl Iterator<Item = Principal> {
        self.subjects.iter().filter_map(|subject| subject.principal(self.key.namespace()))
    }

    /// The role this binding grants; `None` for an unknown kind.
    pub fn role(&self) -> Option<RoleKey> {
        self.role_ref.resolve(self.key.namespace())
    }
}

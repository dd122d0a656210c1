//! Entries of `roleRefs`: a role, and where it counts.

use std::fmt;

use rolewright_core::RoleRef;

use super::kinds::WrittenRef;
use super::words;
use crate::Name;
use crate::digest::hex;
use crate::object::ObjectRef;
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};

/// A role, and where it counts. Two that say the same are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    /// A ClusterRole in the whole cluster.
    Cluster(Name),
    /// A ClusterRole in one namespace.
    ClusterIn(Name, Name),
    /// A Role of one namespace.
    Role(Name, Name),
}

impl Entry {
    /// The entry of a RootSync, or what is wrong with it and how to mend it.
    pub(super) fn of_root(written: &WrittenRef) -> Result<Self, String> {
        let WrittenRef { kind, name, namespace } = written;
        if name.is_empty() {
            return Err("`name` is empty; name the role".to_owned());
        }
        match (kind.as_str(), namespace.is_empty()) {
            ("ClusterRole", true) => Ok(Self::Cluster(name.clone())),
            ("ClusterRole", false) => Ok(Self::ClusterIn(namespace.clone(), name.clone())),
            ("Role", false) => Ok(Self::Role(namespace.clone(), name.clone())),
            ("Role", true) => Err(format!("Role `{name}` has no `namespace`; name the one that it is in")),
            _ => Err(format!("`kind` is `{kind}`; say `Role` or `ClusterRole`")),
        }
    }

    /// The entry of a RepoSync, which counts in its own namespace and nowhere else.
    pub(super) fn of_repo(written: &WrittenRef, home: &Name) -> Result<Self, String> {
        let namespace = if written.namespace.is_empty() { home } else { &written.namespace };
        if namespace != home {
            return Err(format!("`namespace` is `{namespace}`; a RepoSync gets roles only in its own, `{home}`"));
        }
        Self::of_root(&WrittenRef { namespace: home.clone(), ..written.clone() })
    }

    /// The namespace in which it counts; `None` for the whole cluster.
    pub(super) fn namespace(&self) -> Option<&Name> {
        match self {
            Self::Cluster(_) => None,
            Self::ClusterIn(namespace, _) | Self::Role(namespace, _) => Some(namespace),
        }
    }

    /// The name of the role.
    pub(super) fn role_name(&self) -> &Name {
        match self {
            Self::Cluster(name) | Self::ClusterIn(_, name) | Self::Role(_, name) => name,
        }
    }

    /// The role.
    pub(super) fn role(&self) -> ObjectRef {
        match self {
            Self::Cluster(name) | Self::ClusterIn(_, name) => ObjectRef::cluster(&CLUSTER_ROLE, name.clone()),
            Self::Role(namespace, name) => ObjectRef::namespaced(&ROLE, namespace.clone(), name.clone()),
        }
    }

    /// The role as a binding names it.
    pub(super) fn role_ref(&self) -> RoleRef {
        match self {
            Self::Cluster(name) | Self::ClusterIn(_, name) => RoleRef::cluster_role(name.clone()),
            Self::Role(_, name) => RoleRef::role(name.clone()),
        }
    }

    /// The binding that gives it to an account.
    pub(super) fn binding(&self, account: &str) -> ObjectRef {
        let name = words::named(account, &hex(&self.to_string(), 5));
        match self.namespace() {
            None => ObjectRef::cluster(&CLUSTER_ROLE_BINDING, name),
            Some(namespace) => ObjectRef::namespaced(&ROLE_BINDING, namespace.clone(), name),
        }
    }
}

/// `ClusterRole/view`, `ClusterRole/view in shop`, `Role/shop/ci`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(name) => write!(f, "ClusterRole/{name}"),
            Self::ClusterIn(namespace, name) => write!(f, "ClusterRole/{name} in {namespace}"),
            Self::Role(namespace, name) => write!(f, "Role/{namespace}/{name}"),
        }
    }
}

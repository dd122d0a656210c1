//! How the module works: where syncs are, and which roles may be given.

use crate::Name;

/// The role that a RootSync without roles of its own gets, unless somebody says otherwise.
pub(super) const CLUSTER_ADMIN: &str = "cluster-admin";

/// How the module works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The namespace of RootSyncs and of all reconcilers.
    pub namespace: Name,
    /// The ClusterRole of a RootSync that names no roles; `None` leaves it with what every reconciler has.
    pub default_role: Option<Name>,
    /// The roles that may be given; `None` lets RootSyncs name any, and RepoSyncs none.
    pub bindable: Option<Vec<Name>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            namespace: Name::new("config-management-system"),
            default_role: Some(Name::new(CLUSTER_ADMIN)),
            bindable: None,
        }
    }
}

impl Settings {
    /// Whether a RootSync may get a role of this name. The default is the operator's own choice.
    pub(super) fn may_bind(&self, role: &Name) -> bool {
        self.bindable.as_ref().is_none_or(|names| names.contains(role)) || self.default_role.as_ref() == Some(role)
    }

    /// Whether a RepoSync may get a role of this name: whoever writes one need not be trusted with more than that.
    pub(super) fn may_delegate(&self, role: &Name) -> bool {
        self.bindable.as_ref().is_some_and(|names| names.contains(role))
    }
}

//! How the module works: what it keeps, for whom, and whom it trusts.

use crate::Name;

/// What of Crossplane's permissions we keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Manage {
    /// What software needs: the role of Crossplane itself and those of providers.
    ServiceAccounts,
    /// The same, and what people need in the whole cluster: admin, edit, view, browse.
    Basic,
    /// The same, and what people need in a namespace.
    #[default]
    All,
}

/// Who gathers the rules of the roles that people are bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserRoles {
    /// Kubernetes, by labels.
    #[default]
    Aggregated,
    /// We: the roles hold their rules themselves.
    Materialized,
}

/// How the members of a provider family reach each other's resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FamilyRoles {
    /// Each member's roles hold the union.
    #[default]
    Replicated,
    /// Each member's roles hold its own, and one role of the family holds the union.
    Shared,
}

/// What the boundary role limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// What a provider asks for beyond the rules that follow from its own resources.
    #[default]
    Requests,
    /// Everything that a provider's account gets.
    All,
}

/// What becomes of people's access to an inactive revision's resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InactiveRevisions {
    /// It moves to the active revision.
    #[default]
    Follow,
    /// It stays.
    Keep,
}

/// How the module works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is kept.
    pub manage: Manage,
    /// Who gathers people's rules.
    pub user_roles: UserRoles,
    /// How families share.
    pub family_roles: FamilyRoles,
    /// Organisations that count as one, each group for itself: `xpkg.example.org/acme`.
    pub trusted: Vec<Vec<Name>>,
    /// The ClusterRole that limits what providers get.
    pub boundary_role: Option<Name>,
    /// What it limits.
    pub boundary: Boundary,
    /// The namespace of Crossplane itself.
    pub namespace: Name,
    /// The namespaces in which providers run; empty for that of Crossplane.
    pub provider_namespaces: Vec<Name>,
    /// What becomes of inactive revisions.
    pub inactive: InactiveRevisions,
    /// Whether people get no secrets of the whole cluster, and editors install no packages.
    pub hardened: bool,
    /// Whether the group `crossplane:masters` administers Crossplane.
    pub bind_masters: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            manage: Manage::All,
            user_roles: UserRoles::Aggregated,
            family_roles: FamilyRoles::Replicated,
            trusted: Vec::new(),
            boundary_role: None,
            boundary: Boundary::Requests,
            namespace: Name::new("crossplane-system"),
            provider_namespaces: Vec::new(),
            inactive: InactiveRevisions::Follow,
            hardened: false,
            bind_masters: true,
        }
    }
}

impl Settings {
    /// Whether providers run in a namespace.
    pub(super) fn runs_providers(&self, namespace: &str) -> bool {
        if self.provider_namespaces.is_empty() {
            self.namespace == namespace
        } else {
            self.provider_namespaces.iter().any(|name| name == namespace)
        }
    }
}

//! Roles: named lists of rules, some of them computed by aggregation.

use crate::selector::LabelSelector;
use crate::{Labels, Name, RoleKey, Rule};

/// A Role or ClusterRole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Which role.
    pub key: RoleKey,
    /// Its labels, by which aggregated roles find it.
    pub labels: Labels,
    /// Its rules as stored. On an aggregated role these are output: whatever is written here is replaced.
    pub rules: Vec<Rule>,
    /// Selectors of the ClusterRoles to unite, when the role is aggregated. `Some` of an empty list is invalid in
    /// Kubernetes and selects nothing here.
    pub aggregation: Option<Vec<LabelSelector>>,
}

impl Role {
    /// A ClusterRole with its own rules.
    pub fn cluster(name: impl Into<Name>, rules: impl Into<Vec<Rule>>) -> Self {
        Self { key: RoleKey::cluster(name), labels: Labels::new(), rules: rules.into(), aggregation: None }
    }

    /// A ClusterRole that unites the ClusterRoles which any of `selectors` matches.
    pub fn aggregated(name: impl Into<Name>, selectors: impl Into<Vec<LabelSelector>>) -> Self {
        Self { aggregation: Some(selectors.into()), ..Self::cluster(name, []) }
    }

    /// A Role in a namespace.
    pub fn namespaced(namespace: impl Into<Name>, name: impl Into<Name>, rules: impl Into<Vec<Rule>>) -> Self {
        Self { key: RoleKey::namespaced(namespace, name), ..Self::cluster("", rules) }
    }

    /// The same role with one more label.
    pub fn label(mut self, key: impl Into<Name>, value: impl Into<Name>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }
}

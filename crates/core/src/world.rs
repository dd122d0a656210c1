//! A set of roles and bindings: all that RBAC decides by.

use std::collections::BTreeMap;

use crate::aggregate::Aggregation;
use crate::{Binding, BindingKey, Role, RoleKey};

/// Roles and bindings by key, in one order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// Every Role and ClusterRole.
    pub roles: BTreeMap<RoleKey, Role>,
    /// Every RoleBinding and ClusterRoleBinding.
    pub bindings: BTreeMap<BindingKey, Binding>,
}

impl World {
    /// Gathers roles and bindings; a later one replaces an earlier one with the same key.
    pub fn new(roles: impl IntoIterator<Item = Role>, bindings: impl IntoIterator<Item = Binding>) -> Self {
        Self {
            roles: roles.into_iter().map(|role| (role.key.clone(), role)).collect(),
            bindings: bindings.into_iter().map(|binding| (binding.key.clone(), binding)).collect(),
        }
    }
}

impl World {
    /// The same world with the rules of aggregated roles computed: what a cluster settles on.
    pub fn aggregated(mut self) -> Self {
        let aggregation = Aggregation::from_roles(self.roles.values());
        for name in aggregation.aggregated() {
            let rules = aggregation.rules(name).map(|rules| rules.cloned().collect());
            if let (Some(role), Some(rules)) = (self.roles.get_mut(&RoleKey::Cluster(name.clone())), rules) {
                role.rules = rules;
            }
        }
        self
    }

    /// Both worlds together; where both have an object, that of `over` counts.
    pub fn with(mut self, over: Self) -> Self {
        self.roles.extend(over.roles);
        self.bindings.extend(over.bindings);
        self
    }
}

//! What everybody may do: the rights of each principal in each scope, taken together.

use std::collections::BTreeMap;

use crate::subject::Principal;
use crate::{Name, RuleSet, World};

/// Where rights hold. The whole cluster sorts first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everywhere: all namespaces, cluster-scoped kinds, URLs.
    Cluster,
    /// In one namespace.
    Namespace(Name),
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cluster => f.write_str("cluster"),
            Self::Namespace(name) => f.write_str(name),
        }
    }
}

/// The rights that bindings give, by principal and scope. Rights of a namespace come on top of the cluster's.
#[derive(Clone, Debug, Default)]
pub struct Access {
    pub(crate) of: BTreeMap<Principal, BTreeMap<Scope, RuleSet>>,
}

impl Access {
    /// All rights in `world`, from the rules as its roles hold them.
    pub fn of(world: &World) -> Self {
        Self::of_some(world, |_| true)
    }

    /// The rights of those whom `wanted` names.
    pub(crate) fn of_some(world: &World, wanted: impl Fn(&Principal) -> bool) -> Self {
        let mut access = Self::default();
        for binding in world.bindings.values() {
            let principals: Vec<Principal> = binding.principals().filter(&wanted).collect();
            if principals.is_empty() {
                continue;
            }
            let Some(role) = binding.role().and_then(|key| world.roles.get(&key)) else { continue };
            let scope = match binding.key.namespace() {
                "" => Scope::Cluster,
                namespace => Scope::Namespace(namespace.into()),
            };
            for principal in principals {
                let rights = access.of.entry(principal).or_default().entry(scope.clone()).or_default();
                for rule in &role.rules {
                    match scope {
                        Scope::Cluster => rights.insert(rule),
                        // URLs have no effect through a RoleBinding.
                        Scope::Namespace(_) => rights.insert_resources(rule),
                    }
                }
            }
        }
        access
    }

    /// Principals and scopes with their rights, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Principal, &Scope, &RuleSet)> {
        self.of.iter().flat_map(|(who, scopes)| scopes.iter().map(move |(scope, rights)| (who, scope, rights)))
    }

    /// What a principal holds in a scope, the cluster's rights included.
    pub fn effective(&self, who: &Principal, scope: &Scope) -> RuleSet {
        let mut rights = self.direct(who, &Scope::Cluster).cloned().unwrap_or_default();
        if *scope != Scope::Cluster
            && let Some(local) = self.direct(who, scope)
        {
            rights.extend(local);
        }
        rights
    }

    /// Whether everybody may do the same under both.
    pub fn equivalent(&self, other: &Self) -> bool {
        let same = |(who, scope, _): (&Principal, &Scope, &RuleSet)| {
            self.effective(who, scope).equivalent(&other.effective(who, scope))
        };
        self.iter().all(same) && other.iter().all(same)
    }

    pub(crate) fn direct(&self, who: &Principal, scope: &Scope) -> Option<&RuleSet> {
        self.of.get(who)?.get(scope)
    }
}

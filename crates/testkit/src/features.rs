//! What occurred in a run, so that a suite can show that it tested what it claims to test.

use std::collections::BTreeMap;
use std::fmt;

use rolewright_core::authorize::Decision;
use rolewright_core::{Binding, Role, World};

use crate::ask::Ask;

/// How often each feature occurred.
#[derive(Clone, Debug, Default)]
pub struct Features(BTreeMap<&'static str, u64>);

impl Features {
    /// Counts one occurrence if `present`.
    pub fn count(&mut self, feature: &'static str, present: bool) {
        *self.0.entry(feature).or_default() += u64::from(present);
    }

    /// How often a feature occurred.
    pub fn get(&self, feature: &str) -> u64 {
        self.0.get(feature).copied().unwrap_or_default()
    }

    /// Features that never occurred.
    pub fn absent(&self) -> Vec<&'static str> {
        self.0.iter().filter(|(_, count)| **count == 0).map(|(name, _)| *name).collect()
    }

    /// Counts what a world contains.
    pub fn count_world(&mut self, world: &World) {
        let roles = || world.roles.values();
        let rules = || roles().flat_map(|role| &role.rules);
        let resources = |text: &str| rules().any(|rule| rule.resources.iter().any(|r| r == text));
        self.count("worlds", true);
        self.count("world: verb *", rules().any(|r| r.verbs.iter().any(|v| v == "*")));
        self.count("world: group *", rules().any(|r| r.api_groups.iter().any(|g| g == "*")));
        self.count("world: resource *", resources("*"));
        self.count("world: */scale", resources("*/scale"));
        self.count("world: inert pods/*", resources("pods/*"));
        self.count("world: resourceNames", rules().any(|r| !r.resource_names.is_empty()));
        self.count("world: URL prefix", rules().any(|r| r.non_resource_urls.iter().any(|u| u.ends_with('*'))));
        self.count("world: mixed rule", rules().any(|r| !r.resources.is_empty() && !r.non_resource_urls.is_empty()));
        let dangles = |b: &Binding| b.role().is_some_and(|key| !world.roles.contains_key(&key));
        self.count("world: dangling roleRef", world.bindings.values().any(dangles));
        self.count("world: unknown roleRef kind", world.bindings.values().any(|b| b.role().is_none()));
        let local_account =
            |b: &Binding| b.subjects.iter().any(|s| s.kind == "ServiceAccount" && s.namespace.is_empty());
        self.count("world: account without namespace", world.bindings.values().any(local_account));
        let same_name = |role: &Role| roles().filter(|other| other.key.name() == role.key.name()).count() > 1;
        self.count("world: role names collide", roles().any(same_name));
    }

    /// Counts what a question was about and how it was decided.
    pub fn count_decision(&mut self, ask: &Ask, decision: &Decision) {
        let through = |kind: &str, role: &str| {
            decision.reasons.iter().any(|reason| reason.binding.kind() == kind && reason.role.kind() == role)
        };
        let subject = |kind: &str| decision.reasons.iter().any(|reason| reason.subject.kind == kind);
        self.count("decisions", true);
        self.count("allowed", decision.allowed);
        self.count("allowed: several reasons", decision.reasons.len() > 1);
        self.count("allowed: superuser", decision.superuser);
        self.count("allowed: ClusterRoleBinding", through("ClusterRoleBinding", "ClusterRole"));
        self.count("allowed: RoleBinding to ClusterRole", through("RoleBinding", "ClusterRole"));
        self.count("allowed: RoleBinding to Role", through("RoleBinding", "Role"));
        self.count("allowed: User subject", subject("User"));
        self.count("allowed: Group subject", subject("Group"));
        self.count("allowed: ServiceAccount subject", subject("ServiceAccount"));
        let named = decision.reasons.iter().any(|reason| !reason.rule.resource_names.is_empty());
        self.count("allowed: by name", named);
        self.count("allowed: URL", decision.allowed && ask.path.is_some());
        self.count("allowed: subresource", decision.allowed && !ask.subresource.is_empty());
        self.count("allowed: cluster scope", decision.allowed && ask.namespace.is_empty() && ask.path.is_none());
        self.count("denied: near miss", !decision.near_misses.is_empty());
        self.count("denied: unresolved role", !decision.allowed && !decision.unresolved.is_empty());
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (feature, count) in &self.0 {
            writeln!(f, "{feature:<40} {count:>9}")?;
        }
        Ok(())
    }
}

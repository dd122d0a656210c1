//! Roles whose rules we gather ourselves, with the same labels as Kubernetes would, so that its aggregation controller
//! does not pay its quadratic cost for them.

use std::collections::BTreeMap;

use rolewright_core::aggregate::fit::{Fit, Fitter};
use rolewright_core::aggregate::{Aggregation, Event};
use rolewright_core::selector::LabelSelector;
use rolewright_core::{Labels, Role, RoleKey, Rule};

use crate::Name;
use crate::aggregation::reason::reason;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::Content;
use crate::object::{Live, ObjectRef};
use crate::rbac::CLUSTER_ROLE;
use crate::snapshot::{Change, Snapshot};

/// The roles that are gathered, and what there is to gather.
#[derive(Debug, Default)]
pub(super) struct Materialized {
    aggregation: Aggregation,
    fitter: Fitter,
    targets: BTreeMap<Name, Target>,
}

/// What a role gathers, and who gathers it in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) selectors: Vec<LabelSelector>,
    pub(super) labels: Labels,
}

impl Materialized {
    /// Takes in changed ClusterRoles; returns the gathered roles that this concerns.
    pub(super) fn feed(&mut self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Name> {
        let changed = changes.iter().filter(|change| *change.object.kind == CLUSTER_ROLE);
        let names: Vec<&Name> = changed.map(|change| &change.object.name).collect();
        self.update(snapshot, &names)
    }

    /// Sets what a role gathers, or that it no longer does; returns the gathered roles that this concerns.
    pub(super) fn target(&mut self, snapshot: &Snapshot, name: &Name, target: Option<Target>) -> Vec<Name> {
        if self.targets.get(name) == target.as_ref() {
            return Vec::new();
        }
        match target {
            Some(target) => drop(self.targets.insert(name.clone(), target)),
            None => drop(self.targets.remove(name)),
        }
        let mut concerned = self.update(snapshot, &[name]);
        concerned.push(name.clone());
        concerned
    }

    fn update(&mut self, snapshot: &Snapshot, names: &[&Name]) -> Vec<Name> {
        let roles: Vec<(&Name, Option<Role>)> = names.iter().map(|name| (*name, self.role(snapshot, name))).collect();
        let events = roles.iter().map(|(name, role)| match role {
            Some(role) => Event::Set(role),
            None => Event::Remove(name),
        });
        let mut concerned = self.aggregation.update(events);
        concerned.retain(|name| self.targets.contains_key(name));
        concerned
    }

    /// A role as it counts: those that are gathered count as if Kubernetes gathered them.
    fn role(&self, snapshot: &Snapshot, name: &Name) -> Option<Role> {
        let live = snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, name.clone())).and_then(Live::role);
        let Some(target) = self.targets.get(name) else { return live };
        Some(Role {
            key: RoleKey::cluster(name.clone()),
            labels: target.labels.clone(),
            rules: live.map(|role| role.rules).unwrap_or_default(),
            aggregation: Some(target.selectors.clone()),
        })
    }

    /// What a gathered role holds, and what of that is new, if it held something before; what does not fit into it is a
    /// problem.
    pub(super) fn content(&self, name: &Name, problems: &mut Vec<Diagnostic>) -> (Content, Option<String>) {
        let union: Vec<Rule> = self.aggregation.rules(name).into_iter().flatten().cloned().collect();
        let stored: Vec<Rule> = self.aggregation.stored(name).into_iter().flatten().cloned().collect();
        let fit = self.fitter.fit(name, &union, &stored);
        if let Fit::Partial { withheld, .. } = &fit {
            let message = format!("{} of {} rules do not fit", withheld.len(), union.len());
            let role = ObjectRef::cluster(&CLUSTER_ROLE, name.clone());
            problems.push(Diagnostic::new(Code::UnionTooLarge, role, message));
        }
        let because = reason(&self.aggregation, name, &stored, fit.rules(&union));
        let because = Some(because).filter(|because| !because.is_empty() && !stored.is_empty());
        (Content::rules(fit.into_rules(union)), because)
    }
}

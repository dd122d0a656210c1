//! Roles whose rules we gather ourselves, with the same labels as Kubernetes would, so that its aggregation controller
//! does not pay its quadratic cost for them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rolewright_core::aggregate::fit::{Fit, Fitter};
use rolewright_core::aggregate::{Aggregation, Event, Parts};
use rolewright_core::selector::LabelSelector;
use rolewright_core::{Labels, Role, Rule};

use super::index::key_of;
use super::namespace;
use super::people::Standing;
use super::words::{self, namespace_role};
use crate::Name;
use crate::aggregation::{parts, reason};
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::Content;
use crate::kind::NAMESPACE;
use crate::object::{Live, Meta, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, RoleBody};
use crate::snapshot::{Change, Snapshot};

/// The roles that are gathered, and what there is to gather.
#[derive(Debug, Default)]
pub(super) struct Materialized {
    /// Computed when it is asked for: before that, thousands of roles may come one by one.
    aggregation: RefCell<Aggregation>,
    fitter: Fitter,
    targets: BTreeMap<Name, Target>,
    /// Roles that count though they are not there: whoever gathers them is written together with them.
    bases: BTreeMap<Name, Base>,
    /// Those of both that were not looked at yet.
    unseen: Vec<Name>,
}

/// What a role gathers, and who gathers it in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) selectors: Vec<LabelSelector>,
    pub(super) labels: Labels,
}

/// What a role is as soon as it is written.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) labels: Labels,
    pub(super) rules: Vec<Rule>,
}

impl Materialized {
    /// With the roles that are gathered whatever there is, and those that are sure to come.
    pub(super) fn new(
        targets: impl Iterator<Item = (Name, Target)>,
        bases: impl Iterator<Item = (Name, Base)>,
    ) -> Self {
        let (targets, bases): (BTreeMap<_, _>, BTreeMap<_, _>) = (targets.collect(), bases.collect());
        let unseen = targets.keys().chain(bases.keys()).cloned().collect();
        Self { targets, bases, unseen, ..Self::default() }
    }

    /// Takes in changed ClusterRoles; returns the gathered roles that this concerns.
    pub(super) fn feed(&mut self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Name> {
        let unseen = std::mem::take(&mut self.unseen);
        let changed = changes.iter().filter(|change| *change.object.kind == CLUSTER_ROLE);
        let mut names: Vec<&Name> = changed.map(|change| &change.object.name).chain(&unseen).collect();
        // Whether a base is sure to come depends on the role that it is kept for.
        let kept: Vec<Name> = names.iter().filter_map(|name| Some(Standing::of(name)?.base())).collect();
        names.extend(&kept);
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
        let Self { aggregation, targets, bases, .. } = self;
        let live = |name: &Name| snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, name.clone()));
        let is_sure = |name: &Name| {
            let keeper = Standing::of(name).and_then(|standing| snapshot.get(&standing.key()));
            !keeper.is_some_and(|keeper| keeper.meta.is_paused())
        };
        let mut concerned = aggregation.get_mut().defer(names.iter().map(|name| {
            let counts = match targets.get(*name) {
                Some(target) => Some(target.counts(name, live(name))),
                None if live(name).is_some() => live(name).and_then(parts),
                None => bases.get(*name).filter(|_| is_sure(name)).map(|base| base.counts(name)),
            };
            counts.map_or(Event::Remove(name), Event::Parts)
        }));
        concerned.retain(|name| targets.contains_key(name));
        concerned
    }

    /// What a gathered role holds, and what of that is new, if it held something before; what does not fit into it is a
    /// problem.
    pub(super) fn content(&self, name: &Name, problems: &mut Vec<Diagnostic>) -> (Content, Option<String>) {
        let mut aggregation = self.aggregation.borrow_mut();
        aggregation.settle();
        let union: Vec<Rule> = aggregation.rules(name).into_iter().flatten().cloned().collect();
        let differs = aggregation.is_drifting(name);
        if aggregation.fits(name, &self.fitter.limits) {
            let held_some = || aggregation.stored(name).is_some_and(|mut stored| stored.next().is_some());
            let because = (differs && held_some()).then(|| {
                let (added, removed) = aggregation.news(name);
                reason::news(&aggregation, name, &added, &removed)
            });
            return (Content::rules(union), because);
        }
        let stored: Vec<Rule> = aggregation.stored(name).into_iter().flatten().cloned().collect();
        let fit = self.fitter.fit(name, &union, &stored);
        if let Fit::Partial { withheld, .. } = &fit {
            let message = format!("{} of {} rules do not fit", withheld.len(), union.len());
            let role = ObjectRef::cluster(&CLUSTER_ROLE, name.clone());
            problems.push(Diagnostic::new(Code::UnionTooLarge, role, message));
        }
        let because = reason::reason(&aggregation, name, &stored, fit.rules(&union));
        let because = Some(because).filter(|because| !because.is_empty() && !stored.is_empty());
        (Content::rules(fit.into_rules(union)), because)
    }
}

/// What a role gathers though it does not say so, because the manager gathers it: one of people's, or of a namespace.
pub fn gathered<'a>(role: &Role, namespace: impl FnOnce(&Name) -> Option<&'a Meta>) -> Option<Vec<LabelSelector>> {
    let name = role.key.name();
    let (label, value) = words::managed();
    if role.aggregation.is_some() || role.labels.get(&label) != Some(&value) {
        return None;
    }
    if let Some(standing) = Standing::of(name) {
        return standing.selectors().filter(|_| standing.key().name == *name);
    }
    let key = key_of(name).filter(|key| *key.kind == NAMESPACE)?;
    let enabled = namespace::enabled(namespace(&key.name)?);
    let level = namespace::ROLES.into_iter().find(|level| namespace_role(&key.name, level) == *name)?;
    Some(namespace::selectors(&enabled, level))
}

impl Target {
    /// A gathered role as it counts: as if Kubernetes gathered it.
    fn counts<'a>(&'a self, name: &'a Name, live: Option<&'a Live>) -> Parts<'a> {
        let rules = live.and_then(Live::body::<RoleBody>).map_or(&[][..], |role| &role.rules);
        Parts { name, labels: &self.labels, rules, aggregation: Some(&self.selectors) }
    }
}

impl Base {
    fn counts<'a>(&'a self, name: &'a Name) -> Parts<'a> {
        Parts { name, labels: &self.labels, rules: &self.rules, aggregation: None }
    }
}

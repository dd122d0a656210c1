//! ClusterRoles that are built out of others: one labelled role beside a CRD extends admin, edit and view.
//!
//! Beside Kubernetes' own controller this module only observes and says what is wrong. Where that controller is switched
//! off it does the job: one write per role whose union changed, and none otherwise.

pub(crate) mod reason;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rolewright_core::aggregate::fit::{Fit, Fitter};
use rolewright_core::aggregate::{Aggregation, Cycles, Event as RoleEvent, Parts};
use rolewright_core::{LabelSelector, Labels, RBAC_GROUP, Rule};

use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Claim, Content, Intent, Shape, Wanted};
use crate::module::{Module, Turn, Watch};
use crate::object::{Live, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, RoleBody};
use crate::snapshot::{Change, Snapshot};
use crate::{Name, Time};

/// Whose job it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Kubernetes' controller's: say what it gets wrong, write nothing.
    #[default]
    Observe,
    /// Ours alone.
    Exclusive,
    /// Kubernetes' controller's: say what it will write, in a plan. It knows nothing of pauses.
    Foretell,
}

/// Kubernetes' controller needs a moment; what it has not done by then it will not do.
const PATIENCE: Duration = Duration::from_secs(30);

/// The module.
#[derive(Debug)]
pub struct ClusterRoleAggregation {
    mode: Mode,
    fitter: Fitter,
    patience: Duration,
    aggregation: Aggregation,
    /// Since when roles do not hold what they should.
    drifting: BTreeMap<Name, Time>,
    cycles: Cycles,
}

impl ClusterRoleAggregation {
    /// The module in one of its modes.
    pub fn new(mode: Mode, fitter: Fitter) -> Self {
        Self {
            mode,
            fitter,
            patience: PATIENCE,
            aggregation: Aggregation::default(),
            drifting: BTreeMap::new(),
            cycles: Cycles::default(),
        }
    }

    /// The same, which gives Kubernetes' controller so much time before it says anything.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// What is computed, for whoever wants to explain a role.
    pub fn aggregation(&self) -> &Aggregation {
        &self.aggregation
    }

    /// Feeds the changes; returns the aggregated roles that they may concern.
    fn feed(&mut self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Name> {
        let of_roles = || changes.iter().filter(|change| *change.object.kind == CLUSTER_ROLE);
        let events = of_roles().map(|change| match snapshot.get(&change.object).and_then(parts) {
            Some(role) => RoleEvent::Parts(role),
            None => RoleEvent::Remove(&change.object.name),
        });
        let mut concerned = self.aggregation.update(events);
        let counts = |change: &&Change| {
            change.before.as_deref().is_some_and(is_aggregated)
                || snapshot.get(&change.object).is_some_and(is_aggregated)
        };
        concerned.extend(of_roles().filter(counts).map(|change| change.object.name.clone()));
        concerned.sort_unstable();
        concerned.dedup();
        concerned
    }

    /// Follows the circles that the changes can have opened or closed; returns whom that concerns.
    fn follow_cycles(&mut self, snapshot: &Snapshot, changes: &[Change]) -> BTreeSet<Name> {
        let reshaped = changes.iter().filter(|change| reshapes(snapshot, change));
        self.cycles.follow(&self.aggregation, reshaped.map(|change| &change.object.name))
    }

    fn problems(&self, key: &ObjectRef) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        for selector in self.aggregation.invalid_selectors_of(&key.name) {
            let message = format!("selector {} selects nothing: {}", selector.index, selector.reason);
            problems.push(Diagnostic::new(Code::SelectorInvalid, key.clone(), message));
        }
        if let Some(members) = self.cycles.of(&key.name) {
            let others: Vec<&str> = members.iter().filter(|name| **name != key.name).map(Name::as_str).collect();
            let message = format!("it selects itself over `{}`", others.join("`, `"));
            problems.push(Diagnostic::new(Code::AggregationCycle, key.clone(), message));
        }
        problems
    }

    /// Says that a role has not been what it should be for too long, or when to look whether it still is not.
    fn watch_drift(&self, key: &ObjectRef, now: Time, intent: &mut Intent) {
        let Some(since) = self.drifting.get(&key.name) else { return };
        let until = *since + self.patience;
        if now < until {
            intent.wake_at = Some(until);
        } else {
            let message = reason::drift(&self.aggregation, &key.name);
            intent.diagnostics.push(Diagnostic::new(Code::AggregationDrift, key.clone(), message));
        }
    }
}

impl Module for ClusterRoleAggregation {
    fn name(&self) -> &'static str {
        "aggregation"
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::needed(&CLUSTER_ROLE)]
    }

    fn writes(&self) -> Vec<Rule> {
        match self.mode {
            Mode::Observe | Mode::Foretell => Vec::new(),
            // Nobody holds all rules that others write, so the API server must be told not to ask for them.
            Mode::Exclusive => vec![Rule::resources([RBAC_GROUP], ["clusterroles"], ["escalate", "patch"])],
        }
    }

    fn heeds_pause(&self) -> bool {
        self.mode != Mode::Foretell
    }

    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], now: Time, mark: &mut dyn FnMut(ObjectRef)) {
        let mut concerned = self.feed(snapshot, changes);
        concerned.extend(self.follow_cycles(snapshot, changes));
        for name in concerned {
            if self.aggregation.is_drifting(&name) {
                self.drifting.entry(name.clone()).or_insert(now);
            } else {
                self.drifting.remove(&name);
            }
            mark(ObjectRef::cluster(&CLUSTER_ROLE, name));
        }
    }

    fn intend(&self, _: &Snapshot, key: &ObjectRef, now: Time) -> Intent {
        let mut intent = Intent { diagnostics: self.problems(key), ..Intent::default() };
        let Some(union) = self.aggregation.rules(&key.name) else { return intent };
        let union: Vec<Rule> = union.cloned().collect();
        let stored = if self.aggregation.is_drifting(&key.name) {
            Cow::Owned(self.aggregation.stored(&key.name).into_iter().flatten().cloned().collect::<Vec<Rule>>())
        } else {
            Cow::Borrowed(union.as_slice())
        };
        let fit = self.fitter.fit(&key.name, &union, &stored);
        if let Fit::Partial { withheld, .. } = &fit {
            let message = format!("{} of {} rules do not fit", withheld.len(), union.len());
            intent.diagnostics.push(Diagnostic::new(Code::UnionTooLarge, key.clone(), message));
        }
        match self.mode {
            Mode::Observe => self.watch_drift(key, now, &mut intent),
            Mode::Exclusive | Mode::Foretell => {
                let because = reason::reason(&self.aggregation, &key.name, &stored, fit.rules(&union));
                let shape = Shape { content: Content::rules(fit.into_rules(union)), ..Shape::default() };
                intent.wanted.push(Wanted { object: key.clone(), claim: Claim::RulesOnly, shape, because });
            }
        }
        intent
    }

    /// A role that somebody deleted may be on its way back: nobody loses in between what it gives.
    fn turn(&self, _: &ObjectRef) -> Turn {
        Turn::Collects
    }

    fn keys(&self, _: &Snapshot) -> Vec<ObjectRef> {
        self.aggregation.aggregated().map(|name| ObjectRef::cluster(&CLUSTER_ROLE, name.clone())).collect()
    }
}

fn is_aggregated(live: &Live) -> bool {
    live.body::<RoleBody>().is_some_and(|role| role.aggregation.is_some())
}

/// A ClusterRole as the engine takes it.
pub(crate) fn parts(live: &Live) -> Option<Parts<'_>> {
    let RoleBody { rules, aggregation } = live.body::<RoleBody>()?;
    Some(Parts { name: &live.meta.name, labels: &live.meta.labels, rules, aggregation: aggregation.as_deref() })
}

fn links(live: &Live) -> Option<(&Labels, &[LabelSelector])> {
    Some((&live.meta.labels, live.body::<RoleBody>()?.aggregation.as_deref()?))
}

/// Whether a change touches which aggregated roles select which: only their own labels and selectors do.
fn reshapes(snapshot: &Snapshot, change: &Change) -> bool {
    if *change.object.kind != CLUSTER_ROLE {
        return false;
    }
    change.before.as_deref().and_then(links) != snapshot.get(&change.object).and_then(links)
}

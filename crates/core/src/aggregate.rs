//! Which rules an aggregated ClusterRole must hold.
//!
//! [`Aggregation`] is fed with ClusterRoles, one by one or many at once, and keeps the union of every aggregated role
//! up to date. A change costs what it touches: the roles that select the changed one before or after, those that
//! select these, and no further than outputs really change.
//!
//! The union of a role follows Kubernetes' own order: selectors as declared, the roles that each one matches by name,
//! their rules in order, the first of equal rules. It differs from the Kubernetes controller where that one is wrong:
//!
//! - Only rules that somebody wrote count. An aggregated role hands on what is *computed* for it, never what is stored
//!   in it, so a rule whose last writer is gone disappears everywhere, through chains and cycles alike, and hand-written
//!   rules in an aggregated role are no source of anything.
//! - The result is there at once, without waves and without intermediate states.
//! - An empty union is an empty list, not "leave it as it is".
//! - A selector that cannot be used selects nothing and is [reported](Aggregation::invalid_selectors); the others work.
//!
//! ```
//! use rolewright_core::aggregate::Aggregation;
//! use rolewright_core::{LabelSelector, Role, Rule};
//!
//! let to_view = LabelSelector { match_labels: [("to-view".into(), "true".into())].into(), ..Default::default() };
//! let pods = Rule::resources([""], ["pods"], ["get"]);
//!
//! let mut roles = Aggregation::default();
//! roles.set(&Role::aggregated("view", [to_view]));
//! let changed = roles.set(&Role::cluster("pods-view", [pods.clone()]).label("to-view", "true"));
//!
//! assert_eq!(changed, ["view"]);
//! assert!(roles.rules("view").is_some_and(|rules| rules.eq([&pods])));
//! assert!(roles.drift().eq(["view"]), "the union is not written yet");
//! ```

mod anchors;
mod ceiling;
mod change;
mod components;
mod cycles;
pub mod fit;
mod labels;
mod names;
mod nodes;
mod provenance;
mod recompute;
mod rules;
pub mod size;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::selector::SelectorError;
use crate::{LabelSelector, Labels, Name, Role, RoleKey, Rule};

use anchors::Anchors;
use change::Unsettled;
pub use cycles::Cycles;
use fit::{Fit, Fitter};
use labels::LabelIndex;
use names::{Names, RoleId};
use nodes::Nodes;
pub use provenance::{Hop, Source};
use recompute::Scratch;
use rules::{RuleId, RuleTable};
use size::Limits;

/// All ClusterRoles, and the rules that follow for the aggregated ones.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    names: Names,
    nodes: Nodes,
    rules: RuleTable,
    labels: LabelIndex,
    anchors: Anchors,
    drifting: BTreeSet<Name>,
    invalid: BTreeMap<Name, Vec<InvalidSelector>>,
    /// What changes have left to compute.
    unsettled: Unsettled,
    scratch: Scratch,
    work: Work,
}

/// One change to feed. Namespaced Roles are ignored: they can neither aggregate nor be aggregated.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The role is now like this, be it new or changed, and gathers whatever its selectors match.
    Set(&'a Role),
    /// The same, for whoever keeps the parts of a ClusterRole and not the whole.
    Parts(Parts<'a>),
    /// The same, but it gathers and hands on no rule that these do not cover.
    Limited(&'a Role, &'a [Rule]),
    /// The ClusterRole of this name is gone.
    Remove(&'a str),
}

impl<'a> Event<'a> {
    /// The ClusterRole that it is about.
    fn name(&self) -> Option<&'a str> {
        match *self {
            Self::Parts(role) => Some(role.name),
            Self::Remove(name) => Some(name),
            Self::Set(Role { key: RoleKey::Cluster(name), .. })
            | Self::Limited(Role { key: RoleKey::Cluster(name), .. }, _) => Some(name),
            Self::Set(_) | Self::Limited(..) => None,
        }
    }
}

/// A ClusterRole, wherever its parts are kept.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Its name.
    pub name: &'a Name,
    /// Its labels.
    pub labels: &'a Labels,
    /// Its rules as stored.
    pub rules: &'a [Rule],
    /// The selectors of an aggregated role.
    pub aggregation: Option<&'a [LabelSelector]>,
}

impl<'a> Parts<'a> {
    /// The parts of a role, if it is a ClusterRole.
    fn of(role: &'a Role) -> Option<Self> {
        let RoleKey::Cluster(name) = &role.key else { return None };
        Some(Self { name, labels: &role.labels, rules: &role.rules, aggregation: role.aggregation.as_deref() })
    }
}

/// A selector that cannot be used, so that it selects nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSelector {
    /// The aggregated role that declares it.
    pub role: Name,
    /// Its place among the role's selectors, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub reason: SelectorError,
}

/// How much is held, and what the last change cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// ClusterRoles known.
    pub roles: usize,
    /// How many of them are aggregated.
    pub aggregated: usize,
    /// How often a selector matches a role, over all selectors and roles.
    pub links: usize,
    /// Distinct rules known.
    pub rules: usize,
    /// Unions computed during the last change.
    pub recomputed: usize,
    /// Selectors compared with the labels of a role during the last change.
    pub tested: usize,
}

/// Counters of the change under way or just made.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    recomputed: usize,
    tested: usize,
}

impl Aggregation {
    /// Takes in a whole cluster at once, in time linear in its roles, rules and matches but for sorting the names.
    pub fn from_roles<'a>(roles: impl IntoIterator<Item = &'a Role>) -> Self {
        let mut aggregation = Self::default();
        aggregation.update(roles.into_iter().map(Event::Set));
        aggregation
    }

    /// Takes in a new or changed role. Returns what [`update`](Self::update) returns.
    pub fn set(&mut self, role: &Role) -> Vec<Name> {
        self.update([Event::Set(role)])
    }

    /// Forgets a ClusterRole. Returns what [`update`](Self::update) returns.
    pub fn remove(&mut self, name: &str) -> Vec<Name> {
        self.update([Event::Remove(name)])
    }

    /// Takes in several changes and computes once. Of several events on one role the last one counts.
    ///
    /// Returns by name, in order, the aggregated roles whose computed rules changed. A role that became aggregated is
    /// among them even if nothing matches it; one that is gone or no longer aggregated is not.
    pub fn update<'a>(&mut self, events: impl IntoIterator<Item = Event<'a>>) -> Vec<Name> {
        self.take(events);
        let changed = self.compute();
        self.sorted(changed)
    }

    /// Takes in several changes and computes nothing: until [`settle`](Self::settle), [`rules`](Self::rules) and
    /// [`drift`](Self::drift) say what was true before. So many changes in a row cost one computation.
    ///
    /// Returns by name, in order, the aggregated roles whose computed rules may change.
    pub fn defer<'a>(&mut self, events: impl IntoIterator<Item = Event<'a>>) -> Vec<Name> {
        let touched = self.take(events);
        let reached = components::components(touched, |id| self.nodes.at(id).targets()).into_iter().flatten();
        let concerned: Vec<RoleId> = reached.filter(|&id| self.nodes.at(id).union.is_some()).collect();
        self.sorted(concerned)
    }

    /// Computes what [`defer`](Self::defer) left behind.
    pub fn settle(&mut self) {
        self.compute();
    }

    fn sorted(&self, roles: Vec<RoleId>) -> Vec<Name> {
        let mut names: Vec<Name> = roles.into_iter().map(|id| self.names.text(id).clone()).collect();
        names.sort_unstable();
        names
    }

    fn take<'a>(&mut self, events: impl IntoIterator<Item = Event<'a>>) -> FxHashSet<RoleId> {
        let mut latest: Vec<Event<'a>> = events.into_iter().filter(|event| event.name().is_some()).collect();
        latest.sort_by(|a, b| a.name().cmp(&b.name()));
        latest.dedup_by(|later, kept| {
            let same = later.name() == kept.name();
            if same {
                *kept = *later;
            }
            same
        });
        latest.shrink_to_fit();
        self.change(&latest)
    }

    /// The computed rules of an aggregated role; `None` for a role that is unknown or not aggregated.
    pub fn rules(&self, name: &str) -> Option<impl Iterator<Item = &Rule>> {
        let union = self.nodes.at(self.names.find(name)?).union.as_ref()?;
        Some(union.output.iter().map(|&id| self.rules.rule(id)))
    }

    /// The rules of a role as it was last seen, computed or not; `None` for a role that is unknown.
    pub fn stored(&self, name: &str) -> Option<impl Iterator<Item = &Rule>> {
        let node = self.nodes.at(self.names.find(name)?);
        Some(node.rules.iter().map(|&id| self.rules.rule(id)))
    }

    /// The aggregated roles, by name.
    pub fn aggregated(&self) -> impl Iterator<Item = &Name> {
        self.labels.all().filter(|&id| self.nodes.at(id).union.is_some()).map(|id| self.names.text(id))
    }

    /// The aggregated roles whose stored rules are not the computed ones, by name: exactly the writes to be done.
    pub fn drift(&self) -> impl Iterator<Item = &Name> {
        self.drifting.iter()
    }

    /// Whether the stored rules of this role are not the computed ones.
    pub fn is_drifting(&self, name: &str) -> bool {
        self.drifting.contains(name)
    }

    /// Whether one object can hold the computed rules of an aggregated role.
    pub fn fits(&self, name: &str, limits: &Limits) -> bool {
        let union = self.names.find(name).and_then(|id| self.nodes.at(id).union.as_ref());
        let ids = union.iter().flat_map(|union| &union.output);
        limits.allow_sizes(name, ids.map(|&id| self.rules.size(id)))
    }

    /// The computed rules that are not stored, and the stored ones that are not computed, each in order.
    pub fn news(&self, name: &str) -> (Vec<&Rule>, Vec<&Rule>) {
        let Some(node) = self.names.find(name).map(|id| self.nodes.at(id)) else { return Default::default() };
        let computed = node.union.as_ref().map_or(&[][..], |union| &union.output);
        let only_in = |one: &[RuleId], other: &[RuleId]| {
            let other: FxHashSet<RuleId> = other.iter().copied().collect();
            one.iter().filter(|id| !other.contains(id)).map(|&id| self.rules.rule(id)).collect()
        };
        (only_in(computed, &node.rules), only_in(&node.rules, computed))
    }

    /// What to write to an aggregated role, mindful of what the API server can store; `None` if it is not aggregated or
    /// holds that already. A union that does not fit stays in [`drift`](Self::drift), but is written once only.
    pub fn to_write(&self, name: &str, fitter: &Fitter) -> Option<Fit> {
        let target: Vec<Rule> = self.rules(name)?.cloned().collect();
        let stored: Vec<Rule> = self.stored(name)?.cloned().collect();
        let fit = fitter.fit(name, &target, &stored);
        (*fit.rules(&target) != *stored).then_some(fit)
    }

    /// Every selector that cannot be used, by role and place.
    pub fn invalid_selectors(&self) -> impl Iterator<Item = &InvalidSelector> {
        self.invalid.values().flatten()
    }

    /// The selectors of this role that cannot be used, by place.
    pub fn invalid_selectors_of(&self, name: &str) -> &[InvalidSelector] {
        self.invalid.get(name).map_or(&[], Vec::as_slice)
    }

    /// How much is held, and what the last change cost. Counts in time linear in the roles.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            rules: self.rules.len(),
            recomputed: self.work.recomputed,
            tested: self.work.tested,
            ..Stats::default()
        };
        for id in self.labels.all() {
            let node = self.nodes.at(id);
            stats.roles += 1;
            stats.aggregated += usize::from(node.union.is_some());
            stats.links += node.dependents.len();
        }
        stats
    }
}

//! The graph: roles, and which selector of which aggregated role matches them.

use std::sync::Arc;

use crate::Labels;
use crate::selector::{LabelSelector, Selector};

use super::ceiling::Ceiling;
use super::names::{RoleId, Roster};
use super::rules::RuleId;

/// One selector of one aggregated role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Link {
    pub(super) target: RoleId,
    pub(super) selector: usize,
}

/// What is known of one role.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) labels: Labels,
    /// The rules as stored. Unless the role is aggregated they are base rules, the only source of rules there is.
    pub(super) rules: Vec<RuleId>,
    /// The selectors that match this role, sorted: the edges from source to target.
    pub(super) dependents: Vec<Link>,
    /// What aggregation adds, boxed to keep the many plain roles small.
    pub(super) union: Option<Box<Union>>,
}

/// The aggregated side of a role.
#[derive(Clone, Debug, Default)]
pub(super) struct Union {
    /// The selectors as written, to see whether they change.
    pub(super) written: Vec<LabelSelector>,
    /// One per selector, in declared order.
    pub(super) arms: Vec<Arm>,
    /// The most that it may gather; `None` for anything.
    pub(super) ceiling: Option<Ceiling>,
    /// The computed rules.
    pub(super) output: Box<[RuleId]>,
}

/// A selector and what it matches.
#[derive(Clone, Debug, Default)]
pub(super) struct Arm {
    /// `None` if the selector cannot be used.
    pub(super) selection: Option<Arc<Selector>>,
    /// The clause by which [`Anchors`](super::anchors::Anchors) finds it.
    pub(super) anchor: Option<usize>,
    /// The matching roles, without the aggregated role itself: the edges from target to source.
    pub(super) sources: Roster,
}

impl Node {
    /// What this role gives to those that select it.
    pub(super) fn contribution(&self) -> &[RuleId] {
        self.union.as_ref().map_or(&self.rules, |union| &union.output)
    }

    /// Whether it may not gather everything.
    pub(super) fn is_limited(&self) -> bool {
        self.union.as_ref().is_some_and(|union| union.ceiling.is_some())
    }

    /// The aggregated roles that select this one; one that does so by several selectors comes as often.
    pub(super) fn targets(&self) -> impl Iterator<Item = RoleId> {
        self.dependents.iter().map(|link| link.target)
    }

    pub(super) fn attach(&mut self, link: Link) {
        // WHY: on a cold start links come in order, and the search is not needed.
        if self.dependents.last().is_none_or(|last| *last < link) {
            self.dependents.push(link);
        } else if let Err(place) = self.dependents.binary_search(&link) {
            self.dependents.insert(place, link);
        }
    }

    pub(super) fn detach(&mut self, link: Link) {
        if let Ok(place) = self.dependents.binary_search(&link) {
            self.dependents.remove(place);
        }
    }
}

impl Union {
    /// The matching roles in the order in which they are united. One that several selectors match comes as often.
    pub(super) fn sources(&self) -> impl Iterator<Item = RoleId> {
        self.arms.iter().flat_map(|arm| arm.sources.iter())
    }
}

/// The node of every role.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    pub(super) fn at(&self, id: RoleId) -> &Node {
        self.0.get(id.index()).expect("every RoleId in use was opened")
    }

    pub(super) fn at_mut(&mut self, id: RoleId) -> &mut Node {
        self.0.get_mut(id.index()).expect("every RoleId in use was opened")
    }

    /// One more than the largest number of a role.
    pub(super) fn bound(&self) -> usize {
        self.0.len()
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    /// An empty node for a new role.
    pub(super) fn open(&mut self, id: RoleId) {
        if self.0.len() <= id.index() {
            self.0.resize_with(id.index() + 1, Node::default);
        }
        *self.at_mut(id) = Node::default();
    }

    /// The roles that a selector matches, if that selector exists.
    pub(super) fn sources_mut(&mut self, link: Link) -> Option<&mut Roster> {
        let union = self.at_mut(link.target).union.as_mut()?;
        union.arms.get_mut(link.selector).map(|arm| &mut arm.sources)
    }
}

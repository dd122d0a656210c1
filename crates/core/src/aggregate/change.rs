//! Taking in changes: rules, labels and selectors first, then the edges between roles, then the unions.

use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::selector::LabelSelector;
use crate::{Name, Rule};

use super::ceiling::Ceiling;
use super::names::RoleId;
use super::nodes::{Arm, Link};
use super::{Aggregation, Event, InvalidSelector, Parts, Work};

/// What a change has left to do.
#[derive(Default)]
struct Pending {
    /// New roles, and roles whose labels changed: find the selectors that match them now.
    relabelled: Vec<RoleId>,
    /// Aggregated roles that are new or have new selectors: find the roles that they match.
    reselecting: Vec<RoleId>,
    /// What becomes of the unions.
    unsettled: Unsettled,
}

/// What changes have left to compute. Some of these roles may be gone by now or no longer aggregated.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsettled {
    /// Roles whose union may differ.
    dirty: FxHashSet<RoleId>,
    /// Roles that became aggregated.
    appeared: FxHashSet<RoleId>,
    /// Roles whose stored rules changed.
    rewritten: FxHashSet<RoleId>,
}

impl Aggregation {
    /// Takes in one event for each role, by name, and leaves the unions as they are; returns whose may differ.
    pub(super) fn change(&mut self, latest: &[Event<'_>]) -> FxHashSet<RoleId> {
        self.work = Work::default();
        // WHY: the first events are most often all roles there are. Lists that grow leave holes in memory.
        if self.names.is_empty() {
            self.names.reserve(latest.len());
            self.nodes.reserve(latest.len());
        }
        let mut pending = Pending::default();
        for event in latest {
            match *event {
                Event::Set(role) => self.place(Parts::of(role), None, &mut pending),
                Event::Parts(role) => self.place(Some(role), None, &mut pending),
                Event::Limited(role, ceiling) => self.place(Parts::of(role), Some(ceiling), &mut pending),
                Event::Remove(name) => self.erase(name, &mut pending),
            }
        }
        let Pending { relabelled, reselecting, mut unsettled } = pending;
        // INVARIANT: selectors that wait in `reselecting` are filed nowhere yet, so no edge is found twice.
        for id in relabelled {
            self.relink(id, &mut unsettled.dirty);
        }
        for &id in &reselecting {
            self.reselect(id);
        }
        unsettled.dirty.extend(reselecting);
        let touched = unsettled.dirty.union(&unsettled.appeared).copied().collect();
        self.unsettled.dirty.extend(unsettled.dirty);
        self.unsettled.appeared.extend(unsettled.appeared);
        self.unsettled.rewritten.extend(unsettled.rewritten);
        touched
    }

    /// Computes the unions that changes have left behind; returns those that changed.
    pub(super) fn compute(&mut self) -> Vec<RoleId> {
        let Unsettled { dirty, appeared, rewritten } = mem::take(&mut self.unsettled);
        let mut changed: FxHashSet<RoleId> = self.recompute(&dirty).into_iter().collect();
        // It may have ceased to be so in between.
        changed.extend(appeared.into_iter().filter(|&id| self.nodes.at(id).union.is_some()));
        for &id in changed.iter().chain(&rewritten) {
            self.note_drift(id);
        }
        self.rules.sweep();
        changed.into_iter().collect()
    }

    fn place(&mut self, role: Option<Parts<'_>>, ceiling: Option<&[Rule]>, pending: &mut Pending) {
        let Some(role) = role else { return };
        self.write(&role, pending);
        self.write_ceiling(role.name, ceiling, pending);
    }

    fn write(&mut self, role: &Parts<'_>, pending: &mut Pending) {
        let name = role.name;
        let known = self.names.find(name);
        let id = known.unwrap_or_else(|| {
            let id = self.names.add(name);
            self.nodes.open(id);
            self.labels.admit(id, &self.names);
            id
        });
        let node = self.nodes.at_mut(id);
        if known.is_none() || node.labels != *role.labels {
            self.labels.remove(id, &node.labels, &self.names);
            self.labels.add(id, role.labels, &self.names);
            pending.relabelled.push(id);
        }
        // Also if they are equal: whoever holds the role then holds the same list.
        node.labels.clone_from(role.labels);
        let held = self.rules.intern(role.rules, node.contribution());
        let before = mem::replace(&mut node.rules, held);
        self.rules.release(&before);
        if node.rules != before {
            pending.unsettled.rewritten.insert(id);
            if node.union.is_none() {
                pending.unsettled.dirty.extend(node.targets());
            }
        }
        self.write_selectors(id, role.aggregation, pending);
    }

    fn write_selectors(&mut self, id: RoleId, selectors: Option<&[LabelSelector]>, pending: &mut Pending) {
        let node = self.nodes.at(id);
        if node.union.as_ref().map(|union| union.written.as_slice()) == selectors {
            return;
        }
        let was_aggregated = node.union.is_some();
        self.deselect(id);
        let node = self.nodes.at_mut(id);
        if was_aggregated != selectors.is_some() {
            pending.unsettled.dirty.extend(node.targets());
        }
        if let Some(written) = selectors {
            // WHY: the old output stays for comparison; if the new selectors find the same, nothing has changed.
            node.union.get_or_insert_default().written = written.to_vec();
            pending.reselecting.push(id);
            if !was_aggregated {
                pending.unsettled.appeared.insert(id);
            }
        } else {
            node.union = None;
            self.note_drift(id);
        }
    }

    fn write_ceiling(&mut self, name: &Name, ceiling: Option<&[Rule]>, pending: &mut Pending) {
        let Some(id) = self.names.find(name) else { return };
        let Some(union) = &mut self.nodes.at_mut(id).union else { return };
        let same = match (&union.ceiling, ceiling) {
            (None, None) => true,
            (Some(held), Some(wanted)) => held.is(wanted),
            _ => false,
        };
        if !same {
            union.ceiling = ceiling.map(Ceiling::new);
            pending.unsettled.dirty.insert(id);
        }
    }

    fn erase(&mut self, name: &str, pending: &mut Pending) {
        let Some(id) = self.names.find(name) else { return };
        self.deselect(id);
        let node = mem::take(self.nodes.at_mut(id));
        for &link in &node.dependents {
            if let Some(sources) = self.nodes.sources_mut(link) {
                sources.remove(id, &self.names);
            }
        }
        pending.unsettled.dirty.extend(node.targets());
        self.rules.release(&node.rules);
        self.labels.remove(id, &node.labels, &self.names);
        self.labels.dismiss(id, &self.names);
        self.note_drift(id);
        // Its number may come to stand for another role before anything is computed.
        self.unsettled.appeared.remove(&id);
        self.unsettled.rewritten.remove(&id);
        self.names.remove(id);
    }

    /// Removes all edges that lead to a role.
    fn deselect(&mut self, id: RoleId) {
        let arms = match &mut self.nodes.at_mut(id).union {
            Some(union) => mem::take(&mut union.arms),
            None => return,
        };
        for (selector, arm) in arms.into_iter().enumerate() {
            let link = Link { target: id, selector };
            if let Some(selection) = &arm.selection {
                self.anchors.remove(link, selection, arm.anchor);
            }
            for source in arm.sources.iter() {
                self.nodes.at_mut(source).detach(link);
            }
        }
        self.invalid.remove(self.names.text(id));
    }

    /// Finds all edges that lead to a role, which has none.
    fn reselect(&mut self, id: RoleId) {
        let Some(union) = &self.nodes.at(id).union else { return };
        let mut arms = Vec::with_capacity(union.written.len());
        let mut invalid = Vec::new();
        for (index, written) in union.written.iter().enumerate() {
            arms.push(match written.compile() {
                Ok(selection) => {
                    let selection = Arc::new(selection);
                    let sources = self.labels.select(&selection, id, &self.nodes, &self.names);
                    let anchor = self.anchors.insert(Link { target: id, selector: index }, &selection);
                    Arm { selection: Some(selection), anchor, sources }
                }
                Err(reason) => {
                    invalid.push(InvalidSelector { role: self.names.text(id).clone(), index, reason });
                    Arm::default()
                }
            });
        }
        for (selector, arm) in arms.iter().enumerate() {
            for source in arm.sources.iter() {
                self.nodes.at_mut(source).attach(Link { target: id, selector });
            }
        }
        if let Some(union) = &mut self.nodes.at_mut(id).union {
            union.arms = arms;
        }
        if !invalid.is_empty() {
            self.invalid.insert(self.names.text(id).clone(), invalid);
        }
    }

    /// Brings the edges that lead away from a role into line with its labels.
    fn relink(&mut self, id: RoleId, dirty: &mut FxHashSet<RoleId>) {
        let node = self.nodes.at(id);
        let mut links = Vec::new();
        for (selection, filed) in self.anchors.candidates(&node.labels) {
            self.work.tested += 1;
            if selection.matches(&node.labels) {
                links.extend(filed.iter().filter(|link| link.target != id));
            }
        }
        links.sort_unstable();
        let before = mem::replace(&mut self.nodes.at_mut(id).dependents, links.clone());
        for &link in before.iter().filter(|link| links.binary_search(link).is_err()) {
            dirty.insert(link.target);
            if let Some(sources) = self.nodes.sources_mut(link) {
                sources.remove(id, &self.names);
            }
        }
        for &link in links.iter().filter(|link| before.binary_search(link).is_err()) {
            dirty.insert(link.target);
            if let Some(sources) = self.nodes.sources_mut(link) {
                sources.insert(id, &self.names);
            }
        }
    }

    /// Remembers whether an aggregated role has to be written.
    fn note_drift(&mut self, id: RoleId) {
        let (node, name) = (self.nodes.at(id), self.names.text(id));
        if node.union.as_ref().is_some_and(|union| *union.output != *node.rules) {
            self.drifting.insert(name.clone());
        } else {
            self.drifting.remove(name);
        }
    }
}

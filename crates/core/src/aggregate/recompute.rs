//! Unions: computed in an order in which sources come first, and only where something may differ.

use rustc_hash::FxHashSet;

use super::Aggregation;
use super::components::components;
use super::names::RoleId;
use super::rules::RuleId;

/// Sets of small numbers that are emptied in no time: a number is in the set if it carries the stamp of the day.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    stamps: Vec<u32>,
    today: u32,
}

impl Stamps {
    /// Empties the set, and makes room for numbers below `bound`.
    fn clear(&mut self, bound: usize) {
        if self.today == u32::MAX {
            self.stamps.clear();
            self.today = 0;
        }
        self.today += 1;
        self.stamps.resize(self.stamps.len().max(bound), 0);
    }

    fn contains(&self, number: usize) -> bool {
        self.stamps.get(number) == Some(&self.today)
    }

    /// Whether the number is new in the set.
    fn insert(&mut self, number: usize) -> bool {
        match self.stamps.get_mut(number) {
            Some(stamp) if *stamp != self.today => {
                *stamp = self.today;
                true
            }
            _ => false,
        }
    }
}

/// Memory that is used again for each union.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Rules that the union already has.
    rules: Stamps,
    /// Roles of the circle that is being computed, if it is one.
    circle: Stamps,
    /// Roles of the circle that were walked through.
    walked: Stamps,
}

impl Aggregation {
    /// Computes the unions of `dirty` roles and of those that depend on what changes; returns the changed ones.
    pub(super) fn recompute(&mut self, dirty: &FxHashSet<RoleId>) -> Vec<RoleId> {
        let mut stale = dirty.clone();
        stale.retain(|&id| self.nodes.at(id).union.is_some());
        let mut changed = Vec::new();
        let mut output = Vec::new();
        // WHY: walked from sources to targets, so that a role with thousands of plain sources costs nothing here. The
        // walk finds every affected component whole, because all roles of a circle depend on each other.
        let affected = components(stale.iter().copied(), |id| self.nodes.at(id).targets());
        for members in affected.iter().rev() {
            if !members.iter().any(|id| stale.contains(id)) {
                continue;
            }
            self.scratch.circle.clear(self.nodes.bound());
            if members.len() > 1 {
                for id in members {
                    self.scratch.circle.insert(id.index());
                }
            }
            if members.len() > 1 && members.iter().any(|id| self.nodes.at(*id).is_limited()) {
                for (target, before) in self.climb(members) {
                    let node = self.nodes.at(target);
                    if node.union.as_ref().is_some_and(|union| union.output != before) {
                        changed.push(target);
                        stale.extend(node.targets());
                    }
                }
                continue;
            }
            let mut complete = None;
            for &target in members {
                self.unite(target, complete, &mut output);
                self.work.recomputed += 1;
                complete = Some(output.len());
                let node = self.nodes.at_mut(target);
                let Some(union) = &mut node.union else { continue };
                if *union.output != *output {
                    union.output = output.as_slice().into();
                    changed.push(target);
                    stale.extend(node.targets());
                }
            }
        }
        changed
    }

    /// Computes a circle in which not every role hands on everything: from nothing, round after round, until a round adds
    /// no rule. Returns what the roles had before.
    fn climb(&mut self, members: &[RoleId]) -> Vec<(RoleId, Box<[RuleId]>)> {
        let mut members = members.to_vec();
        // WHY: the order of the rules depends on the order of the roles, and must not depend on their history.
        members.sort_unstable_by(|a, b| self.names.text(*a).cmp(self.names.text(*b)));
        let mut before = Vec::with_capacity(members.len());
        for &id in &members {
            let union = self.nodes.at_mut(id).union.as_mut();
            before.push((id, union.map(|union| std::mem::take(&mut union.output)).unwrap_or_default()));
        }
        // With an empty circle, `unite` takes what each role has so far.
        self.scratch.circle.clear(self.nodes.bound());
        let mut output = Vec::new();
        let mut grows = true;
        while grows {
            grows = false;
            for &id in &members {
                self.unite(id, None, &mut output);
                self.work.recomputed += 1;
                let Some(union) = &mut self.nodes.at_mut(id).union else { continue };
                grows |= output.len() > union.output.len();
                union.output = output.as_slice().into();
            }
        }
        before
    }

    /// Computes the union of `target` from the base rules in its circle and the finished unions outside of it.
    ///
    /// All roles of a circle have the same rules in different order, so once `complete` rules are found the rest of the
    /// circle need not be walked.
    fn unite(&mut self, target: RoleId, complete: Option<usize>, output: &mut Vec<RuleId>) {
        output.clear();
        let Scratch { rules, circle, walked } = &mut self.scratch;
        rules.clear(self.rules.bound());
        walked.clear(self.nodes.bound());
        walked.insert(target.index());
        let Some(union) = &self.nodes.at(target).union else { return };
        let mut path = vec![union.sources()];
        while let Some(sources) = path.last_mut() {
            let Some(source) = sources.next() else {
                path.pop();
                continue;
            };
            let node = self.nodes.at(source);
            match &node.union {
                Some(union) if circle.contains(source.index()) => {
                    if walked.insert(source.index()) {
                        path.push(union.sources());
                    }
                }
                _ => output.extend(node.contribution().iter().filter(|rule| rules.insert(rule.index()))),
            }
            if complete == Some(output.len()) {
                return;
            }
        }
        if let Some(ceiling) = self.nodes.at(target).union.as_ref().and_then(|union| union.ceiling.as_ref()) {
            output.retain(|rule| ceiling.admits(self.rules.rule(*rule)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_stamps_are_not_taken_for_new_ones() {
        let mut stamps = Stamps::default();
        stamps.clear(2);
        assert!(stamps.insert(1) && !stamps.insert(1) && stamps.contains(1) && !stamps.contains(0));

        stamps.today = u32::MAX;
        stamps.clear(2);
        assert!(!stamps.contains(1), "the stamp of the first day is that of the day after the last");
        assert!(stamps.insert(1));
    }
}

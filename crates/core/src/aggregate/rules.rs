//! Rules as small numbers: equal rules get one number, and a rule that nobody holds is forgotten.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::Rule;

use super::size::RuleSize;

/// A rule. Two rules are equal exactly when their numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct RuleId(u32);

impl RuleId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Gives numbers to rules and counts who holds them.
///
/// INVARIANT: the rules *stored* in roles are counted, those of computed unions are not. A union holds nothing but
/// stored rules, and a rule that lost its last holder keeps its number until [`sweep`](Self::sweep), which comes after
/// all unions are recomputed. So a union never names a rule that is gone, and a large union costs no counting.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleTable {
    ids: FxHashMap<Arc<Rule>, RuleId>,
    slots: Vec<Slot>,
    free: Vec<RuleId>,
    idle: Vec<RuleId>,
}

#[derive(Clone, Debug)]
struct Slot {
    rule: Arc<Rule>,
    size: RuleSize,
    holders: usize,
}

impl RuleTable {
    /// Rules known.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// One more than the largest number in use.
    pub(super) fn bound(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn rule(&self, id: RuleId) -> &Rule {
        &self.slot(id).rule
    }

    pub(super) fn size(&self, id: RuleId) -> RuleSize {
        self.slot(id).size
    }

    fn slot(&self, id: RuleId) -> &Slot {
        self.slots.get(id.index()).expect("a RuleId comes from `intern`, and `slots` never shrinks")
    }

    pub(super) fn find(&self, rule: &Rule) -> Option<RuleId> {
        self.ids.get(rule).copied()
    }

    /// Holds all of `rules`. Where `guess` has the right number at the same place, nothing needs to be looked up: most
    /// roles come back with the rules they had, or with the union that was computed for them.
    pub(super) fn intern(&mut self, rules: &[Rule], guess: &[RuleId]) -> Vec<RuleId> {
        let mut expected = guess.iter();
        rules
            .iter()
            .map(|rule| {
                let known = expected.next().copied().filter(|&id| self.rule(id) == rule);
                let id = known.or_else(|| self.find(rule)).unwrap_or_else(|| self.add(rule));
                if let Some(slot) = self.slots.get_mut(id.index()) {
                    slot.holders += 1;
                }
                id
            })
            .collect()
    }

    /// Gives up what [`intern`](Self::intern) held.
    pub(super) fn release(&mut self, ids: &[RuleId]) {
        for &id in ids {
            if let Some(slot) = self.slots.get_mut(id.index()) {
                slot.holders -= 1;
                if slot.holders == 0 {
                    self.idle.push(id);
                }
            }
        }
    }

    /// Forgets the rules that nobody holds.
    pub(super) fn sweep(&mut self) {
        for id in std::mem::take(&mut self.idle) {
            let Some(slot) = self.slots.get_mut(id.index()) else { continue };
            // WHY: a rule can become idle, be held again and become idle twice in one change; only the first is removed.
            if slot.holders == 0 && self.ids.remove(&slot.rule).is_some() {
                slot.rule = Arc::default();
                self.free.push(id);
            }
        }
    }

    fn add(&mut self, rule: &Rule) -> RuleId {
        let size = RuleSize::of(rule);
        let rule = Arc::new(rule.clone());
        let slot = Slot { rule: Arc::clone(&rule), size, holders: 0 };
        let id = if let Some(id) = self.free.pop() {
            if let Some(vacant) = self.slots.get_mut(id.index()) {
                *vacant = slot;
            }
            id
        } else {
            let id = u32::try_from(self.slots.len()).expect("four billion rules do not fit into memory");
            self.slots.push(slot);
            RuleId(id)
        };
        self.ids.insert(rule, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules<const N: usize>(verbs: [&str; N]) -> Vec<Rule> {
        verbs.map(|verb| Rule::resources([""], ["pods"], [verb])).into()
    }

    #[test]
    fn a_rule_stays_as_long_as_someone_holds_it() {
        let mut table = RuleTable::default();
        let first = table.intern(&rules(["get", "list"]), &[]);
        let second = table.intern(&rules(["get"]), &[]);
        assert_eq!(first[..1], second[..], "equal rules have equal numbers");

        table.release(&first);
        table.sweep();
        assert_eq!(table.len(), 1);
        assert_eq!(table.rule(second[0]), &rules(["get"])[0]);

        table.release(&second);
        table.sweep();
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_rule_that_is_held_again_before_the_sweep_keeps_its_number() {
        let mut table = RuleTable::default();
        let old = table.intern(&rules(["get"]), &[]);
        table.release(&old);
        let new = table.intern(&rules(["get"]), &[]);
        table.release(&new);
        let last = table.intern(&rules(["get"]), &[]);
        table.sweep();
        assert_eq!((old == last, table.len()), (true, 1));

        table.release(&last);
        table.intern(&rules(["get"]), &[]);
        table.release(&last);
        table.sweep();
        table.intern(&rules(["list", "watch"]), &[]);
        assert_eq!(table.len(), 2, "a number that was idle twice is freed once");
    }

    #[test]
    fn a_wrong_guess_does_no_harm() {
        let mut table = RuleTable::default();
        let guess = table.intern(&rules(["get", "list"]), &[]);
        let swapped = table.intern(&rules(["list", "get", "watch"]), &guess);
        assert_eq!(swapped[..2], [guess[1], guess[0]]);
        assert_eq!(table.rule(swapped[2]), &rules(["watch"])[0]);
    }
}

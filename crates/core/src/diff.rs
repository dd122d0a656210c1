//! What a change means: the difference of two worlds by what everybody may do, not by text.

use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Access, Scope};
use crate::subject::Principal;
use crate::{Binding, Rule, RuleSet, World};

/// How one principal's rights in one scope differ. Each list is canonical and short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose rights.
    pub principal: Principal,
    /// Where.
    pub scope: Scope,
    /// Rights that were not held before, not even as part of a wider one.
    pub gained: Vec<Rule>,
    /// Rights that are no longer held as they were.
    pub lost: Vec<Rule>,
    /// What remains of wider rights that were lost: `get` after `*` became `get`.
    pub kept: Vec<Rule>,
}

/// The changes from `before` to `after`, by principal and scope. Empty exactly when everybody may do the same.
///
/// Roles count with the rules they hold; worlds from manifests want their aggregation computed first.
///
/// Only those whom a differing binding or role reaches are looked at, so that a small change to a large world is cheap.
pub fn diff(before: &World, after: &World) -> Vec<Change> {
    let touched = touched(before, after);
    let access = |world| Access::of_some(world, |who| touched.contains(who));
    access(before).changes(&access(after))
}

/// Whoever holds something, in either world, through a binding or a role that is not the same in both.
fn touched(before: &World, after: &World) -> BTreeSet<Principal> {
    let roles = differing(&before.roles, &after.roles, |a, b| a.rules == b.rules);
    let bindings = differing(&before.bindings, &after.bindings, |a, b| a == b);
    let differs =
        |binding: &&Binding| bindings.contains(&binding.key) || binding.role().is_some_and(|key| roles.contains(&key));
    let all = before.bindings.values().chain(after.bindings.values());
    all.filter(differs).flat_map(Binding::principals).collect()
}

/// The keys that only one of two maps has, or under which they are not the same. Both are walked once, side by side.
fn differing<'a, K: Ord, V>(
    a: &'a BTreeMap<K, V>,
    b: &'a BTreeMap<K, V>,
    same: impl Fn(&V, &V) -> bool,
) -> BTreeSet<&'a K> {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    let mut keys = BTreeSet::new();
    while let Some(&(key, _)) = left.peek().into_iter().chain(right.peek()).min_by_key(|(key, _)| key) {
        let values = (left.next_if(|(k, _)| *k == key), right.next_if(|(k, _)| *k == key));
        if !matches!(values, (Some((_, a)), Some((_, b))) if same(a, b)) {
            keys.insert(key);
        }
    }
    keys
}

impl Access {
    /// The changes that lead from here to `after`.
    pub fn changes(&self, after: &Self) -> Vec<Change> {
        let everybody: BTreeSet<&Principal> = self.of.keys().chain(after.of.keys()).collect();
        let mut changes = Vec::new();
        for who in everybody {
            let mut scopes: BTreeSet<Scope> = BTreeSet::from([Scope::Cluster]);
            scopes.extend(self.scopes(who).chain(after.scopes(who)).cloned());
            for scope in scopes {
                changes.extend(self.change(after, who, scope));
            }
        }
        changes
    }

    /// The rights after `changes`; the inverse of [`changes`](Self::changes).
    pub fn apply(&self, changes: &[Change]) -> Self {
        let mut after = self.clone();
        for change in changes {
            let scopes: &mut BTreeMap<Scope, RuleSet> = after.of.entry(change.principal.clone()).or_default();
            let rights = scopes.entry(change.scope.clone()).or_default();
            let mut next = rights.beyond(&RuleSet::new(&change.lost));
            next.extend(&RuleSet::new(change.gained.iter().chain(&change.kept)));
            *rights = next;
        }
        after
    }

    fn scopes(&self, who: &Principal) -> impl Iterator<Item = &Scope> {
        self.of.get(who).into_iter().flat_map(BTreeMap::keys)
    }

    fn change(&self, after: &Self, who: &Principal, scope: Scope) -> Option<Change> {
        let nothing = RuleSet::default();
        let old = self.direct(who, &scope).unwrap_or(&nothing);
        let new = after.direct(who, &scope).unwrap_or(&nothing);
        let (held_before, held_after) = (self.effective(who, &scope), after.effective(who, &scope));
        let everywhere_after = match scope {
            Scope::Cluster => nothing.clone(),
            Scope::Namespace(_) => after.effective(who, &Scope::Cluster),
        };
        let lost = old.beyond(&held_after);
        // What the cluster scope gives anyway is reported there.
        let local = new.beyond(&everywhere_after);
        let gained = local.beyond(&held_before);
        let mut told = old.beyond(&lost);
        told.extend(&gained);
        let kept = local.beyond(&told);
        if lost.is_empty() && gained.is_empty() && kept.is_empty() {
            return None;
        }
        Some(Change {
            principal: who.clone(),
            scope,
            gained: gained.to_rules(),
            lost: lost.to_rules(),
            kept: kept.to_rules(),
        })
    }
}

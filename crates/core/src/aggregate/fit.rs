//! What to write when a union is too large for one object.
//!
//! Kubernetes' controller fails and leaves the role as it was, so that revocations do not arrive either. Here a role
//! that is too large is narrowed and kept, but not widened: what is revoked goes, what was granted stays, and what is
//! new is added as far as it fits. Nothing is ever written that the union does not grant.

use rustc_hash::FxHashSet;

use crate::{Rule, RuleSet};

use super::size::{Limits, Meter};

/// What to do with a union that is too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oversize {
    /// Withhold what does not fit, and report it.
    #[default]
    Report,
    /// First try to say the same in fewer bytes. The role then means what Kubernetes would compute, in other words.
    Compact,
}

/// What to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The union as it is.
    Whole,
    /// The union in fewer bytes.
    Compacted(Vec<Rule>),
    /// A part of the union.
    Partial {
        /// What to write. With [`Oversize::Report`] these are rules of the union, in its order.
        rules: Vec<Rule>,
        /// The rules of the union that are not written, in its order.
        withheld: Vec<Rule>,
    },
}

impl Fit {
    /// The rules to write, of the union `target` that was asked about.
    pub fn rules<'a>(&'a self, target: &'a [Rule]) -> &'a [Rule] {
        match self {
            Self::Whole => target,
            Self::Compacted(rules) | Self::Partial { rules, .. } => rules,
        }
    }

    /// The same, of a union that is needed no longer.
    pub fn into_rules(self, target: Vec<Rule>) -> Vec<Rule> {
        match self {
            Self::Whole => target,
            Self::Compacted(rules) | Self::Partial { rules, .. } => rules,
        }
    }
}

/// Makes unions fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fitter {
    /// How large a role may become.
    pub limits: Limits,
    /// What to do beyond that.
    pub oversize: Oversize,
}

impl Fitter {
    /// What to write to the ClusterRole `name` whose union is `target` and which now holds `stored`.
    ///
    /// If the union does not fit, rules of it that `stored` grants come first. Others are added in order while they fit
    /// as they are beside what is already there; a smaller one may fit where a larger one did not. Once the answer is
    /// stored it stays the answer.
    pub fn fit(&self, name: &str, target: &[Rule], stored: &[Rule]) -> Fit {
        if self.limits.allow(name, target) {
            return Fit::Whole;
        }
        if self.oversize == Oversize::Report {
            let held = covered(stored, target);
            return self.part(name, target, &by_rank(target, stored, &held, true));
        }
        let compacted = compact(target);
        if self.limits.allow(name, &compacted) {
            return Fit::Compacted(compacted);
        }
        self.compacted_part(name, target, stored)
    }

    /// As much of the union as fits, rules that come first in `order` going first.
    fn part(&self, name: &str, target: &[Rule], order: &[usize]) -> Fit {
        let mut meter = Meter::of(name, []);
        let mut fits = vec![false; target.len()];
        for &place in order {
            if let (Some(rule), Some(fits)) = (target.get(place), fits.get_mut(place)) {
                *fits = self.grow(&mut meter, rule);
            }
        }
        Fit::Partial { rules: pick(target, &fits, true), withheld: pick(target, &fits, false) }
    }

    /// As much of the union as fits when it is compacted.
    ///
    /// INVARIANT: `held` names all rules of the union that `rules` grants, and `rules` is what `compact` makes of them.
    /// So whoever starts from `rules` finds the same again.
    fn compacted_part(&self, name: &str, target: &[Rule], stored: &[Rule]) -> Fit {
        let (mut held, mut rules) = restate(target, stored);
        if !self.limits.allow(name, &rules) {
            // WHY: taking one rule out of a compact list can make it longer. What was granted and still may be is then
            // cut down to what fits: access is lost, but a revocation that waits would be worse.
            let cut = self.part(name, target, &by_rank(target, stored, &held, false));
            let Fit::Partial { rules: kept, .. } = &cut else { return cut };
            (held, rules) = restate(target, kept);
            if !self.limits.allow(name, &rules) {
                return cut;
            }
        }
        loop {
            let mut meter = Meter::of(name, &rules);
            let new = pick(target, &held, false);
            let added: Vec<Rule> = new.into_iter().filter(|rule| self.grow(&mut meter, rule)).collect();
            // WHY: compacting the additions may make room for more of them, so this goes on until nothing is gained.
            match self.widen(name, target, &rules, &added) {
                Some(wider) => (held, rules) = wider,
                None => return Fit::Partial { rules, withheld: pick(target, &held, false) },
            }
        }
    }

    /// `rules` with as many of the first `added` as fit after compaction: all, or half, or half of that. A list can grow
    /// when it is compacted together with another, because what shared a rule may no longer do so.
    fn widen(&self, name: &str, target: &[Rule], rules: &[Rule], added: &[Rule]) -> Option<(Vec<bool>, Vec<Rule>)> {
        let halves = std::iter::successors(Some(added), |added| added.get(..added.len() / 2));
        halves
            .take_while(|added| !added.is_empty())
            .map(|added| restate(target, &[rules, added].concat()))
            .find(|(_, compacted)| self.limits.allow(name, compacted))
    }

    /// Adds a rule if there is room for it.
    fn grow(&self, meter: &mut Meter, rule: &Rule) -> bool {
        let mut grown = *meter;
        grown.add(rule);
        let fits = grown.within(&self.limits);
        if fits {
            *meter = grown;
        }
        fits
    }
}

/// The same rights in fewer bytes; lists that grant the same give the same.
fn compact(rules: &[Rule]) -> Vec<Rule> {
    RuleSet::new(rules).to_rules()
}

/// For each rule, whether the owner's rules together grant all of it.
fn covered(owner: &[Rule], rules: &[Rule]) -> Vec<bool> {
    let held = RuleSet::new(owner);
    rules.iter().map(|rule| held.covers(rule)).collect()
}

/// Which rules of the union `granted` covers, and these compacted.
fn restate(target: &[Rule], granted: &[Rule]) -> (Vec<bool>, Vec<Rule>) {
    let held = covered(granted, target);
    let rules = compact(&pick(target, &held, true));
    (held, rules)
}

/// Places in `target`: first the rules that are stored word for word, then those that stored rules grant, then, if
/// wanted, the others. The first two differ so that a rule granted by others never displaces one that is there.
fn by_rank(target: &[Rule], stored: &[Rule], held: &[bool], with_new: bool) -> Vec<usize> {
    let stored: FxHashSet<&Rule> = stored.iter().collect();
    let ranks = target.iter().zip(held).map(|(rule, &held)| match (stored.contains(rule), held) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    });
    let mut order: Vec<(u8, usize)> = ranks.zip(0..).filter(|&(rank, _)| with_new || rank < 2).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, place)| place).collect()
}

fn pick(rules: &[Rule], chosen: &[bool], wanted: bool) -> Vec<Rule> {
    rules.iter().zip(chosen).filter(|&(_, &chosen)| chosen == wanted).map(|(rule, _)| rule.clone()).collect()
}

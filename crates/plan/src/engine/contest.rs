//! Objects that somebody else changes back, again and again. Two writers that fight serve nobody, so we give in for a
//! while: a single change is undone at once, the tenth within a minute is not.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Time;
use crate::object::ObjectRef;

/// So many repairs within [`WINDOW`] are a fight.
pub(super) const REPAIRS: usize = 10;
const WINDOW: Duration = Duration::from_mins(1);

/// How long we give in at first, and at most.
const FIRST: Duration = Duration::from_mins(1);
const MOST: Duration = Duration::from_mins(10);

/// Objects that were repaired not long ago.
#[derive(Debug, Default)]
pub(super) struct Contests {
    objects: BTreeMap<ObjectRef, Contest>,
    /// With how many of them it is worth looking for old ones.
    sweep_at: usize,
}

#[derive(Debug, Default)]
struct Contest {
    /// The repairs that still count.
    repairs: Vec<Time>,
    /// How often we gave in without peace since.
    rounds: u32,
    /// Until when we do.
    until: Time,
}

impl Contests {
    /// What somebody else did to this object was undone.
    pub(super) fn repaired(&mut self, object: &ObjectRef, now: Time) {
        if self.objects.len() >= self.sweep_at {
            self.objects.retain(|_, contest| !contest.is_over(now));
            self.sweep_at = self.objects.len().saturating_mul(2).max(64);
        }
        let contest = self.objects.entry(object.clone()).or_default();
        if contest.is_over(now) {
            *contest = Contest::default();
        }
        contest.repairs.retain(|at| now.since(*at) < WINDOW);
        contest.repairs.push(now);
        // Who gave in before tries once and not ten times.
        if contest.rounds > 0 || contest.repairs.len() >= REPAIRS {
            let delay = FIRST.saturating_mul(1_u32.checked_shl(contest.rounds).unwrap_or(u32::MAX)).min(MOST);
            contest.rounds = contest.rounds.saturating_add(1);
            contest.until = now + delay;
        }
    }

    /// Until when this object is left to whoever else writes it.
    pub(super) fn until(&self, object: &ObjectRef, now: Time) -> Option<Time> {
        self.objects.get(object).map(|contest| contest.until).filter(|until| *until > now)
    }
}

impl Contest {
    /// Whether it was left alone for long enough.
    fn is_over(&self, now: Time) -> bool {
        let last = self.repairs.last().copied().unwrap_or_default().max(self.until);
        now.since(last) >= WINDOW
    }
}

//! Which keys of a module are due, and when to try again.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, BuildHasherDefault};
use std::time::Duration;

use rustc_hash::FxHasher;

use super::outcome::{Category, Failure};
use crate::Time;
use crate::diagnostic::{Code, Diagnostic};
use crate::object::ObjectRef;
use crate::op::{Op, Phase};

/// Keys that wait, are being written, or failed.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: BTreeMap<ObjectRef, Entry>,
    due: BTreeSet<(Time, ObjectRef)>,
    /// INVARIANT: counts the entries with a `since`, which is asked for after every step.
    waiting: usize,
    /// When a key was last started while others had to wait for theirs.
    crowded: Time,
}

#[derive(Debug, Default)]
struct Entry {
    /// When to look; `None` while it is being written.
    due: Option<Time>,
    /// Since when something waits to be seen; `None` if only a wake-up is pending.
    since: Option<Time>,
    /// Not before this, whatever happens: the server asked for it.
    not_before: Time,
    /// Failures in a row.
    failures: u32,
    /// What failed last time.
    troubles: Vec<Failure>,
    /// What was written last time, until it was seen to have had its effect.
    written: Vec<Op>,
    /// News came while it was being written.
    again: bool,
}

impl Queue {
    /// News for a key: look at it now, or as soon as it is no longer being written.
    pub(super) fn mark(&mut self, key: ObjectRef, now: Time) {
        let entry =
            self.entries.entry(key.clone()).or_insert_with(|| Entry { due: Some(Time(u64::MAX)), ..Entry::default() });
        if entry.since.is_none() {
            entry.since = Some(now);
            self.waiting += 1;
        }
        if entry.due.is_none() {
            entry.again = true;
            return;
        }
        let at = now.max(entry.not_before);
        if entry.due.is_some_and(|due| at < due) {
            self.schedule(key, at);
        }
    }

    /// The first key that is due; it counts as being written until it rests or is finished.
    pub(super) fn start(&mut self, now: Time) -> Option<ObjectRef> {
        let (at, _) = self.due.first()?;
        if *at > now {
            return None;
        }
        let (_, key) = self.due.pop_first()?;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.due = None;
            entry.again = false;
        }
        if self.due.first().is_some_and(|(at, _)| *at <= now) {
            self.crowded = now;
        }
        Some(key)
    }

    /// When the next key is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// If a key is due or being written: since when none had to wait for another.
    pub(super) fn busy(&self, now: Time) -> Option<Time> {
        // What is being written is not due.
        let is_busy = self.entries.len() > self.due.len() || self.next_due().is_some_and(|due| due <= now);
        is_busy.then_some(self.crowded)
    }

    /// How many keys wait or are being written.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// A started key has nothing to write, or what it would write has no effect. Returns since when it was waited for.
    pub(super) fn rest(&mut self, key: &ObjectRef, stuck: bool, wake_at: Option<Time>, now: Time) -> Option<Time> {
        let entry = self.entries.get_mut(key)?;
        if stuck {
            entry.failures += 1;
            // The next time it is written again.
            entry.written.clear();
            let at = now + Category::Invalid.delay(entry.failures);
            self.schedule(key.clone(), at);
            return None;
        }
        let entry = self.entries.remove(key)?;
        self.waiting -= usize::from(entry.since.is_some());
        if let Some(at) = wake_at {
            self.entries.insert(key.clone(), Entry::default());
            self.schedule(key.clone(), at);
        }
        entry.since
    }

    /// What was written for a key, and what was not. It is looked at again: at once if all went well, to see that it had
    /// its effect.
    pub(super) fn finish(&mut self, key: &ObjectRef, written: Vec<Op>, failures: Vec<Failure>, now: Time) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if entry.since.is_none() {
            entry.since = Some(now);
            self.waiting += 1;
        }
        let at = if failures.is_empty() {
            // A report about a write without effect does not make it a new one.
            if written.iter().any(|op| op.phase != Phase::Report) {
                entry.written = written.into_iter().filter(|op| op.phase != Phase::Report).collect();
            }
            now
        } else {
            entry.failures += 1;
            entry.written.clear();
            let delay = failures.iter().map(|failure| failure.category.delay(entry.failures)).max().unwrap_or_default();
            let asked = failures.iter().filter_map(|failure| failure.retry_after).max().unwrap_or_default();
            entry.not_before = now + asked;
            let again = entry.again.then_some(now);
            again.unwrap_or_else(|| now + jittered(key, entry.failures, delay)).max(entry.not_before)
        };
        entry.troubles = failures;
        self.schedule(key.clone(), at);
    }

    /// What a user should know of the last writes.
    pub(super) fn troubles(&self, key: &ObjectRef, planned: &[Op]) -> Vec<Diagnostic> {
        let Some(entry) = self.entries.get(key) else { return Vec::new() };
        let still = |failure: &&Failure| planned.iter().any(|op| op.object == failure.object);
        let refused = entry.troubles.iter().filter(|failure| failure.category.is_trouble()).filter(still);
        let mut told: Vec<Diagnostic> = refused
            .map(|failure| Diagnostic::new(Code::Refused, failure.object.clone(), failure.message.clone()))
            .collect();
        if self.is_stuck(key, planned) {
            let object = planned.first().map_or_else(|| key.clone(), |op| op.object.clone());
            told.push(Diagnostic::new(Code::Ineffective, object, "it was accepted and is not what was written"));
        }
        told
    }

    /// Whether the very same was just written, with success and without effect.
    pub(super) fn is_stuck(&self, key: &ObjectRef, planned: &[Op]) -> bool {
        let written = self.entries.get(key).map_or(&[][..], |entry| &entry.written);
        !planned.is_empty() && planned.iter().map(Op::words).eq(written.iter().map(Op::words))
    }

    /// Whether the last writes failed in a way that does not pass by itself.
    pub(super) fn has_failed(&self, key: &ObjectRef) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.troubles.iter().any(|failure| failure.category.is_trouble()))
    }

    fn schedule(&mut self, key: ObjectRef, at: Time) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if let Some(before) = entry.due.replace(at) {
            self.due.remove(&(before, key.clone()));
        }
        self.due.insert((at, key));
    }
}

/// Up to half as long again, so that many that failed together do not come back together. The same for the same key.
fn jittered(key: &ObjectRef, failures: u32, delay: Duration) -> Duration {
    let hash = BuildHasherDefault::<FxHasher>::default().hash_one((key, failures));
    delay + delay.mul_f64(f64::from(u8::try_from(hash >> 56).unwrap_or_default()) / 512.0)
}

//! The engine: news in, plans out, what came of them in again. It runs all modules over one snapshot.

mod contest;
mod outcome;
mod queue;
mod report;
mod slot;
mod withheld;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Time;
use crate::diagnostic::Diagnostic;
use crate::module::{Module, Watch};
use crate::object::ObjectRef;
use crate::op::Plan;
use crate::snapshot::{Change, Event, Service, Snapshot};

pub use outcome::{Category, Failure, Outcome};
use slot::{Slot, Standby};

/// Runs modules over one snapshot. One owner drives it: tells it news, takes jobs from it, and says what came of them.
pub struct Engine {
    snapshot: Snapshot,
    slots: Vec<Slot>,
    news: Vec<News>,
}

/// A plan to be written. [`Engine::finish`] wants to know what came of it.
#[derive(Debug)]
pub struct Job {
    /// Whose plan: the place of the module.
    pub module: usize,
    /// On whose behalf.
    pub key: ObjectRef,
    /// What to write.
    pub plan: Plan,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Next {
    /// This.
    Job(Job),
    /// Nothing before this time, or before there is news.
    Wait(Option<Time>),
}

/// What happened, for events, logs and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A problem was not there before.
    Raised(&'static str, Diagnostic),
    /// A problem is there no longer.
    Cleared(&'static str, Diagnostic),
    /// A key needs no write any more, so long after the news that made it due.
    Converged(&'static str, ObjectRef, Duration),
}

impl Engine {
    /// An engine with these modules, which has seen nothing yet.
    pub fn new(modules: impl IntoIterator<Item = Box<dyn Module>>) -> Self {
        Self { snapshot: Snapshot::default(), slots: modules.into_iter().map(Slot::of).collect(), news: Vec::new() }
    }

    /// What is known of the cluster.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Everything that any module reads.
    pub fn watches(&self) -> Vec<Watch> {
        let mut all: BTreeMap<_, Watch> = BTreeMap::new();
        for watch in self.slots.iter().flat_map(|slot| &slot.watches) {
            all.entry(watch.kind).and_modify(|known| known.needed |= watch.needed).or_insert(*watch);
        }
        all.into_values().collect()
    }

    /// The modules with whether they have all that they need.
    pub fn modules(&self) -> impl Iterator<Item = (&dyn Module, bool)> {
        self.slots.iter().map(|slot| (&*slot.module, slot.is_awake(&self.snapshot)))
    }

    /// Whether of every kind either all objects were seen or it is known not to be served.
    pub fn has_seen_all(&self) -> bool {
        let mut watches = self.slots.iter().flat_map(|slot| &slot.watches);
        watches.all(|watch| self.snapshot.service(watch.kind) != Service::Unknown)
    }

    /// Takes in news.
    pub fn take(&mut self, events: impl IntoIterator<Item = Event>, now: Time) {
        let changes: Vec<Change> = events.into_iter().flat_map(|event| self.snapshot.take(event)).collect();
        if changes.is_empty() {
            return;
        }
        for slot in &mut self.slots {
            if changes.iter().any(|change| slot.reads(&change.object)) {
                slot.observe(&self.snapshot, &changes, now);
            }
        }
    }

    /// Looks at every key again.
    pub fn mark_all(&mut self, now: Time) {
        for module in 0..self.slots.len() {
            self.mark_module(module, now);
        }
    }

    /// Looks at every key of one module again, as after a change of leader.
    pub fn mark_module(&mut self, module: usize, now: Time) {
        if let Some(slot) = self.slots.get_mut(module) {
            for key in slot.module.keys(&self.snapshot) {
                slot.mark(key, now);
            }
        }
    }

    /// Lets one module write again, unless it sees that somebody else does its job.
    pub fn resume(&mut self, module: usize) {
        if let Some(slot) = self.slots.get_mut(module) {
            let standby = slot.module.peer(&self.snapshot).map_or(Standby::No, |peer| Standby::Yes(Some(peer)));
            slot.stand_by(standby, &mut self.news);
        }
    }

    /// Keeps one module from writing, because somebody else may do its job. With something to say about that it plans all the
    /// same, and tells what it finds; without, as beside another manager of ours, what is due waits.
    pub fn stand_by(&mut self, module: usize, why: Option<Diagnostic>) {
        if let Some(slot) = self.slots.get_mut(module) {
            slot.stand_by(Standby::Yes(why), &mut self.news);
        }
    }

    /// The next plan that has something to write.
    pub fn next(&mut self, now: Time) -> Next {
        for slot in self.slots.iter_mut().filter(|slot| !slot.only_plans()) {
            slot.release(now);
        }
        if let Some(job) = self.start(now, |slot| slot.start(now)) {
            return Next::Job(job);
        }
        let writes = |slot: &&Slot| slot.may_write() && slot.is_awake(&self.snapshot);
        let busy = self.slots.iter().filter(writes).filter_map(|slot| slot.busy(now)).max();
        if let Some(job) = self.start(now, |slot| slot.start_last(busy, now)) {
            return Next::Job(job);
        }
        let working = self.slots.iter().filter(|slot| slot.works(&self.snapshot));
        Next::Wait(working.filter_map(|slot| slot.next_due(busy, now)).min())
    }

    /// The first plan with something to write among the keys that modules start.
    fn start(&mut self, now: Time, start: impl Fn(&mut Slot) -> Option<ObjectRef>) -> Option<Job> {
        for (module, slot) in self.slots.iter_mut().enumerate() {
            if !slot.works(&self.snapshot) {
                continue;
            }
            while let Some(key) = start(slot) {
                if slot.only_plans() {
                    slot.withhold(&self.snapshot, &key, now, &mut self.news);
                } else if let Some(plan) = slot.plan(&self.snapshot, &key, now, &mut self.news) {
                    return Some(Job { module, key, plan });
                }
            }
        }
        None
    }

    /// Takes in what came of a job. What was stored is known from now on, before any watch tells.
    pub fn finish(&mut self, job: Job, outcomes: Vec<Outcome>, now: Time) {
        let mut failures = Vec::new();
        let mut stored = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(event) => stored.push(event),
                Err(failure) => failures.push(failure),
            }
        }
        self.take(stored, now);
        if let Some(slot) = self.slots.get_mut(job.module) {
            slot.finish(job, failures, now);
        }
    }

    /// What happened since this was last asked.
    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// How many keys wait, by module.
    pub fn waiting(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.slots.iter().map(|slot| (slot.module.name(), slot.waiting()))
    }

    /// How many writes are planned and left to somebody else who does the job, by module.
    pub fn withheld(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.slots.iter().map(|slot| (slot.module.name(), slot.withheld()))
    }
}

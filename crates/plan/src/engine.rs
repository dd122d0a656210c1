//! The engine: news in, plans out, what came of them in again. It runs all modules over one snapshot.

mod outcome;
mod queue;
mod report;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, BuildHasherDefault};
use std::time::Duration;

use rustc_hash::FxHasher;

use crate::Time;
use crate::diagnostic::{Code, Diagnostic};
use crate::difference::difference;
use crate::intent::Shape;
use crate::module::{Module, Watch};
use crate::object::ObjectRef;
use crate::op::{Phase, Plan};
use crate::snapshot::{Change, Event, Service, Snapshot};

pub use outcome::{Category, Failure, Outcome};
use queue::Queue;

/// Runs modules over one snapshot. One owner drives it: tells it news, takes jobs from it, and says what came of them.
pub struct Engine {
    snapshot: Snapshot,
    slots: Vec<Slot>,
    news: Vec<News>,
}

/// A module with what waits for it.
struct Slot {
    module: Box<dyn Module>,
    watches: Vec<Watch>,
    queue: Queue,
    told: BTreeMap<ObjectRef, Vec<Diagnostic>>,
    /// What was wanted for each key when it last needed no write.
    kept: BTreeMap<ObjectRef, Kept>,
}

/// Objects with the hash of what they should be.
type Kept = Vec<(ObjectRef, u64)>;

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
        let slot = |module: Box<dyn Module>| {
            let watches = module.watches();
            Slot { module, watches, queue: Queue::default(), told: BTreeMap::new(), kept: BTreeMap::new() }
        };
        Self { snapshot: Snapshot::default(), slots: modules.into_iter().map(slot).collect(), news: Vec::new() }
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
                let Slot { module, queue, .. } = slot;
                module.observe(&self.snapshot, &changes, now, &mut |key| queue.mark(key, now));
            }
        }
    }

    /// Looks at every key again, as after a change of leader.
    pub fn mark_all(&mut self, now: Time) {
        for slot in &mut self.slots {
            for key in slot.module.keys(&self.snapshot) {
                slot.queue.mark(key, now);
            }
        }
    }

    /// The next plan that has something to write.
    pub fn next(&mut self, now: Time) -> Next {
        let mut wait: Option<Time> = None;
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if !slot.is_awake(&self.snapshot) {
                continue;
            }
            while let Some(key) = slot.queue.start(now) {
                if let Some(plan) = slot.plan(&self.snapshot, &key, now, &mut self.news) {
                    return Next::Job(Job { module: index, key, plan });
                }
            }
            wait = wait.into_iter().chain(slot.queue.next_due()).min();
        }
        Next::Wait(wait)
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
            slot.queue.finish(&job.key, job.plan.ops, failures, now);
        }
    }

    /// What happened since this was last asked.
    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// How many keys wait, by module.
    pub fn waiting(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.slots.iter().map(|slot| (slot.module.name(), slot.queue.len()))
    }
}

impl Slot {
    fn reads(&self, object: &ObjectRef) -> bool {
        self.watches.iter().any(|watch| watch.kind == object.kind)
    }

    /// Whether everything that it reads was seen, and everything that it needs is served.
    fn is_awake(&self, snapshot: &Snapshot) -> bool {
        self.watches.iter().all(|watch| match snapshot.service(watch.kind) {
            Service::Seen => true,
            Service::Unserved => !watch.needed,
            Service::Unknown => false,
        })
    }

    /// The plan for a key that was started, if there is something to write.
    fn plan(&mut self, snapshot: &Snapshot, key: &ObjectRef, now: Time, news: &mut Vec<News>) -> Option<Plan> {
        let mut plan = self.intended(snapshot, key, now);
        plan.diagnostics.extend(self.queue.troubles(key, &plan.ops));
        let stuck = self.queue.is_stuck(key, &plan.ops);
        if plan.ops.is_empty() || stuck || self.queue.has_failed(key) {
            plan.ops.extend(report::report(snapshot, key, &plan, now));
        }
        self.tell(key, &plan.diagnostics, news);
        if stuck {
            plan.ops.retain(|op| op.phase == Phase::Report);
        }
        if plan.ops.is_empty() {
            let since = self.queue.rest(key, stuck, plan.wake_at, now);
            news.extend(since.map(|since| News::Converged(self.module.name(), key.clone(), now.since(since))));
            return None;
        }
        Some(plan)
    }

    /// What the module wants, compared with what there is. Nothing is written on behalf of what is paused or cannot be
    /// understood: what was granted stays.
    fn intended(&mut self, snapshot: &Snapshot, key: &ObjectRef, now: Time) -> Plan {
        let live = snapshot.get(key);
        if let Some(Err(why)) = live.map(|live| &live.body) {
            let diagnostics = vec![Diagnostic::new(Code::Invalid, key.clone(), why.clone())];
            return Plan { diagnostics, ..Plan::default() };
        }
        let intent = self.module.intend(snapshot, key, now);
        let wanted = intent.wanted.iter().map(|wanted| (wanted.object.clone(), hash(&wanted.shape))).collect();
        let mut plan = difference(snapshot, intent);
        self.tell_repairs(key, wanted, &mut plan);
        if live.is_some_and(|live| live.meta.is_paused()) && !plan.ops.is_empty() {
            let message = match plan.ops.len() {
                1 => "one write waits".to_owned(),
                count => format!("{count} writes wait"),
            };
            plan.diagnostics.push(Diagnostic::new(Code::Paused, key.clone(), message));
            plan.ops.clear();
        }
        plan
    }

    /// Marks the writes that undo what somebody else did.
    fn tell_repairs(&mut self, key: &ObjectRef, wanted: Kept, plan: &mut Plan) {
        if !plan.ops.is_empty() {
            let kept = self.kept.get(key).map_or(&[][..], Vec::as_slice);
            for op in &mut plan.ops {
                op.repairs = wanted.iter().any(|known| known.0 == op.object && kept.contains(known));
            }
        } else if wanted.is_empty() {
            self.kept.remove(key);
        } else {
            self.kept.insert(key.clone(), wanted);
        }
    }

    /// Says what is new about a key.
    fn tell(&mut self, key: &ObjectRef, now: &[Diagnostic], news: &mut Vec<News>) {
        let name = self.module.name();
        let before = self.told.remove(key).unwrap_or_default();
        let missing = |from: &[Diagnostic], of: &[Diagnostic]| -> Vec<Diagnostic> {
            of.iter().filter(|diagnostic| !from.contains(diagnostic)).cloned().collect()
        };
        news.extend(missing(&before, now).into_iter().map(|diagnostic| News::Raised(name, diagnostic)));
        news.extend(missing(now, &before).into_iter().map(|diagnostic| News::Cleared(name, diagnostic)));
        if !now.is_empty() {
            self.told.insert(key.clone(), now.to_vec());
        }
    }
}

fn hash(shape: &Shape) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(shape)
}

//! One module at work: what is due for it, what it was told, and what it has.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, BuildHasherDefault};
use std::time::Duration;

use rustc_hash::FxHasher;

use super::contest::Contests;
use super::outcome::Failure;
use super::queue::Queue;
use super::withheld::Withheld;
use super::{Job, News, report};
use crate::Time;
use crate::diagnostic::{Code, Diagnostic};
use crate::difference::difference;
use crate::intent::Shape;
use crate::module::{Module, Watch};
use crate::object::ObjectRef;
use crate::op::{Phase, Plan};
use crate::snapshot::{Change, Service, Snapshot};

/// So long a key waits for those of earlier turns, once they are all under way: whatever somebody breaks is mended within a
/// second.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
/// So long it waits while more and more of them come: nobody keeps what was taken from them by making others wait.
pub(super) const ENDURANCE: Duration = Duration::from_secs(30);

/// A module with what waits for it.
pub(super) struct Slot {
    pub(super) module: Box<dyn Module>,
    pub(super) watches: Vec<Watch>,
    /// What is due, by turn.
    queues: [Queue; 4],
    told: BTreeMap<ObjectRef, Vec<Diagnostic>>,
    /// What each key was last known to have, or to have got.
    kept: BTreeMap<ObjectRef, Kept>,
    /// What is wanted for each key that is being written.
    writing: BTreeMap<ObjectRef, Kept>,
    contests: Contests,
    /// Why it must not write, if somebody else does its job or may do it.
    standby: Standby,
    /// What it left to them.
    withheld: Withheld,
}

/// Whether a module may write.
#[derive(Debug, Default)]
pub(super) enum Standby {
    /// It may.
    #[default]
    No,
    /// It may not, and maybe there is something to say about it.
    Yes(Option<Diagnostic>),
}

/// Objects with the hash of what they should be.
type Kept = Vec<(ObjectRef, u64)>;

impl Slot {
    pub(super) fn of(module: Box<dyn Module>) -> Self {
        let watches = module.watches();
        Self {
            module,
            watches,
            queues: Default::default(),
            told: BTreeMap::new(),
            kept: BTreeMap::new(),
            writing: BTreeMap::new(),
            contests: Contests::default(),
            standby: Standby::No,
            withheld: Withheld::default(),
        }
    }

    /// News for a key.
    pub(super) fn mark(&mut self, key: ObjectRef, now: Time) {
        self.queue_of(&key).mark(key, now);
    }

    /// Takes in changes.
    pub(super) fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], now: Time) {
        let mut marked = Vec::new();
        self.module.observe(snapshot, changes, now, &mut |key| marked.push(key));
        for key in marked {
            self.mark(key, now);
        }
    }

    /// The next key that is due. It waits for those of earlier turns, but not for ever.
    pub(super) fn start(&mut self, now: Time) -> Option<ObjectRef> {
        let mut busy = None;
        let [queues @ .., _] = &mut self.queues;
        for queue in queues {
            if let Some(key) = start(queue, busy, now) {
                return Some(key);
            }
            busy = busy.max(queue.busy(now));
        }
        None
    }

    /// The same of those that wait for all modules, of which some may be busy.
    pub(super) fn start_last(&mut self, busy: Option<Time>, now: Time) -> Option<ObjectRef> {
        let [.., last] = &mut self.queues;
        start(last, busy, now)
    }

    /// If a key that others may wait for is due or being written: since when all of them are under way.
    pub(super) fn busy(&self, now: Time) -> Option<Time> {
        let [queues @ .., _] = &self.queues;
        queues.iter().filter_map(|queue| queue.busy(now)).max()
    }

    /// When the next key is due, while some modules may be busy.
    pub(super) fn next_due(&self, others: Option<Time>, now: Time) -> Option<Time> {
        let [queues @ .., last] = &self.queues;
        let mut next = None;
        let mut busy = None;
        for queue in queues {
            next = next.into_iter().chain(turn_of(queue, busy)).min();
            busy = busy.max(queue.busy(now));
        }
        next.into_iter().chain(turn_of(last, others)).min()
    }

    /// How many keys wait or are being written.
    pub(super) fn waiting(&self) -> usize {
        self.queues.iter().map(Queue::len).sum()
    }

    /// Takes in what came of a job.
    pub(super) fn finish(&mut self, job: Job, failures: Vec<Failure>, now: Time) {
        self.remember(&job, &failures, now);
        self.queue_of(&job.key).finish(&job.key, job.plan.ops, failures, now);
    }

    fn queue_of(&mut self, key: &ObjectRef) -> &mut Queue {
        let turn = self.module.turn(key) as usize;
        self.queues.get_mut(turn).expect("there is a queue for every turn")
    }

    pub(super) fn reads(&self, object: &ObjectRef) -> bool {
        self.watches.iter().any(|watch| watch.kind == object.kind)
    }

    /// Lets it write, or not, and tells what is new about that.
    pub(super) fn stand_by(&mut self, new: Standby, news: &mut Vec<News>) {
        let said = |standby: &Standby| match standby {
            Standby::Yes(said) => said.clone(),
            Standby::No => None,
        };
        let (before, now) = (said(&self.standby), said(&new));
        if before != now {
            news.extend(before.map(|said| News::Cleared(self.module.name(), said)));
            news.extend(now.map(|said| News::Raised(self.module.name(), said)));
        }
        self.standby = new;
    }

    /// Whether it may write.
    pub(super) fn may_write(&self) -> bool {
        matches!(self.standby, Standby::No)
    }

    /// Whether it plans though it may not write: somebody is known to do its job.
    pub(super) fn only_plans(&self) -> bool {
        matches!(self.standby, Standby::Yes(Some(_)))
    }

    /// How many writes are planned and not written.
    pub(super) fn withheld(&self) -> usize {
        self.withheld.writes()
    }

    /// Nobody is known any more to whom writes were left: their keys are due.
    pub(super) fn release(&mut self, now: Time) {
        for key in self.withheld.release() {
            self.mark(key, now);
        }
    }

    /// Plans for a key that was started, says what there is to say, and leaves the writes to whoever does the job.
    pub(super) fn withhold(&mut self, snapshot: &Snapshot, key: &ObjectRef, now: Time, news: &mut Vec<News>) {
        let plan = self.intended(snapshot, key, now);
        self.writing.remove(key);
        self.tell(key, &plan.diagnostics, news);
        self.withheld.set(key, plan.ops.len());
        self.queue_of(key).rest(key, false, plan.wake_at, now);
    }

    /// Whether its keys are looked at.
    pub(super) fn works(&self, snapshot: &Snapshot) -> bool {
        (self.may_write() || self.only_plans()) && self.is_awake(snapshot)
    }

    /// Whether everything that it reads was seen, and everything that it needs is served.
    pub(super) fn is_awake(&self, snapshot: &Snapshot) -> bool {
        self.watches.iter().all(|watch| match snapshot.service(watch.kind) {
            Service::Seen => true,
            Service::Unserved => !watch.needed,
            Service::Unknown => false,
        })
    }

    /// The plan for a key that was started, if there is something to write.
    pub(super) fn plan(
        &mut self,
        snapshot: &Snapshot,
        key: &ObjectRef,
        now: Time,
        news: &mut Vec<News>,
    ) -> Option<Plan> {
        let mut plan = self.intended(snapshot, key, now);
        self.give_in(snapshot, &mut plan, now);
        let queue = self.queue_of(key);
        plan.diagnostics.extend(queue.troubles(key, &plan.ops));
        let stuck = queue.is_stuck(key, &plan.ops);
        if plan.ops.is_empty() || stuck || queue.has_failed(key) {
            let own = self.module.report(snapshot, key, &plan);
            plan.ops.extend(report::report(snapshot, key, &plan, own, now));
        }
        self.tell(key, &plan.diagnostics, news);
        if stuck {
            plan.ops.retain(|op| op.phase == Phase::Report);
        }
        if plan.ops.is_empty() {
            self.writing.remove(key);
            let since = self.queue_of(key).rest(key, stuck, plan.wake_at, now);
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
        let heeds_pause = self.module.heeds_pause();
        let mut plan = difference(snapshot, intent, heeds_pause);
        self.tell_repairs(key, wanted, &mut plan);
        if heeds_pause && live.is_some_and(|live| live.meta.is_paused()) && !plan.ops.is_empty() {
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
            self.writing.insert(key.clone(), wanted);
        } else if wanted.is_empty() {
            self.kept.remove(key);
        } else {
            self.kept.insert(key.clone(), wanted);
        }
    }

    /// Leaves alone what somebody else changes back again and again. What is wanted anew is written all the same.
    fn give_in(&self, snapshot: &Snapshot, plan: &mut Plan, now: Time) {
        let Plan { ops, diagnostics, wake_at } = plan;
        ops.retain(|op| {
            let until = if op.repairs { self.contests.until(&op.object, now) } else { None };
            let Some(until) = until else { return true };
            let rival = snapshot.get(&op.object).and_then(|live| live.meta.rival.as_ref());
            let who = rival.map_or_else(|| "somebody else".to_owned(), |name| format!("`{name}`"));
            let message = format!("{who} changes it back again and again, so it is left alone for some minutes");
            let told = Diagnostic::new(Code::PeerActive, op.object.clone(), message);
            if !diagnostics.contains(&told) {
                diagnostics.push(told);
            }
            *wake_at = wake_at.iter().copied().chain([until]).min();
            false
        });
    }

    /// Keeps in mind what was stored, and counts what was stored before.
    fn remember(&mut self, job: &Job, failures: &[Failure], now: Time) {
        let Some(wanted) = self.writing.remove(&job.key) else { return };
        let kept = self.kept.entry(job.key.clone()).or_default();
        for (object, wish) in wanted {
            let mut ops = job.plan.ops.iter().filter(|op| op.object == object && op.phase != Phase::Report).peekable();
            if ops.peek().is_none() || failures.iter().any(|failure| failure.object == object) {
                continue;
            }
            if ops.any(|op| op.repairs) {
                self.contests.repaired(&object, now);
            }
            kept.retain(|(known, _)| *known != object);
            kept.push((object, wish));
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

/// The next key of a queue, unless those before it are busy and it has not waited long enough.
fn start(queue: &mut Queue, busy: Option<Time>, now: Time) -> Option<ObjectRef> {
    if turn_of(queue, busy).is_some_and(|turn| now < turn) { None } else { queue.start(now) }
}

/// When the first key of a queue has its turn, if those before it are busy and all under way since then. While there are
/// more of them than can be written at once, it would only be written too early, and again.
fn turn_of(queue: &Queue, busy: Option<Time>) -> Option<Time> {
    let due = queue.next_due()?;
    Some(busy.map_or(due, |since| (due.max(since) + PATIENCE).min(due + ENDURANCE)))
}

fn hash(shape: &Shape) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(shape)
}

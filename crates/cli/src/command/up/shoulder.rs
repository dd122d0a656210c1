//! Looks over the manager's shoulder, and tells the view.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

use rolewright_controller::Observer;
use rolewright_plan::engine::{Job, News, Outcome};
use rolewright_plan::op::Write;
use rolewright_plan::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::{Engine, ObjectRef, Op, Phase, Snapshot};

use super::change::{Change, Past};
use super::example::Scene;
use super::message::{Deed, Message, Sign, State, What};
use super::summary::{Keeps, Summary};

/// If something cannot be written by then, the rest is ready all the same.
const PATIENCE: Duration = Duration::from_secs(5);

/// The manager's observer.
pub(super) struct Shoulder {
    view: SyncSender<Message>,
    /// What is said once everything is there; then it is gone.
    summary: Option<Box<Summary>>,
    began: Instant,
    /// The plans that are being written, with what will be said of each of their writes.
    planned: HashMap<(usize, ObjectRef), Vec<(What, String)>>,
    /// The names of the modules, by place.
    modules: Vec<&'static str>,
    state: State,
    written: usize,
    /// What the manager itself deleted since it was last at rest.
    deleted: HashSet<ObjectRef>,
    /// Roles and bindings that the manager keeps, each with whom it hangs on.
    kept: BTreeMap<ObjectRef, Option<String>>,
    /// How it was when the manager last was at rest.
    past: Past,
}

impl Shoulder {
    pub(super) fn new(view: SyncSender<Message>, summary: Summary, began: Instant, modules: Vec<&'static str>) -> Self {
        Self {
            view,
            summary: Some(Box::new(summary)),
            began,
            planned: HashMap::new(),
            modules,
            state: State::default(),
            written: 0,
            deleted: HashSet::new(),
            kept: BTreeMap::new(),
            past: Past::default(),
        }
    }

    /// Says what went with its owner: the server deletes that, and mostly before the manager does.
    fn miss(&mut self, engine: &Engine) {
        let before = std::mem::replace(&mut self.kept, kept(engine.snapshot()));
        for (object, owner) in before.into_iter().filter(|(object, _)| !self.kept.contains_key(object)) {
            let Some(owner) = owner.filter(|_| !self.deleted.contains(&object)) else { continue };
            self.deed(What::Revoked(Sign::Delete), usize::MAX, &object, format!("{owner} is gone"));
        }
        self.deleted.clear();
    }

    /// The manager never waits for who looks: what a terminal that stands still cannot take is not shown.
    fn tell(&self, message: Message) {
        match self.view.try_send(message) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }

    fn deed(&self, what: What, module: usize, object: &ObjectRef, cause: String) {
        // What the beginning takes is told in one line.
        if self.summary.is_none() {
            let module = self.modules.get(module).copied().unwrap_or_default();
            self.tell(Message::Deed(Deed { what, module, object: object.clone(), cause }));
        }
    }
}

impl Observer for Shoulder {
    fn planned(&mut self, engine: &Engine, job: &Job) {
        let snapshot = engine.snapshot();
        let said =
            job.plan.ops.iter().map(|op| Change::of(snapshot, &self.past, op, &job.key).words(snapshot, op, &job.key));
        self.planned.insert((job.module, job.key.clone()), said.collect());
        let writes: Vec<&Op> = job.plan.ops.iter().filter(|op| op.phase != Phase::Report).collect();
        // A role that is kept for its own sake speaks for itself.
        if writes.iter().any(|op| op.object != job.key) {
            let cause = if writes.iter().all(|op| op.repairs) {
                "somebody changed what it needs".to_owned()
            } else {
                self.past.state(snapshot, &job.key)
            };
            self.deed(What::Planned(writes.len()), job.module, &job.key, cause);
        }
    }

    fn written(&mut self, job: &Job, outcomes: &[Outcome]) {
        let said = self.planned.remove(&(job.module, job.key.clone())).unwrap_or_default();
        let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        for (op, (what, cause)) in job.plan.ops.iter().zip(said) {
            if let Some(failure) = failures.iter().find(|failure| failure.object == op.object) {
                self.deed(What::Failed, job.module, &op.object, format!("{}: {}", failure.category, failure.message));
                continue;
            }
            self.written += usize::from(op.phase != Phase::Report);
            if matches!(op.write, Write::Delete { .. }) {
                self.deleted.insert(op.object.clone());
            }
            self.deed(what, job.module, &op.object, cause);
        }
    }

    fn heard(&mut self, engine: &Engine, news: &[News]) {
        for news in news {
            let (what, module, diagnostic) = match news {
                News::Raised(module, diagnostic) => (What::Problem(diagnostic.code.severity()), module, diagnostic),
                News::Cleared(module, diagnostic) => (What::Solved, module, diagnostic),
                News::Converged(..) => continue,
            };
            let module = self.modules.iter().position(|known| known == module).unwrap_or(usize::MAX);
            let cause = format!("{} {}", diagnostic.code, diagnostic.message);
            self.deed(what, module, &diagnostic.object, cause);
        }
        // A module that sleeps until its kinds are served has nothing to do, whatever waits for it.
        let awake = engine.modules().map(|(_, awake)| awake);
        let waiting = engine.waiting().zip(awake).filter(|(_, awake)| *awake).map(|((_, keys), _)| keys).sum();
        let is_late = self.summary.is_some() && self.began.elapsed() > PATIENCE;
        let rests = engine.has_seen_all() && (waiting == 0 || is_late);
        if rests {
            self.miss(engine);
            self.past = Past::of(engine.snapshot());
        }
        if let Some(mut summary) = self.summary.take_if(|_| rests) {
            let keeps = |(module, awake)| Keeps::of(module, awake, engine.snapshot());
            summary.modules = engine.modules().map(keeps).collect();
            summary.scene = Scene::of(engine.snapshot(), summary.has_example);
            summary.kept = self.kept.len();
            summary.written = self.written;
            summary.ready_in = self.began.elapsed();
            self.tell(Message::Ready(summary));
        }
        let state = State { kept: self.kept.len(), waiting };
        if self.summary.is_none() && state != self.state {
            self.state = state;
            self.tell(Message::State(state));
        }
    }
}

/// Roles and bindings that the manager keeps, each with whom it hangs on.
fn kept(snapshot: &Snapshot) -> BTreeMap<ObjectRef, Option<String>> {
    let kinds = [&CLUSTER_ROLE, &ROLE, &CLUSTER_ROLE_BINDING, &ROLE_BINDING];
    let ours = kinds.into_iter().flat_map(|kind| snapshot.all(kind).map(move |live| (kind, &live.meta)));
    let kept = ours.filter(|(_, meta)| meta.ours.is_some()).map(|(kind, meta)| {
        let object = ObjectRef { kind, namespace: meta.namespace.clone(), name: meta.name.clone() };
        (object, meta.controller().map(|owner| format!("{} {}", owner.kind, owner.name)))
    });
    kept.collect()
}

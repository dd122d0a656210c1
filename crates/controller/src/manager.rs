//! The manager: feeds the engine with what the watches see, and writes what it plans while we lead.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll};
use kube::Client;
use rolewright_plan::engine::{Job, News, Next, Outcome};
use rolewright_plan::{Code, Diagnostic, Engine, Event, Kind, Module, ObjectRef, Time};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tracing::Instrument;

use crate::apply::{PATIENCE, Writer};
use crate::clock::Clock;
use crate::lease::{self, Leadership};
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::served::Versions;
use crate::tasks::last_words;
use crate::watch::{Told, Troubles, Watching, read};

/// Whatever happens, the manager gives a sign of life this often.
pub(crate) const PULSE: Duration = Duration::from_secs(10);

/// How the manager works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many keys are written for at the same time.
    pub jobs: usize,
    /// How many requests are under way at the same time.
    pub requests: usize,
    /// How often everything is listed and looked at anew.
    pub resync: Duration,
    /// How often to ask for a kind that is not served yet.
    pub discovery: Duration,
    /// The command that prints the rights that we need, for who sees that some are missing.
    pub rights: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            jobs: 32,
            requests: 16,
            resync: Duration::from_hours(1),
            discovery: Duration::from_secs(1),
            rights: "rolewright manifests rbac".to_owned(),
        }
    }
}

/// Whether we lead. It is a level: asked before every write.
#[derive(Clone)]
pub struct Leading {
    now: Arc<dyn Fn() -> bool + Send + Sync>,
    changes: watch::Receiver<bool>,
    /// Whoever else leads and is no rolewright, with what they hold.
    peer: Arc<dyn Fn() -> Option<Diagnostic> + Send + Sync>,
    /// How long a write may take.
    patience: Duration,
}

impl Leading {
    /// Leadership that `now` knows at any time, and that tells when to look.
    pub fn new(now: impl Fn() -> bool + Send + Sync + 'static, changes: watch::Receiver<bool>) -> Self {
        Self { now: Arc::new(now), changes, peer: Arc::new(|| None), patience: PATIENCE }
    }

    /// Leadership by a lease.
    pub fn by(leadership: Leadership, lease: ObjectRef) -> Self {
        let changes = leadership.changes();
        let other = leadership.clone();
        let peer = move || {
            let holder = other.other();
            let message = || format!("`{holder}` holds it and does the job that it is for; the module only plans");
            lease::is_foreign(&holder).then(|| Diagnostic::new(Code::PeerActive, lease.clone(), message()))
        };
        let patience = leadership.margin().min(PATIENCE);
        Self { peer: Arc::new(peer), patience, ..Self::new(move || leadership.is_leader(), changes) }
    }

    /// Nobody else is there.
    pub fn alone() -> Self {
        let (forever, changes) = watch::channel(true);
        Self::new(move || *forever.borrow(), changes)
    }

    fn now(&self) -> bool {
        (self.now)()
    }
}

impl fmt::Debug for Leading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leading").field(&self.now()).finish()
    }
}

/// A task died that must not.
#[derive(Debug, thiserror::Error)]
pub enum ManagerError {
    /// A watch: of what, and its last words.
    #[error("the watch of {0} ended: {1}")]
    Watch(&'static str, String),
    /// A write, with its last words.
    #[error("a write ended: {0}")]
    Write(String),
}

/// Runs modules on a cluster.
pub struct Manager {
    engine: Engine,
    writer: Writer,
    /// What decides whether each module writes.
    gates: Vec<Gate>,
    clock: Clock,
    settings: Settings,
    troubles: Troubles,
    observer: Box<dyn Observer>,
}

/// Whether a module may write.
#[derive(Clone)]
struct Gate {
    leading: Leading,
    /// When we last looked at everything, while we lead.
    swept: Option<Time>,
}

type Writes = JoinSet<(Job, Vec<Outcome>)>;

impl Manager {
    /// A manager of these modules.
    pub fn new(
        client: Client,
        modules: impl IntoIterator<Item = Box<dyn Module>>,
        leading: Leading,
        settings: Settings,
    ) -> Self {
        let (may_write, patience) = (leading.now.clone(), leading.patience);
        let requests = Arc::new(Semaphore::new(settings.requests));
        let engine = Engine::new(modules);
        let gate = Gate { leading, swept: None };
        let gates = engine.modules().map(|_| gate.clone()).collect();
        Self {
            engine,
            gates,
            writer: Writer {
                client,
                versions: Versions::default(),
                requests,
                may_write,
                patience,
                metrics: Arc::default(),
            },
            clock: Clock::start(),
            settings,
            troubles: Troubles::default(),
            observer: Box::new(()),
        }
    }

    /// The same, which counts what it does.
    pub fn with_metrics(mut self, metrics: Arc<Metrics>) -> Self {
        self.writer.metrics = metrics;
        self
    }

    /// The same, which somebody looks at.
    pub fn with_observer(mut self, observer: Box<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// The same, in which another lease decides about one module.
    pub fn with_leading(mut self, module: usize, leading: Leading) -> Self {
        if let Some(gate) = self.gates.get_mut(module) {
            gate.leading = leading;
        }
        self
    }

    /// What keeps it from seeing everything.
    pub(crate) fn troubles(&self) -> Troubles {
        self.troubles.clone()
    }

    /// Works until `shutdown` is done, then finishes what is being written. `heard` is called with whatever happens.
    pub async fn run(
        mut self,
        shutdown: impl Future<Output = ()>,
        mut heard: impl FnMut(&Engine, &[News]),
    ) -> Result<(), ManagerError> {
        let (tell, mut events) = mpsc::channel(1024);
        let (mut watches, kinds) = self.watch(tell);
        let mut writes: Writes = JoinSet::new();
        let mut batch: Vec<Told> = Vec::new();
        let mut changes = self.gates.iter().map(|gate| changes(gate.leading.changes.clone())).collect::<SelectAll<_>>();
        tokio::pin!(shutdown);
        let mut ended = loop {
            let due = self.start(&mut writes);
            let news = self.engine.news();
            heard(&self.engine, &news);
            self.observer.heard(&self.engine, &news);
            tokio::select! {
                () = &mut shutdown => break Ok(()),
                count = events.recv_many(&mut batch, 4096) => {
                    if count > 0 {
                        self.hear(batch.drain(..));
                    }
                }
                Some(done) = writes.join_next() => {
                    // What else is done is taken along: looking at everything for each of them would cost more than they do.
                    let others = std::iter::from_fn(|| writes.try_join_next());
                    if let Err(error) = std::iter::once(done).chain(others).try_for_each(|done| self.finish(done)) {
                        break Err(error);
                    }
                }
                Some(ended) = watches.join_next_with_id() => {
                    let (id, words) = match ended {
                        Ok((id, ())) => (id, "no reason was given".to_owned()),
                        Err(error) => (error.id(), last_words(error)),
                    };
                    break Err(ManagerError::Watch(kinds.get(&id).map_or("an unknown kind", |kind| kind.plural), words));
                }
                () = tokio::time::sleep_until(due) => {}
                Some(()) = changes.next() => {}
            }
        };
        drop(events);
        // However it ends, what is being written is written before anybody else may lead.
        while let Some(done) = writes.join_next().await {
            ended = ended.and(self.finish(done));
        }
        ended
    }

    fn finish(&mut self, done: Result<(Job, Vec<Outcome>), JoinError>) -> Result<(), ManagerError> {
        let (job, outcomes) = done.map_err(|error| ManagerError::Write(last_words(error)))?;
        if let Some((module, _)) = self.engine.modules().nth(job.module) {
            self.writer.metrics.reconciled(module.name(), outcomes.iter().all(Result::is_ok));
        }
        self.observer.written(&job, &outcomes);
        self.engine.finish(job, outcomes, self.clock.now());
        Ok(())
    }

    /// Takes in what the watches tell. What is known already is not even read.
    fn hear(&mut self, told: impl Iterator<Item = Told>) {
        let mut is_listed = false;
        let mut news = Vec::new();
        for told in told {
            match told {
                Told::News(event) => {
                    is_listed |= matches!(event, Event::All(..) | Event::Unserved(_));
                    news.push(event);
                }
                Told::Seen(kind, raw) => {
                    // A list is believed even if it is older than what is known, and what follows it counts again.
                    let known = |version| self.engine.snapshot().knows(kind, &raw.place(), version);
                    if is_listed || !raw.version().is_some_and(known) {
                        news.extend(read(kind, &raw).map(|live| Event::Set(kind, live)));
                    }
                }
            }
        }
        self.engine.take(news, self.clock.now());
    }

    fn watch(&self, events: mpsc::Sender<Told>) -> (JoinSet<()>, HashMap<Id, &'static Kind>) {
        let watching = Watching {
            client: self.writer.client.clone(),
            versions: self.writer.versions.clone(),
            events,
            resync: self.settings.resync,
            patience: self.settings.discovery,
            metrics: self.writer.metrics.clone(),
            troubles: self.troubles.clone(),
            rights: self.settings.rights.as_str().into(),
        };
        let mut watches = JoinSet::new();
        let kinds = self.engine.watches().into_iter().map(|watch| {
            let task = watches.spawn(watching.clone().watch(watch.kind));
            (task.id(), watch.kind)
        });
        let kinds = kinds.collect();
        (watches, kinds)
    }

    /// Lets modules write that may. Who has just come to lead looks at everything, and now and then again.
    fn open_gates(&mut self, now: Time) {
        for (module, gate) in self.gates.iter_mut().enumerate() {
            if !gate.leading.now() {
                gate.swept = None;
                self.engine.stand_by(module, (gate.leading.peer)());
                continue;
            }
            self.engine.resume(module);
            if gate.swept.is_none_or(|swept| now.since(swept) >= self.settings.resync) {
                self.engine.mark_module(module, now);
                gate.swept = Some(now);
            }
        }
    }

    /// Starts what is due and may be written; returns when to look again.
    fn start(&mut self, writes: &mut Writes) -> Instant {
        let now = self.clock.now();
        let later = self.clock.instant(now + PULSE.min(self.settings.resync));
        self.open_gates(now);
        while writes.len() < self.settings.jobs {
            match self.engine.next(now) {
                Next::Job(job) => {
                    self.observer.planned(&self.engine, &job);
                    let mut writer = self.writer.clone();
                    if let Some(Gate { leading, .. }) = self.gates.get(job.module) {
                        writer.may_write = leading.now.clone();
                        writer.patience = leading.patience;
                    }
                    let module = self.engine.modules().nth(job.module).map_or("", |(module, _)| module.name());
                    let span = tracing::debug_span!("reconcile", module, key = %job.key);
                    let written = async move {
                        let outcomes = writer.write(&job.plan).await;
                        (job, outcomes)
                    };
                    writes.spawn(written.instrument(span));
                }
                Next::Wait(due) => return due.map_or(later, |due| self.clock.instant(due).min(later)),
            }
        }
        later
    }
}

/// Each time that it is another one who leads, or may be.
fn changes(leading: watch::Receiver<bool>) -> BoxStream<'static, ()> {
    let next = |mut leading: watch::Receiver<bool>| async move { leading.changed().await.ok().map(|()| ((), leading)) };
    futures::stream::unfold(leading, next).boxed()
}

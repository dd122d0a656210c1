//! The manager: feeds the engine with what the watches see, and writes what it plans while we lead.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use rolewright_plan::engine::{Job, News, Next, Outcome};
use rolewright_plan::{Engine, Event, Module, Time};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::apply::Writer;
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::served::Versions;
use crate::watch::Watching;

/// Whatever happens, the manager gives a sign of life this often.
pub(crate) const PULSE: Duration = Duration::from_secs(10);

/// How the manager works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many keys are written for at the same time.
    pub jobs: usize,
    /// How many requests are under way at the same time.
    pub requests: usize,
    /// How often everything is listed and looked at anew.
    pub resync: Duration,
    /// How often to ask for a kind that is not served yet.
    pub discovery: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { jobs: 32, requests: 16, resync: Duration::from_hours(1), discovery: Duration::from_secs(1) }
    }
}

/// Whether we lead. It is a level: asked before every write.
#[derive(Clone)]
pub struct Leading {
    now: Arc<dyn Fn() -> bool + Send + Sync>,
    changes: watch::Receiver<bool>,
}

impl Leading {
    /// Leadership that `now` knows at any time, and that tells when to look.
    pub fn new(now: impl Fn() -> bool + Send + Sync + 'static, changes: watch::Receiver<bool>) -> Self {
        Self { now: Arc::new(now), changes }
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
    /// A watch.
    #[error("a watch ended")]
    Watch(#[source] Option<JoinError>),
    /// A write.
    #[error("a write ended")]
    Write(#[from] JoinError),
}

/// Runs modules on a cluster.
pub struct Manager {
    engine: Engine,
    writer: Writer,
    leading: Leading,
    clock: Clock,
    settings: Settings,
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
        let may_write = leading.now.clone();
        let requests = Arc::new(Semaphore::new(settings.requests));
        Self {
            engine: Engine::new(modules),
            writer: Writer { client, versions: Versions::default(), requests, may_write, metrics: Arc::default() },
            leading,
            clock: Clock::start(),
            settings,
            swept: None,
        }
    }

    /// The same, which counts what it does.
    pub fn with_metrics(mut self, metrics: Arc<Metrics>) -> Self {
        self.writer.metrics = metrics;
        self
    }

    /// Works until `shutdown` is done, then finishes what is being written. `heard` is called with whatever happens.
    pub async fn run(
        mut self,
        shutdown: impl Future<Output = ()>,
        mut heard: impl FnMut(&Engine, &[News]),
    ) -> Result<(), ManagerError> {
        let (tell, mut events) = mpsc::channel(1024);
        let mut watches = self.watch(tell);
        let mut writes: Writes = JoinSet::new();
        let mut batch: Vec<Event> = Vec::new();
        tokio::pin!(shutdown);
        loop {
            let due = self.start(&mut writes);
            let news = self.engine.news();
            heard(&self.engine, &news);
            tokio::select! {
                () = &mut shutdown => break,
                count = events.recv_many(&mut batch, 4096) => {
                    if count > 0 {
                        self.engine.take(batch.drain(..), self.clock.now());
                    }
                }
                Some(done) = writes.join_next() => {
                    self.finish(done?);
                }
                Some(ended) = watches.join_next() => return Err(ManagerError::Watch(ended.err())),
                () = tokio::time::sleep_until(due) => {}
                _ = self.leading.changes.changed() => {}
            }
        }
        drop(events);
        while let Some(done) = writes.join_next().await {
            self.finish(done?);
        }
        Ok(())
    }

    fn finish(&mut self, (job, outcomes): (Job, Vec<Outcome>)) {
        if let Some((module, _)) = self.engine.modules().nth(job.module) {
            self.writer.metrics.reconciled(module.name(), outcomes.iter().all(Result::is_ok));
        }
        self.engine.finish(job, outcomes, self.clock.now());
    }

    fn watch(&self, events: mpsc::Sender<Event>) -> JoinSet<()> {
        let watching = Watching {
            client: self.writer.client.clone(),
            versions: self.writer.versions.clone(),
            events,
            resync: self.settings.resync,
            patience: self.settings.discovery,
            metrics: self.writer.metrics.clone(),
        };
        self.engine.watches().into_iter().map(|watch| watching.clone().watch(watch.kind)).collect()
    }

    /// Starts what is due and may be written; returns when to look again.
    fn start(&mut self, writes: &mut Writes) -> Instant {
        let now = self.clock.now();
        let later = self.clock.instant(now + PULSE.min(self.settings.resync));
        if !self.leading.now() {
            self.swept = None;
            return later;
        }
        // Who has just come to lead looks at everything, and now and then again.
        if self.swept.is_none_or(|swept| now.since(swept) >= self.settings.resync) {
            self.engine.mark_all(now);
            self.swept = Some(now);
        }
        while writes.len() < self.settings.jobs {
            match self.engine.next(now) {
                Next::Job(job) => {
                    let writer = self.writer.clone();
                    writes.spawn(async move {
                        let outcomes = writer.write(&job.plan).await;
                        (job, outcomes)
                    });
                }
                Next::Wait(due) => return due.map_or(later, |due| self.clock.instant(due).min(later)),
            }
        }
        later
    }
}

//! Every long task is joined here: whatever ends before it was told to ends the process, with an error that names it.
//!
//! The end has two steps. Workers end first; services, such as the lease that lets the workers write, end after them.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

/// What tasks fail with.
pub type TaskError = Box<dyn std::error::Error + Send + Sync>;

/// The long tasks of a process.
#[derive(Debug)]
pub struct Tasks {
    workers: Group,
    services: Group,
}

/// Why a process ended other than it should.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// A task was done before it was told to end.
    #[error("task `{0}` ended by itself")]
    Early(&'static str),
    /// A task failed.
    #[error("task `{0}` failed")]
    Failed(&'static str, #[source] TaskError),
    /// A task panicked.
    #[error("task `{0}` panicked: {1}")]
    Panicked(&'static str, String),
    /// Tasks took too long to end.
    #[error("these tasks did not end in time: {}", .0.join(", "))]
    Late(Vec<&'static str>),
    /// Somebody did not want to wait.
    #[error("interrupted while these tasks were ending: {}", .0.join(", "))]
    Interrupted(Vec<&'static str>),
}

/// Tells a task to end. Clones tell the same.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Done when the task should end.
    pub async fn requested(mut self) {
        // Who has nobody left to tell it ends, too.
        let _ = self.0.wait_for(|stop| *stop).await;
    }

    /// Whether the task should end.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }
}

impl Default for Tasks {
    fn default() -> Self {
        Self { workers: Group::new(), services: Group::new() }
    }
}

impl Tasks {
    /// Starts a task that ends first.
    pub fn work<F, E>(&mut self, name: &'static str, task: impl FnOnce(Stop) -> F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        self.workers.spawn(name, task);
    }

    /// Starts a task that ends when no worker needs it any more.
    pub fn serve<F, E>(&mut self, name: &'static str, task: impl FnOnce(Stop) -> F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        self.services.spawn(name, task);
    }

    /// Waits until `signal` says to end or a task ends, then lets all tasks end for as long as `grace`. A second signal
    /// ends that wait.
    pub async fn run<S: Future<Output = ()>>(
        mut self,
        mut signal: impl FnMut() -> S,
        grace: Duration,
    ) -> Result<(), Ended> {
        let first = tokio::select! {
            () = signal() => Ok(()),
            Some(ended) = self.workers.next() => Err(early(ended)),
            Some(ended) = self.services.next() => Err(early(ended)),
        };
        match &first {
            Ok(()) => tracing::info!("ending"),
            Err(error) => tracing::error!(error = %Chain(error), "ending"),
        }
        let deadline = Instant::now() + grace;
        let rest = tokio::select! {
            rest = timeout_at(deadline, self.end()) => rest.ok(),
            () = signal() => return first.and(Err(Ended::Interrupted(self.names()))),
        };
        first.and(rest.unwrap_or_else(|| Err(Ended::Late(self.names()))))
    }

    /// Ends the workers and then the services; the first failure is told.
    async fn end(&mut self) -> Result<(), Ended> {
        let workers = self.workers.end().await;
        let services = self.services.end().await;
        workers.and(services)
    }

    /// Kills a task. Returns whether there is one of that name.
    #[cfg(test)]
    pub(crate) fn kill(&self, name: &str) -> bool {
        let mut all = self.workers.handles.iter().chain(&self.services.handles);
        all.find(|(known, _)| *known == name).map(|(_, handle)| handle.abort()).is_some()
    }

    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.workers.names.values().chain(self.services.names.values()).copied().collect();
        names.sort_unstable();
        names
    }
}

/// Tasks that end together.
#[derive(Debug)]
struct Group {
    set: JoinSet<Result<(), TaskError>>,
    names: HashMap<Id, &'static str>,
    stop: watch::Sender<bool>,
    /// What tests kill tasks with.
    #[cfg(test)]
    handles: Vec<(&'static str, tokio::task::AbortHandle)>,
}

impl Group {
    fn new() -> Self {
        Self {
            set: JoinSet::new(),
            names: HashMap::new(),
            stop: watch::Sender::new(false),
            #[cfg(test)]
            handles: Vec::new(),
        }
    }

    fn spawn<F, E>(&mut self, name: &'static str, task: impl FnOnce(Stop) -> F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<TaskError>,
    {
        let future = task(Stop(self.stop.subscribe()));
        let handle = self.set.spawn(async move { future.await.map_err(Into::into) });
        self.names.insert(handle.id(), name);
        #[cfg(test)]
        self.handles.push((name, handle));
    }

    /// The next task that ends: its name, or what it failed with. Nothing if there is none.
    async fn next(&mut self) -> Option<Result<&'static str, Ended>> {
        let joined = self.set.join_next_with_id().await?;
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let name = self.names.remove(&id).unwrap_or("unknown");
        Some(match joined {
            Ok((_, Ok(()))) => Ok(name),
            Ok((_, Err(error))) => Err(Ended::Failed(name, error)),
            Err(error) if error.is_cancelled() => Err(Ended::Early(name)),
            Err(error) => Err(Ended::Panicked(name, last_words(error))),
        })
    }

    async fn end(&mut self) -> Result<(), Ended> {
        self.stop.send_replace(true);
        let mut all = Ok(());
        while let Some(ended) = self.next().await {
            all = all.and(ended.map(drop));
        }
        all
    }
}

/// A task that ends unasked is an error even if it found none.
fn early(ended: Result<&'static str, Ended>) -> Ended {
    match ended {
        Ok(name) => Ended::Early(name),
        Err(error) => error,
    }
}

/// What a task said when it died.
pub(crate) fn last_words(error: JoinError) -> String {
    let Ok(payload): Result<Box<dyn Any + Send>, _> = error.try_into_panic() else { return "cancelled".to_owned() };
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// An error with all that caused it.
struct Chain<'e>(&'e Ended);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

//! Kubernetes events: what a user should know, told once, beside the object that it is about.
//!
//! An event's name follows from the object, the reason and the words, so the same is not told again by the next process:
//! the server says that it is there already. What went away and came back is another transition: its name ends in how often
//! that was. `create` on events is all the right this takes.

mod event;
mod refusal;
mod returns;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::api::events::v1::Event;
use kube::api::PostParams;
use kube::{Api, Client};
use rolewright_plan::Diagnostic;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{sleep, timeout};

use crate::metrics::{Metrics, Told};
use event::event;
use refusal::Refusal;
use returns::Returns;

/// What waits beyond this is dropped: events are a courtesy, memory is not.
const QUEUE: usize = 512;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a server that is busy is asked.
const TRIES: u32 = 4;

/// Takes events. Never waits.
#[derive(Clone, Debug)]
pub struct Teller {
    queue: Sender<Event>,
    metrics: Arc<Metrics>,
    instance: Arc<str>,
    returns: Arc<Mutex<Returns>>,
}

/// Sends events.
pub struct Telling {
    queue: Receiver<Event>,
    client: Client,
    metrics: Arc<Metrics>,
    refusal: Refusal,
}

/// Both ends. `instance` tells this process from others of its kind.
pub fn telling(client: Client, instance: &str, metrics: Arc<Metrics>) -> (Teller, Telling) {
    let (sender, queue) = mpsc::channel(QUEUE);
    let teller = Teller { queue: sender, metrics: metrics.clone(), instance: instance.into(), returns: Arc::default() };
    (teller, Telling { queue, client, metrics, refusal: Refusal::default() })
}

impl Teller {
    /// Tells what a module found. `uid` is the object's, as far as it is known.
    pub fn tell(&self, module: &str, diagnostic: &Diagnostic, uid: &str) {
        let returned = self.returns.lock().unwrap_or_else(PoisonError::into_inner).of(diagnostic);
        if self.queue.try_send(event(module, diagnostic, uid, &self.instance, returned)).is_err() {
            self.metrics.told(Told::Dropped);
        }
    }

    /// What was told is over. If it comes back, that is told again.
    pub fn is_over(&self, diagnostic: &Diagnostic) {
        self.returns.lock().unwrap_or_else(PoisonError::into_inner).went(diagnostic);
    }
}

impl Telling {
    /// With the command that prints the rights that we need, for who sees that events are forbidden.
    #[must_use]
    pub fn with_rights(mut self, command: &str) -> Self {
        self.refusal = Refusal::new(command);
        self
    }

    /// Sends events until `shutdown` is done; what waits then is dropped.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) {
        let shutdown = shutdown.shared();
        loop {
            tokio::select! {
                () = shutdown.clone() => break,
                Some(event) = self.queue.recv() => {
                    // An event that is being sent gets its answer, unless that takes long.
                    let given_up = async {
                        shutdown.clone().await;
                        sleep(Duration::from_secs(1)).await;
                    };
                    let told = tokio::select! {
                        biased;
                        told = send(&self.client, &event, &mut self.refusal) => told,
                        () = given_up => Told::Dropped,
                    };
                    self.metrics.told(told);
                }
            }
        }
        self.queue.close();
        while self.queue.try_recv().is_ok() {
            self.metrics.told(Told::Dropped);
        }
    }
}

async fn send(client: &Client, event: &Event, refusal: &mut Refusal) -> Told {
    let namespace = event.metadata.namespace.as_deref().unwrap_or_default();
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let mut pause = Duration::from_millis(500);
    for _ in 1..TRIES {
        match attempt(&events, event, refusal).await {
            Ok(told) => return told,
            Err(retry_after) => sleep(retry_after.unwrap_or(pause)).await,
        }
        pause *= 2;
    }
    attempt(&events, event, refusal).await.unwrap_or(Told::Failed)
}

/// What came of it, or an error if it is worth another try, perhaps after some time.
async fn attempt(events: &Api<Event>, event: &Event, refusal: &mut Refusal) -> Result<Told, Option<Duration>> {
    let status = match timeout(PATIENCE, events.create(&PostParams::default(), event)).await {
        Ok(Ok(_)) => {
            refusal.end();
            return Ok(Told::Created);
        }
        Ok(Err(kube::Error::Api(status))) if status.is_already_exists() => return Ok(Told::Known),
        Ok(Err(kube::Error::Api(status))) if status.code != 429 && status.code < 500 => status,
        Ok(Err(kube::Error::Api(status))) => {
            let seconds = status.details.map_or(0, |details| details.retry_after_seconds);
            return Err((seconds > 0).then(|| Duration::from_secs(seconds.into()).min(PATIENCE)));
        }
        Ok(Err(_)) | Err(_) => return Err(None),
    };
    if let Some(hint) = refusal.begin(&status) {
        tracing::warn!(hint, "events cannot be told: {}", status.message);
    } else {
        tracing::debug!(error = status.message, "an event was refused");
    }
    Ok(Told::Failed)
}

//! The whole process: lease, watches, writes, events and health, all joined; whatever ends ends everything.

#[cfg(test)]
mod tests;

mod elections;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use rolewright_plan::Module;

use crate::events::telling;
use crate::health::{Flag, Health, HealthError, Heartbeat, Listening};
use crate::lease;
use crate::manager::{Manager, PULSE, Settings};
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::tasks::{Ended, Tasks};
use crate::witness::Witness;
use elections::Elections;

/// How the process works.
#[derive(Clone, Debug)]
pub struct Process {
    /// How the manager works.
    pub manager: Settings,
    /// The leases to hold while writing.
    pub leases: Leases,
    /// Where health and metrics are asked for, if anywhere.
    pub listen: Option<SocketAddr>,
    /// Who we are, in events.
    pub instance: String,
    /// How long the end may take.
    pub grace: Duration,
}

/// Which leases are held while writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leases {
    /// The manager's own, and those of the controllers whose jobs its modules do.
    All(lease::Settings),
    /// Only the latter, held like this: no other manager of ours is there, but theirs may be.
    Shared(lease::Settings),
    /// None: nobody else can be there.
    None,
}

/// The process could not start, or ended other than it should.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nobody can ask how it is.
    #[error(transparent)]
    Health(#[from] HealthError),
    /// No election can be held.
    #[error(transparent)]
    Lease(#[from] lease::SettingsError),
    /// A task ended.
    #[error(transparent)]
    Ended(#[from] Ended),
}

/// Runs modules on a cluster until `signal` is done; a second one does not wait for the end.
pub async fn run<S: Future<Output = ()>>(
    client: Client,
    modules: Vec<Box<dyn Module>>,
    process: Process,
    signal: impl FnMut() -> S,
) -> Result<(), RunError> {
    run_observed(client, modules, process, Box::new(()), signal).await
}

/// The same, while somebody looks.
pub async fn run_observed<S: Future<Output = ()>>(
    client: Client,
    modules: Vec<Box<dyn Module>>,
    process: Process,
    observer: Box<dyn Observer>,
    signal: impl FnMut() -> S,
) -> Result<(), RunError> {
    let grace = process.grace;
    let tasks = start(client, modules, process, observer).await?;
    Ok(tasks.run(signal, grace).await?)
}

/// Starts every task there is. What can fail fails before the first of them: nobody takes a lease and dies with it.
async fn start(
    client: Client,
    modules: Vec<Box<dyn Module>>,
    process: Process,
    observer: Box<dyn Observer>,
) -> Result<Tasks, RunError> {
    let metrics = Arc::new(Metrics::default());
    let listening = match process.listen {
        Some(address) => Some(Listening::on(address).await?),
        None => None,
    };
    let elections = Elections::called(&client, &modules, process.leases, &metrics)?;
    let mut tasks = Tasks::default();
    let (leading, own) = elections.hold(&mut tasks, &metrics);
    let (teller, telling) = telling(client.clone(), &process.instance, metrics.clone());
    let telling = telling.with_rights(&process.manager.rights);
    tasks.serve("events", |stop| async {
        telling.run(stop.requested()).await;
        Ok::<(), Ended>(())
    });
    let manager = Manager::new(client, modules, leading, process.manager);
    let mut manager = manager.with_metrics(metrics.clone()).with_observer(observer);
    for (module, leading) in own {
        manager = manager.with_leading(module, leading);
    }
    let seen = Flag::new("not everything has been listed yet");
    let beat = Heartbeat::new(PULSE * 6);
    if let Some(listening) = listening {
        let (flag, heart, troubles) = (seen.clone(), beat.clone(), manager.troubles());
        let listed = move || flag.check().map_err(|why| [vec![why], troubles.told()].concat().join("; "));
        let health = Health::new(metrics.clone()).live("manager", move || heart.check()).ready("watches", listed);
        tracing::info!(address = %listening.address, "health and metrics");
        tasks.serve("health", |stop| async {
            listening.run(health, stop.requested()).await;
            Ok::<(), Ended>(())
        });
    }
    let witness = Witness { metrics, events: Some(teller) };
    tasks.work("manager", |stop| {
        manager.run(stop.requested(), move |engine, news| {
            beat.beat();
            if engine.has_seen_all() {
                seen.pass();
            }
            witness.hear(engine, news);
        })
    });
    Ok(tasks)
}

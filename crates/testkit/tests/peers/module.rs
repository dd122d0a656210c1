//! Our manager, in this process, with the module that does what Crossplane's manager does.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rolewright_controller::manager::ManagerError;
use rolewright_controller::metrics::Metrics;
use rolewright_controller::witness::Witness;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::Module;
use rolewright_plan::crossplane::{self, Crossplane};
use rolewright_testkit::manifest::counted;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::chart::BOUNDARY;
use crate::servers::{Home, PATIENCE};

/// It runs until it is ended.
pub(crate) struct Ours {
    metrics: Arc<Metrics>,
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), ManagerError>>,
}

/// The settings that the chart's flags mean.
pub(crate) fn stock() -> crossplane::Settings {
    crossplane::Settings { boundary_role: Some(BOUNDARY.into()), ..crossplane::Settings::default() }
}

impl Ours {
    pub(crate) fn start(home: &Home, settings: crossplane::Settings) -> Self {
        let modules: [Box<dyn Module>; 1] = [Box::new(Crossplane::new(settings))];
        let settings = Settings { discovery: Duration::from_millis(50), ..Settings::default() };
        let metrics = Arc::new(Metrics::default());
        let manager = Manager::new(home.client.clone(), modules, Leading::alone(), settings);
        let manager = manager.with_metrics(metrics.clone());
        let (end, shutdown) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = shutdown.await;
        };
        let witness = Witness { metrics: metrics.clone(), events: None };
        let ended = tokio::spawn(manager.run(shutdown, move |engine, news| witness.hear(engine, news)));
        Self { metrics, end, ended }
    }

    /// What a metric counts, over all of its labels.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        counted(&self.metrics.encode(), name, "")
    }

    /// Ends it in an orderly way.
    pub(crate) async fn end(self) -> Result<()> {
        let _ = self.end.send(());
        timeout(PATIENCE, self.ended).await.context("our manager does not end")???;
        Ok(())
    }
}

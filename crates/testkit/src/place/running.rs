//! Managers that come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_controller::manager::ManagerError;
use rolewright_controller::metrics::Metrics;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::engine::News;
use rolewright_plan::{Diagnostic, Engine, Module};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::{PATIENCE, Place};
use crate::fault::{FaultLayer, Plan};
use crate::manifest::counted;

/// A manager in this process, which always leads.
#[derive(Debug)]
pub struct Running {
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// What it asks for.
    pub requests: FaultLayer,
    idle: Arc<AtomicBool>,
    seen: Arc<AtomicBool>,
    end: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), ManagerError>>,
}

/// A manager that looks often.
pub fn quick() -> Settings {
    Settings { discovery: Duration::from_millis(20), ..Settings::default() }
}

/// Whether everything was seen and nothing is left to do.
pub fn is_idle(engine: &Engine) -> bool {
    engine.has_seen_all() && engine.waiting().all(|(_, keys)| keys == 0)
}

impl Place {
    /// Starts a manager with these modules. What goes wrong is shown.
    #[expect(clippy::print_stdout, reason = "what a manager complains of")]
    pub fn manage(&self, modules: Vec<Box<dyn Module>>) -> Result<Running> {
        self.start(modules, |problem| println!("  {problem}"))
    }

    fn start(&self, modules: Vec<Box<dyn Module>>, show: fn(&Diagnostic)) -> Result<Running> {
        let requests = FaultLayer::new(0, Plan::default());
        let metrics = Arc::new(Metrics::default());
        let manager = Manager::new(self.client_through(&requests)?, modules, Leading::alone(), quick());
        let manager = manager.with_metrics(metrics.clone());
        let (end, ended) = oneshot::channel::<()>();
        let shutdown = async {
            // Whoever lets go of it ends it as well.
            let _ = ended.await;
        };
        let idle = Arc::new(AtomicBool::new(false));
        let seen = Arc::new(AtomicBool::new(false));
        let (rests, sees, counts) = (idle.clone(), seen.clone(), metrics.clone());
        let heard = move |engine: &Engine, news: &[News]| {
            rests.store(is_idle(engine), Ordering::SeqCst);
            sees.store(engine.has_seen_all(), Ordering::SeqCst);
            for news in news {
                match news {
                    News::Converged(module, _, after) => counts.converged(module, *after),
                    News::Raised(_, problem) => show(problem),
                    News::Cleared(..) => {}
                }
            }
        };
        let ended = tokio::spawn(manager.run(shutdown, heard));
        Ok(Running { metrics, requests, idle, seen, end, ended })
    }

    /// Runs a manager until it has nothing to do; returns how often it wrote.
    pub async fn manage_once(&self, modules: Vec<Box<dyn Module>>) -> Result<u64> {
        let manager = self.start(modules, |_| {})?;
        manager.rest().await?;
        let requests = manager.requests.clone();
        manager.end().await?;
        Ok(requests.counts().writes)
    }
}

impl Running {
    /// Waits until everything was seen and nothing is left to do.
    pub async fn rest(&self) -> Result<()> {
        let start = Instant::now();
        while !self.idle.load(Ordering::SeqCst) {
            ensure!(start.elapsed() < PATIENCE, "the manager finds no rest: {:?}", self.requests.counts());
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Waits until everything was seen, whatever is left to do.
    pub async fn see(&self) -> Result<()> {
        let start = Instant::now();
        while !self.seen.load(Ordering::SeqCst) {
            ensure!(start.elapsed() < PATIENCE, "the manager does not see everything");
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// What a metric counts, over all of its labels.
    pub fn counted(&self, name: &str) -> u64 {
        counted(&self.metrics.encode(), name, "")
    }

    /// Ends it in an orderly way.
    pub async fn end(self) -> Result<()> {
        let _ = self.end.send(());
        timeout(PATIENCE, self.ended).await.context("the manager does not end")???;
        Ok(())
    }
}

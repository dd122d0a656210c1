//! A server with somebody who aggregates roles on it, and a manager that is counted.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Request;
use rolewright_controller::events::telling;
use rolewright_controller::manager::ManagerError;
use rolewright_controller::metrics::Metrics;
use rolewright_controller::witness::Witness;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_plan::engine::News;
use rolewright_plan::{Diagnostic, Module};
use rolewright_testkit::fault::{FaultLayer, Plan};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::place::{PATIENCE, Place, rbac, with};

/// A server with a manager on it.
pub(super) struct Side {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) manager: Counted,
    fences: AtomicU64,
}

/// What is wrong, by code, with which object.
pub(super) type Problems = BTreeSet<(String, String)>;

/// A manager whose requests and words are counted.
pub(super) struct Counted {
    pub(super) mode: Mode,
    requests: FaultLayer,
    metrics: Arc<Metrics>,
    standing: Arc<Mutex<BTreeSet<Diagnostic>>>,
    end: watch::Sender<bool>,
    ended: JoinHandle<Result<(), ManagerError>>,
}

impl Counted {
    pub(super) fn start(place: &Place, mode: Mode) -> Result<Self> {
        let requests = FaultLayer::new(0, Plan::default());
        let client = place.client_through(&requests)?;
        let metrics = Arc::new(Metrics::default());
        let standing: Arc<Mutex<BTreeSet<Diagnostic>>> = Arc::default();
        let (end, shutdown) = watch::channel(false);
        let stopped = |mut shutdown: watch::Receiver<bool>| async move {
            // Whoever lets go of it ends it as well.
            let _ = shutdown.wait_for(|ended| *ended).await;
        };
        let (teller, telling) = telling(place.client.clone(), "tests", metrics.clone());
        tokio::spawn(telling.run(stopped(shutdown.clone())));
        let module = ClusterRoleAggregation::new(mode, Fitter::default()).with_patience(Duration::from_secs(1));
        let manager =
            Manager::new(client, [Box::new(module) as Box<dyn Module>], Leading::alone(), Settings::default());
        let witness = Witness { metrics: metrics.clone(), events: Some(teller) };
        let problems = standing.clone();
        let running = manager.with_metrics(metrics.clone()).run(stopped(shutdown), move |engine, news| {
            witness.hear(engine, news);
            let mut problems = problems.lock().unwrap_or_else(PoisonError::into_inner);
            for news in news {
                match news {
                    News::Raised(_, told) => {
                        problems.insert(told.clone());
                    }
                    News::Cleared(_, told) => {
                        problems.remove(told);
                    }
                    News::Converged(..) => {}
                }
            }
        });
        Ok(Self { mode, requests, metrics, standing, end, ended: tokio::spawn(running) })
    }

    /// How many writes it has sent.
    pub(super) fn writes(&self) -> u64 {
        self.requests.counts().writes
    }

    /// What it says is wrong now.
    pub(super) fn problems(&self) -> Problems {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.iter().map(|told| (told.code.to_string(), told.object.name.to_string())).collect()
    }

    /// The words in which it says what is wrong with a role now.
    pub(super) fn said(&self, name: &str) -> Vec<String> {
        let standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.iter().filter(|told| told.object.name == name).map(|told| told.message.clone()).collect()
    }

    /// What it counts.
    pub(super) fn scraped(&self) -> String {
        self.metrics.encode()
    }

    pub(super) async fn end(self) -> Result<()> {
        self.end.send_replace(true);
        timeout(PATIENCE, self.ended).await.context("the manager does not end")???;
        Ok(())
    }
}

impl Side {
    pub(super) fn start(name: &'static str, place: Place, mode: Mode) -> Result<Self> {
        let manager = Counted::start(&place, mode)?;
        Ok(Self { name, place, manager, fences: AtomicU64::new(0) })
    }

    /// The same server with another manager.
    pub(super) async fn instead(self, mode: Mode) -> Result<Self> {
        self.manager.end().await?;
        Self::start(self.name, self.place, mode)
    }

    /// Whether Kubernetes' controller is at work here.
    pub(super) fn is_kubernetes(&self) -> bool {
        self.manager.mode == Mode::Observe
    }

    /// How many writes the manager has sent, but for those of fences.
    pub(super) fn writes(&self) -> u64 {
        self.manager.writes().saturating_sub(self.fences.load(Ordering::SeqCst))
    }

    /// Returns when everything has been looked at that the manager saw before. That takes one write.
    pub(super) async fn fence(&self) -> Result<()> {
        let selector = json!({"matchLabels": {"fence": "true"}});
        let fence =
            with(rbac("ClusterRole", "the-fence"), json!({"aggregationRule": {"clusterRoleSelectors": [selector]}}));
        let number = self.fences.fetch_add(1, Ordering::SeqCst);
        let rules = json!([{"nonResourceURLs": [format!("/{number}")], "verbs": ["get"]}]);
        let post = with(
            rbac("ClusterRole", "the-fence-post"),
            json!({"metadata": {"labels": {"fence": "true"}}, "rules": rules}),
        );
        self.place.apply(&fence).await?;
        self.place.apply(&post).await?;
        self.place.until("the fence", &fence, |fence| fence["rules"] == rules).await?;
        Ok(())
    }

    /// All ClusterRoles whose name begins so.
    pub(super) async fn roles(&self, prefix: &str) -> Result<Vec<Value>> {
        let request = Request::get("/apis/rbac.authorization.k8s.io/v1/clusterroles").body(Vec::new())?;
        let all: Value = self.place.client.request(request).await?;
        let named = |role: &&Value| role["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(prefix));
        Ok(all["items"].as_array().into_iter().flatten().filter(named).cloned().collect())
    }

    /// Waits until something is the case.
    pub(super) async fn until(&self, what: &str, holds: impl Fn() -> bool) -> Result<()> {
        let start = Instant::now();
        while !holds() {
            let told = self.manager.problems();
            ensure!(start.elapsed() < PATIENCE, "{}: {what} did not happen; told so far: {told:?}", self.name);
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

//! What a reconciler should be able to do, and what it can do on the way from one wish to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_testkit::place::PATIENCE;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::reconciler::{DEEDS, Deed, Reconciler};

/// What these roles allow.
pub(crate) fn allowed_by(refs: &[&str]) -> Vec<Deed> {
    let gives = |text: &str, deed: Deed| {
        let (role, place) = text.split_once('@').unwrap_or((text, ""));
        let (verb_and_kind, namespace) = match deed {
            Deed::List(kind, namespace) => (("list", kind), namespace),
            Deed::Create(kind, namespace) => (("create", kind), namespace),
            Deed::BindAdmin => return role == "ClusterRole/cluster-admin",
        };
        let is_here = place.is_empty() || place == namespace;
        let is_this = match role {
            "ClusterRole/reader" => verb_and_kind == ("list", "ConfigMap"),
            "ClusterRole/writer" => verb_and_kind == ("create", "ConfigMap"),
            "Role/ci" => verb_and_kind == ("list", "Secret"),
            "ClusterRole/cluster-admin" => true,
            other => panic!("{other}"),
        };
        is_here && is_this
    };
    DEEDS.into_iter().filter(|deed| refs.iter().any(|text| gives(text, *deed))).collect()
}

/// Waits until a reconciler may do exactly this.
pub(crate) async fn until(reconciler: &Reconciler, expected: &[Deed]) -> Result<()> {
    let start = Instant::now();
    loop {
        let may = reconciler.may_do().await?;
        if may == expected {
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE, "it may do {may:?}, and should {expected:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Tries everything again and again while things change.
pub(crate) struct Vigil {
    ended: Arc<AtomicBool>,
    seen: JoinHandle<Result<u32>>,
}

impl Vigil {
    /// From one set of deeds to another: never more than both, never less than what both have.
    pub(crate) fn begin(reconciler: &Reconciler, from: Vec<Deed>, to: Vec<Deed>) -> Self {
        Self::over(DEEDS.to_vec(), reconciler, from, to)
    }

    /// These it may do all the time.
    pub(crate) fn of(reconciler: &Reconciler, deeds: &[Deed]) -> Self {
        Self::over(deeds.to_vec(), reconciler, deeds.to_vec(), deeds.to_vec())
    }

    fn over(deeds: Vec<Deed>, reconciler: &Reconciler, from: Vec<Deed>, to: Vec<Deed>) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let (reconciler, over) = (reconciler.clone(), ended.clone());
        let seen = tokio::spawn(async move {
            let mut rounds = 0;
            while !over.load(Ordering::SeqCst) || rounds == 0 {
                for deed in deeds.iter().copied() {
                    let (had, has) = (from.contains(&deed), to.contains(&deed));
                    let may = reconciler.may(deed).await?;
                    ensure!(!may || had || has, "{deed:?} is more than {from:?} and {to:?}");
                    ensure!(may || !(had && has), "{deed:?} is lost on the way from {from:?} to {to:?}");
                }
                rounds += 1;
            }
            Ok(rounds)
        });
        Self { ended, seen }
    }

    pub(crate) async fn end(self) -> Result<()> {
        self.ended.store(true, Ordering::SeqCst);
        self.seen.await??;
        Ok(())
    }
}

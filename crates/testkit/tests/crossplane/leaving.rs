//! The manager goes: it leaves everybody's access, or takes it all back.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_controller::{load, once};
use rolewright_plan::crossplane::{Crossplane, Settings};
use rolewright_plan::kind::Reports;
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::uninstall::{self, Access};
use rolewright_plan::{Kind, Live, Module, Snapshot};
use rolewright_testkit::manifest::rbac;
use tokio::time::sleep;

use crate::drift::kept;
use crate::guard::Guard;
use crate::place::{PATIENCE, Place};
use crate::story::said;
use crate::switches::{NOW, restart, used};

/// By then Kubernetes' controllers have done what they were about to do.
const MOMENT: Duration = Duration::from_secs(1);

/// Kept: nobody loses anything, and who comes back has nothing to do. Revoked: nobody has anything left.
pub(crate) async fn leaving(place: &Place, settings: &Settings) -> Result<()> {
    let before = kept(place).await?.len();
    let guard = Guard::start(place, used());
    uninstall(place, settings, Access::Keep).await?;
    said(place, NOW).await?;
    guard.end().await?;
    let after = kept(place).await?.len();
    ensure!(before > 100 && after == before, "of {before} objects {after} were kept");
    restart(place, settings).await?;
    let start = Instant::now();
    uninstall(place, settings, Access::Revoke).await?;
    while once_more(place).await? {
        ensure!(start.elapsed() < PATIENCE, "what went is made anew again and again");
    }
    let left = kept(place).await?;
    ensure!(left.is_empty(), "{} objects are left: {left:#?}", left.len());
    said(place, "revoked").await
}

/// Kubernetes' controller may have been gathering for a role when it went, and then makes it anew: whether it did.
async fn once_more(place: &Place) -> Result<bool> {
    sleep(MOMENT).await;
    let mut snapshot = Snapshot::default();
    for event in load::load(&place.client, [&CLUSTER_ROLE]).await?.events {
        snapshot.take(event);
    }
    let is_back = |live: &&Live| live.meta.revived && live.meta.name.starts_with("crossplane");
    let back: Vec<_> = snapshot.all(&CLUSTER_ROLE).filter(is_back).collect();
    for live in &back {
        place.delete(&rbac("ClusterRole", &live.meta.name)).await?;
    }
    Ok(!back.is_empty())
}

/// What `rolewright uninstall` does.
async fn uninstall(place: &Place, settings: &Settings, access: Access) -> Result<()> {
    let reported = Crossplane::new(settings.clone()).watches().into_iter().map(|watch| watch.kind);
    let mut kinds: Vec<&'static Kind> =
        uninstall::KINDS.into_iter().chain(reported.filter(|kind| kind.reports != Reports::Never)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut snapshot = Snapshot::default();
    for event in load::load(&place.client, kinds).await?.events {
        snapshot.take(event);
    }
    for outcome in once::write(place.client.clone(), &uninstall::uninstall(&snapshot, access)).await {
        if let Err(failure) = outcome {
            anyhow::bail!("{}: {}", failure.object, failure.message);
        }
    }
    Ok(())
}

//! How syncs go, with a reconciler that cleans up and one that is dead.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_testkit::manifest::{name, rbac};
use rolewright_testkit::place::{PATIENCE, Place};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::access::{self, Vigil, allowed_by};
use crate::place::{HOME, OURS, RECONCILERS, account, annotations, finalizers, root, until};
use crate::process;
use crate::reconciler::Reconciler;

const REFS: [&str; 2] = ["ClusterRole/reader@shop", "Role/ci@bank"];
const WHY: &str = "its node burnt down";

pub(crate) async fn departing(place: &Place) -> Result<()> {
    process::during(place.client.clone(), depart(place)).await
}

async fn depart(place: &Place) -> Result<()> {
    for dead in [false, true] {
        let sync = root("leaves", &REFS);
        place.apply(&sync).await?;
        until(place, &sync, "Bound").await?;
        let reconciler = Reconciler::of(place, "root-reconciler-leaves").await?;
        access::until(&reconciler, &allowed_by(&REFS)).await?;
        reconciler.change(&sync, &finalizers(&[RECONCILERS, OURS]), false).await?;
        // Never more than it had, to the end.
        let vigil = Vigil::begin(&reconciler, allowed_by(&REFS), Vec::new());
        place.delete(&sync).await?;
        // It cleans up with all its rights, and these are kept in order.
        for binding in place.list(&rbac("RoleBinding", "x"), "configsync.gke.io/sync-name=leaves").await? {
            place.delete(&binding).await?;
            place.until("it is back", &binding, |back| back["metadata"]["uid"] != binding["metadata"]["uid"]).await?;
        }
        access::until(&reconciler, &allowed_by(&REFS)).await?;
        ensure!(place.get(&sync).await?.is_some() && place.get(&account("root-reconciler-leaves")).await?.is_some());
        if dead {
            place.merge(&sync, &annotations(&json!({"rolewright.io/release-reconciler": WHY}))).await?;
        } else {
            reconciler.change(&sync, &finalizers(&[OURS]), false).await?;
        }
        place.until_gone(&sync).await?;
        ensure!(place.get(&account("root-reconciler-leaves")).await?.is_none(), "the account went before the sync");
        ensure!(reconciler.may_do().await?.is_empty());
        vigil.end().await?;
        if dead {
            released(place, &sync).await?;
        }
    }
    Ok(())
}

/// Waits until it is told, beside the sync, why it was let go.
async fn released(place: &Place, sync: &Value) -> Result<()> {
    let events =
        json!({"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"namespace": HOME, "name": "x"}});
    let start = Instant::now();
    loop {
        let all = place.list(&events, "").await?;
        let is_it = |event: &&Value| {
            let about = &event["regarding"];
            event["reason"] == "ReconcilerReleased" && about["kind"] == "RootSync" && about["name"] == name(sync)
        };
        let notes: Vec<&str> = all.iter().filter(is_it).filter_map(|event| event["note"].as_str()).collect();
        if notes.iter().any(|note| note.contains(WHY) && note.ends_with("(RW0310)")) {
            // The one that had a live reconciler was not released.
            ensure!(notes.len() == 1, "{notes:?}");
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE, "nobody tells of it: {all:#?}");
        sleep(Duration::from_millis(20)).await;
    }
}

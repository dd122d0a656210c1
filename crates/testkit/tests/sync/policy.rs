//! The policy that keeps reconcilers from choosing their own roles, on the server that enforces it.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_plan::sync::{Settings, policy as policies};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::{PATIENCE, Place};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::place::{HOME, manage, root, until};
use crate::reconciler::Reconciler;

pub(crate) async fn policy(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    // It may write every sync, as far as roles go.
    let rules = json!({"rules": [{"apiGroups": ["configsync.gke.io"], "resources": ["rootsyncs", "reposyncs"],
        "verbs": ["create", "get", "patch", "update"]}]});
    place.apply(&with(rbac("ClusterRole", "sync-editor"), rules)).await?;
    let (own, other, free) =
        (root("confined", &["ClusterRole/sync-editor"]), root("victim", &["ClusterRole/reader"]), root("free", &[]));
    for (sync, reason) in [(&own, "Bound"), (&other, "Bound"), (&free, "BoundByDefault")] {
        place.apply(sync).await?;
        until(place, sync, reason).await?;
    }
    let confined = Reconciler::of(place, "root-reconciler-confined").await?;
    let everything = Reconciler::of(place, "root-reconciler-free").await?;
    let no_roles = json!({"spec": {"override": {"roleRefs": []}}});
    // Without the policy the hole is there.
    granted(&confined, &other, &json!({"spec": {"note": "hole"}})).await?;
    for manifest in policies::manifests(&Settings::default()) {
        place.apply(&manifest).await?;
    }
    in_force(&confined, &own).await?;
    let said = |value: Value| json!({"metadata": {"annotations": value}});
    for (sync, patch, why) in [
        (&own, no_roles.clone(), "may not change the spec"),
        (&own, json!({"spec": null}), "may not change the spec"),
        (&other, no_roles.clone(), "may not change the spec"),
        (&own, said(json!({"rolewright.io/root-role": "none"})), "may not change the annotations"),
        (&other, said(json!({"rolewright.io/release-reconciler": "mine"})), "may not change the annotations"),
        (&other, said(json!({"rolewright.io/paused": "true"})), "may not change the annotations"),
    ] {
        refused(&confined, sync, &patch, why).await?;
    }
    let new = json!({"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync",
        "metadata": {"namespace": HOME, "name": "new"}, "spec": {}});
    let old = with(new.clone(), json!({"apiVersion": "configsync.gke.io/v1alpha1"}));
    for object in [&new, &old] {
        let done = confined.create(object).await?;
        ensure!(message(&done).contains("may not create syncs"), "{done:?}");
    }
    // What it needs goes on: its finalizer, other annotations, its status; and who may do everything is kept from nothing.
    for patch in [
        json!({"metadata": {"finalizers": ["configsync.gke.io/reconciler", "configsync.gke.io/reconciler-manager"]}}),
        json!({"metadata": {"finalizers": ["configsync.gke.io/reconciler-manager"]}}),
        said(json!({"example.org/x": "y"})),
    ] {
        confined.change(&own, &patch, false).await?;
    }
    confined.change(&own, &json!({"status": {"lastSyncedCommit": "abc"}}), true).await?;
    everything.change(&other, &json!({"spec": {"note": "by a sync of syncs"}}), false).await?;
    ensure!(everything.create(&new).await?.is_ok(), "a sync of syncs creates syncs");
    for sync in [&own, &other, &free] {
        place.delete(sync).await?;
        place.until_gone(sync).await?;
    }
    manager.end().await
}

fn message(done: &kube::Result<()>) -> String {
    match done {
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 422) => status.message.clone(),
        _ => String::new(),
    }
}

/// Policies take a moment until they count.
async fn in_force(reconciler: &Reconciler, sync: &Value) -> Result<()> {
    let start = Instant::now();
    for attempt in 0.. {
        let done = reconciler.change(sync, &json!({"spec": {"note": attempt}}), false).await;
        if message(&done).contains("may not change the spec") {
            break;
        }
        ensure!(start.elapsed() < PATIENCE, "{done:?}");
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Roles take a moment until they count.
async fn granted(reconciler: &Reconciler, sync: &Value, patch: &Value) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = reconciler.change(sync, patch, false).await {
        ensure!(start.elapsed() < PATIENCE, "{patch}: {error}");
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

async fn refused(reconciler: &Reconciler, sync: &Value, patch: &Value, why: &str) -> Result<()> {
    let done = reconciler.change(sync, patch, false).await;
    ensure!(message(&done).contains(why), "{patch}: {done:?}");
    Ok(())
}

//! The policy that keeps reconcilers from choosing their own roles, on the server that enforces it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_plan::sync::{Settings, policy as policies};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::{PATIENCE, Place};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::place::{HOME, OURS, RECONCILERS, annotations, finalizers, manage, refs, repo, root, until};
use crate::reconciler::Reconciler;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
const SPEC: &str = "may not change the spec";
const ANNOTATIONS: &str = "may not change the annotations";
const CREATE: &str = "may not create syncs";

pub(crate) async fn policy(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    // It may write every sync, as far as roles go.
    let rules = json!({"rules": [{"apiGroups": ["configsync.gke.io"], "resources": ["rootsyncs", "reposyncs"],
        "verbs": ["create", "get", "patch", "update"]}]});
    place.apply(&with(rbac("ClusterRole", "sync-editor"), rules)).await?;
    // What keeps one from everything when it names no roles: it says so, or it was misspelt.
    let own = with(
        root("confined", &["ClusterRole/sync-editor"]),
        annotations(&json!({"rolewright.io/root-role": "none", LAST_APPLIED: "{}"})),
    );
    let (other, free) = (root("victim", &["ClusterRole/reader"]), root("free", &[]));
    let (tenant, beside) = (repo("shop", "repo-sync"), repo("shop", "web"));
    for (sync, reason) in
        [(&own, "Bound"), (&other, "Bound"), (&free, "BoundByDefault"), (&tenant, "BaseOnly"), (&beside, "BaseOnly")]
    {
        place.apply(sync).await?;
        until(place, sync, reason).await?;
    }
    let in_shop = json!({"subjects": [{"kind": "ServiceAccount", "namespace": HOME, "name": "ns-reconciler-shop"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sync-editor"}});
    place.apply(&with(rbac("RoleBinding", "shop/sync-editors"), in_shop)).await?;
    let confined = Reconciler::of(place, "root-reconciler-confined").await?;
    let of_shop = Reconciler::of(place, "ns-reconciler-shop").await?;
    let everything = Reconciler::of(place, "root-reconciler-free").await?;
    // Without the policy the hole is there.
    granted(&confined, &other, &json!({"spec": {"note": "hole"}})).await?;
    granted(&of_shop, &beside, &json!({"spec": {"note": "hole"}})).await?;
    for manifest in policies::manifests(&Settings::default()) {
        place.apply(&manifest).await?;
    }
    in_force(&confined, &own).await?;
    changes(&confined, &own, &other).await?;
    changes(&of_shop, &tenant, &beside).await?;
    // Whoever may do everything chooses for others, and not for itself.
    refused(&everything, &free, &refs(&["ClusterRole/reader"]), SPEC).await?;
    refused(&everything, &free, &annotations(&json!({"rolewright.io/root-role": "none"})), ANNOTATIONS).await?;
    works(&everything, &free).await?;
    everything.change(&other, &json!({"spec": {"note": "by a sync of syncs"}}), false).await?;
    everything.change(&tenant, &json!({"spec": {"note": "by a sync of syncs"}}), false).await?;
    ensure!(everything.create(&root("new", &[])).await?.is_ok(), "a sync of syncs creates syncs");
    for sync in [&own, &other, &free, &tenant, &beside] {
        place.delete(sync).await?;
        place.until_gone(sync).await?;
    }
    manager.end().await
}

/// What a reconciler may not do with its own sync and with another, and what goes on.
async fn changes(reconciler: &Reconciler, own: &Value, other: &Value) -> Result<()> {
    for (sync, patch, why) in [
        (own, refs(&[]), SPEC),
        (own, json!({"spec": null}), SPEC),
        (other, json!({"spec": {"override": {"roleRefs": [{"kind": "ClusterRole", "name": "writer"}]}}}), SPEC),
        (own, annotations(&json!({"rolewright.io/root-role": "other"})), ANNOTATIONS),
        (own, annotations(&json!({LAST_APPLIED: "{\"spec\": {}}"})), ANNOTATIONS),
        (own, annotations(&json!({"crossplane.io/paused": "true"})), ANNOTATIONS),
        (other, annotations(&json!({"rolewright.io/root-role": "none"})), ANNOTATIONS),
        (other, annotations(&json!({"rolewright.io/release-reconciler": "mine"})), ANNOTATIONS),
        (other, annotations(&json!({"rolewright.io/paused": "true"})), ANNOTATIONS),
        (other, annotations(&json!({"crossplane.io/paused": "true"})), ANNOTATIONS),
        (other, annotations(&json!({LAST_APPLIED: "{}"})), ANNOTATIONS),
    ] {
        refused(reconciler, sync, &patch, why).await?;
    }
    // What is there may not go either: this is what would give it everything.
    let said = own.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten();
    for (key, _) in said {
        refused(reconciler, own, &annotations(&json!({key: null})), ANNOTATIONS).await?;
        refused(reconciler, own, &annotations(&Value::Null), ANNOTATIONS).await?;
    }
    let new = with(own.clone(), json!({"metadata": {"name": "new"}}));
    let old = with(new.clone(), json!({"apiVersion": "configsync.gke.io/v1alpha1"}));
    for object in [&new, &old] {
        let done = reconciler.create(object).await?;
        ensure!(message(&done).contains(CREATE), "{done:?}");
    }
    works(reconciler, own).await
}

/// What it needs goes on: its finalizer, other annotations, its status.
async fn works(reconciler: &Reconciler, own: &Value) -> Result<()> {
    for patch in [finalizers(&[RECONCILERS, OURS]), finalizers(&[OURS]), annotations(&json!({"example.org/x": "y"}))] {
        reconciler.change(own, &patch, false).await.with_context(|| patch.to_string())?;
    }
    Ok(reconciler.change(own, &json!({"status": {"lastSyncedCommit": "abc"}}), true).await?)
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
        if message(&done).contains(SPEC) {
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

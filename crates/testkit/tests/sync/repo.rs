//! Reconcilers of RepoSyncs: what each has, what it is given only where the operator says so, and how its namespace goes.

use anyhow::{Result, ensure};
use rolewright_plan::sync::Settings;
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::access::{self, allowed_by};
use crate::place::{
    HOME, OURS, RECONCILERS, account, finalizers, manage, manage_with, message, namespace, refs, repo, until,
};
use crate::reconciler::{Deed, Reconciler};

/// A name that is, with that of its namespace `shop`, as long as they may be.
const LONGEST: &str = "a-name-that-is-as-long-as-names-may-be-41";

pub(crate) async fn repos(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let (own, beside, elsewhere) = (repo("shop", "repo-sync"), repo("shop", "web"), repo("bank", "repo-sync"));
    for sync in [&own, &beside, &elsewhere] {
        place.apply(sync).await?;
        until(place, sync, "BaseOnly").await?;
    }
    let reconciler = Reconciler::of(place, "ns-reconciler-shop").await?;
    base(&reconciler, &own, &[&beside, &elsewhere]).await?;
    access::until(&reconciler, &[]).await?;
    // Whoever writes a RepoSync gives nothing that they need not have.
    place.merge(&own, &refs(&["ClusterRole/reader", "Role/ci@shop"])).await?;
    let stored = until(place, &own, "Forbidden").await?;
    ensure!(message(&stored) == "ClusterRole/reader in shop: Forbidden; Role/shop/ci: Forbidden", "{stored:#}");
    manager.rest().await?;
    access::until(&reconciler, &[]).await?;
    manager.end().await?;
    named(place, &reconciler, &own).await?;
    for sync in [&own, &beside, &elsewhere] {
        place.until_gone(sync).await?;
    }
    Ok(())
}

/// What every reconciler needs, and what of others it does not get.
async fn base(reconciler: &Reconciler, own: &Value, others: &[&Value]) -> Result<()> {
    let status = json!({"status": {"lastSyncedCommit": "abc"}});
    for (patch, of_status) in [(finalizers(&[RECONCILERS, OURS]), false), (finalizers(&[OURS]), false), (status, true)]
    {
        ensure!(reconciler.may_change(own, &patch, of_status).await?, "its own: {patch}");
        for other in others {
            ensure!(!reconciler.may_change(other, &patch, of_status).await?, "{other}: {patch}");
        }
    }
    for (deed, expected) in [
        (Deed::List("RepoSync", "shop"), true),
        (Deed::List("CustomResourceDefinition", ""), true),
        (Deed::List("RepoSync", "bank"), false),
        (Deed::List("RepoSync", ""), false),
        (Deed::List("RootSync", HOME), false),
    ] {
        ensure!(reconciler.may(deed).await? == expected, "{deed:?}");
    }
    Ok(())
}

/// With `--bindable-roles`: what is named is given, in its own namespace; and they go as they should.
async fn named(place: &Place, reconciler: &Reconciler, own: &Value) -> Result<()> {
    let bindable = Some(vec!["reader".into()]);
    let manager = manage_with(place, Settings { bindable, ..Settings::default() })?;
    let reader = allowed_by(&["ClusterRole/reader@shop"]);
    let stored = until(place, own, "Forbidden").await?;
    place.until("one is given", own, |sync| message(sync).contains("ClusterRole/reader in shop: Bound")).await?;
    ensure!(message(&stored).contains("Role/shop/ci: Forbidden"), "{stored:#}");
    access::until(reconciler, &reader).await?;
    for (wish, reason, expected) in [
        (["ClusterRole/reader"], "Bound", &reader[..]),
        (["ClusterRole/reader@bank"], "RoleRefInvalid", &[]),
        (["ClusterRole/reader@shop"], "Bound", &reader[..]),
        (["ClusterRole/writer"], "Forbidden", &[]),
    ] {
        place.merge(own, &refs(&wish)).await?;
        until(place, own, reason).await?;
        access::until(reconciler, expected).await?;
    }
    longest(place).await?;
    closing(place).await?;
    for sync in place.list(&with(own.clone(), json!({"metadata": {"namespace": null}})), "").await? {
        place.delete(&sync).await?;
        place.until_gone(&sync).await?;
    }
    ensure!(reconciler.may_do().await?.is_empty(), "whoever is gone may do nothing");
    manager.rest().await?;
    for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
        let left = place.list(&rbac(kind, "x"), "configsync.gke.io/sync-kind=RepoSync").await?;
        ensure!(left.is_empty(), "{left:#?}");
    }
    manager.end().await
}

/// The server takes the longest names that there are, and one more character is not taken for a sync.
async fn longest(place: &Place) -> Result<()> {
    let (fits, exceeds) = (repo("shop", LONGEST), repo("shop", &format!("{LONGEST}x")));
    for (sync, reason) in [(&fits, "Bound"), (&exceeds, "SyncMisplaced")] {
        place.apply(&with(sync.clone(), refs(&["ClusterRole/reader"]))).await?;
        until(place, sync, reason).await?;
    }
    let reconciler = Reconciler::of(place, &format!("ns-reconciler-shop-{LONGEST}-{}", LONGEST.len())).await?;
    access::until(&reconciler, &allowed_by(&["ClusterRole/reader@shop"])).await
}

/// Its bindings go with its namespace, so a reconciler could not clean up: it need not.
async fn closing(place: &Place) -> Result<()> {
    let (closes, sync) = (namespace("closing"), repo("closing", "repo-sync"));
    place.apply(&closes).await?;
    place.apply(&sync).await?;
    until(place, &sync, "BaseOnly").await?;
    let reconciler = Reconciler::of(place, "ns-reconciler-closing").await?;
    reconciler.change(&sync, &finalizers(&[RECONCILERS, OURS]), false).await?;
    place.delete(&closes).await?;
    place.until_gone(&sync).await?;
    ensure!(place.get(&account("ns-reconciler-closing")).await?.is_none(), "the account went before the sync");
    place.until_gone(&rbac("ClusterRoleBinding", "ns-reconciler-closing:base")).await?;
    place.until_gone(&closes).await
}

//! A reconciler through the life of its sync.

use anyhow::{Context, Result, ensure};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::access::{self, Vigil, allowed_by};
use crate::place::{HOME, manage, namespace, root, until};
use crate::reconciler::Reconciler;

const ADMIN: &[&str] = &["ClusterRole/cluster-admin"];

/// Create, narrow, widen, swap, empty, null, none: each with what it allows, and its reason.
pub(crate) async fn story(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let first = ["ClusterRole/reader", "ClusterRole/writer@shop", "Role/ci@shop"];
    let sync = root("tenant", &first);
    place.apply(&sync).await?;
    until(place, &sync, "Bound").await?;
    let reconciler = Reconciler::of(place, "root-reconciler-tenant").await?;
    access::until(&reconciler, &allowed_by(&first)).await?;
    let refs =
        |refs: &[&str]| json!({"spec": {"override": {"roleRefs": root("", refs)["spec"]["override"]["roleRefs"]}}});
    let none = |value: &str| json!({"metadata": {"annotations": {"rolewright.io/root-role": value}}});
    let steps: [(&str, Value, &[&str], &str); 9] = [
        ("narrow", refs(&["ClusterRole/reader@shop"]), &["ClusterRole/reader@shop"], "Bound"),
        ("widen", refs(&["ClusterRole/reader", "Role/ci@bank"]), &["ClusterRole/reader", "Role/ci@bank"], "Bound"),
        ("swap", refs(&["ClusterRole/writer", "Role/ci@shop"]), &["ClusterRole/writer", "Role/ci@shop"], "Bound"),
        ("empty", refs(&[]), ADMIN, "BoundByDefault"),
        ("back", refs(&["ClusterRole/reader"]), &["ClusterRole/reader"], "Bound"),
        ("null", json!({"spec": {"override": {"roleRefs": null}}}), ADMIN, "BoundByDefault"),
        ("no block", json!({"spec": {"override": null}}), ADMIN, "BoundByDefault"),
        ("none", none("none"), &[], "BaseOnly"),
        ("and back", refs(&first), &first, "Bound"),
    ];
    let mut before = allowed_by(&first);
    for (what, patch, now, reason) in steps {
        let after = allowed_by(now);
        let vigil = Vigil::begin(&reconciler, before, after.clone());
        place.merge(&sync, &patch).await?;
        until(place, &sync, reason).await.context(what)?;
        access::until(&reconciler, &after).await.context(what)?;
        vigil.end().await.context(what)?;
        before = after;
    }
    base(place, &reconciler, &sync).await?;
    manager.rest().await?;
    manager.end().await?;
    let writes = place.manage_once(vec![Box::new(rolewright_plan::sync::RoleRefs::default())]).await?;
    ensure!(writes == 0, "a restart wrote {writes} times");
    published(place, &sync).await
}

/// What every reconciler needs, and what of others it does not get.
async fn base(place: &Place, reconciler: &Reconciler, sync: &Value) -> Result<()> {
    let other = with(root("other", &[]), json!({"metadata": {"annotations": {"rolewright.io/root-role": "none"}}}));
    place.apply(&other).await?;
    until(place, &other, "BaseOnly").await?;
    let held =
        json!({"metadata": {"finalizers": ["configsync.gke.io/reconciler", "configsync.gke.io/reconciler-manager"]}});
    let free = json!({"metadata": {"finalizers": ["configsync.gke.io/reconciler-manager"]}});
    let status = json!({"status": {"lastSyncedCommit": "abc"}});
    let may = |sync: Value, patch: Value, of_status: bool| async move {
        crate::reconciler::allowed(reconciler.change(&sync, &patch, of_status).await)
    };
    ensure!(may(sync.clone(), held.clone(), false).await?, "its own finalizer");
    ensure!(may(sync.clone(), free, false).await?, "its own finalizer, again");
    ensure!(may(sync.clone(), status.clone(), true).await?, "its own status");
    ensure!(!may(other.clone(), held, false).await?, "another's finalizer");
    ensure!(!may(other.clone(), status, true).await?, "another's status");
    place.delete(&other).await?;
    place.until_gone(&other).await
}

/// Where its account is found: in its status, and by labels.
async fn published(place: &Place, sync: &Value) -> Result<()> {
    let stored = place.get(sync).await?.context("it is there")?;
    ensure!(stored["status"]["reconciler"] == "root-reconciler-tenant", "{stored:#}");
    let selector = "configsync.gke.io/sync-kind=RootSync,configsync.gke.io/sync-name=tenant";
    let accounts = place.list(&crate::place::account(""), selector).await?;
    ensure!(accounts.len() == 1, "{accounts:#?}");
    let bindings = place.list(&rbac("RoleBinding", &format!("{HOME}/x")), selector).await?;
    ensure!(bindings.len() == 1, "{bindings:#?}");
    Ok(())
}

/// Entries that cannot be given yet keep nobody from narrowing, and heal by themselves.
pub(crate) async fn healing(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let sync = root("waits", &[]);
    place.apply(&sync).await?;
    until(place, &sync, "BoundByDefault").await?;
    let reconciler = Reconciler::of(place, "root-reconciler-waits").await?;
    access::until(&reconciler, &allowed_by(ADMIN)).await?;
    let wish = root("waits", &["ClusterRole/reader@shop", "ClusterRole/reader@later", "Role/later@bank"]);
    place.apply(&wish).await?;
    let stored = until(place, &sync, "NamespaceMissing").await?;
    let message = stored.pointer("/status/conditions/0/message").and_then(Value::as_str).unwrap_or_default();
    let expected = "ClusterRole/reader in later: NamespaceMissing; Role/bank/later: RoleMissing; ClusterRole/reader in shop: Bound";
    ensure!(message == expected, "{message}");
    access::until(&reconciler, &allowed_by(&["ClusterRole/reader@shop"]))
        .await
        .context("cluster-admin goes all the same")?;
    place.apply(&namespace("later")).await?;
    until(place, &sync, "RoleMissing").await?;
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]});
    place.apply(&with(rbac("Role", "bank/later"), rules)).await?;
    until(place, &sync, "Bound").await?;
    access::until(&reconciler, &allowed_by(&["ClusterRole/reader@shop", "Role/ci@bank"])).await?;
    // Everything that somebody takes away is back.
    let selector = "configsync.gke.io/sync-name=waits";
    for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
        for object in place.list(&rbac(kind, "x"), selector).await? {
            place.delete(&object).await?;
            place.until("it is back", &object, |back| back["metadata"]["uid"] != object["metadata"]["uid"]).await?;
            place.merge(&object, &json!({"metadata": {"labels": {"configsync.gke.io/sync-name": null}}})).await?;
            let is_back = |back: &Value| back["metadata"]["labels"]["configsync.gke.io/sync-name"] == "waits";
            place.until("its label is back", &object, is_back).await?;
        }
    }
    place.delete(&sync).await?;
    place.until_gone(&sync).await?;
    manager.rest().await?;
    ensure!(reconciler.may_do().await?.is_empty(), "whoever is gone may do nothing");
    for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
        let left = place.list(&rbac(kind, "x"), selector).await?;
        ensure!(left.is_empty(), "{left:#?}");
    }
    manager.end().await
}

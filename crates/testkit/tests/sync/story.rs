//! A reconciler through the life of its sync.

use anyhow::{Context, Result, ensure};
use rolewright_plan::sync::RoleRefs;
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::access::{self, Vigil, allowed_by};
use crate::place::{
    HOME, OURS, RECONCILERS, account, annotations, finalizers, manage, message, namespace, refs, root, until,
};
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
    let steps: [(&str, Value, &[&str], &str); 9] = [
        ("narrow", refs(&["ClusterRole/reader@shop"]), &["ClusterRole/reader@shop"], "Bound"),
        ("widen", refs(&["ClusterRole/reader", "Role/ci@bank"]), &["ClusterRole/reader", "Role/ci@bank"], "Bound"),
        ("swap", refs(&["ClusterRole/writer", "Role/ci@shop"]), &["ClusterRole/writer", "Role/ci@shop"], "Bound"),
        ("empty", refs(&[]), ADMIN, "BoundByDefault"),
        ("back", refs(&["ClusterRole/reader"]), &["ClusterRole/reader"], "Bound"),
        ("null", json!({"spec": {"override": {"roleRefs": null}}}), ADMIN, "BoundByDefault"),
        ("no block", json!({"spec": {"override": null}}), ADMIN, "BoundByDefault"),
        ("none", annotations(&json!({"rolewright.io/root-role": "none"})), &[], "BaseOnly"),
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
    let writes = place.manage_once(vec![Box::new(RoleRefs::default())]).await?;
    ensure!(writes == 0, "a restart wrote {writes} times");
    published(place, &sync).await
}

/// What every reconciler needs, and what of others it does not get.
async fn base(place: &Place, reconciler: &Reconciler, sync: &Value) -> Result<()> {
    let other = with(root("other", &[]), json!({"metadata": {"annotations": {"rolewright.io/root-role": "none"}}}));
    place.apply(&other).await?;
    until(place, &other, "BaseOnly").await?;
    let (held, free) = (finalizers(&[RECONCILERS, OURS]), finalizers(&[OURS]));
    let status = json!({"status": {"lastSyncedCommit": "abc"}});
    for (patch, of_status) in [(&held, false), (&free, false), (&status, true)] {
        ensure!(reconciler.may_change(sync, patch, of_status).await?, "its own: {patch}");
        ensure!(!reconciler.may_change(&other, patch, of_status).await?, "another's: {patch}");
    }
    place.delete(&other).await?;
    place.until_gone(&other).await
}

/// Where its account is found: in its status, and by labels.
async fn published(place: &Place, sync: &Value) -> Result<()> {
    let stored = place.get(sync).await?.context("it is there")?;
    ensure!(stored["status"]["reconciler"] == "root-reconciler-tenant", "{stored:#}");
    let selector = "configsync.gke.io/sync-kind=RootSync,configsync.gke.io/sync-name=tenant";
    let accounts = place.list(&account(""), selector).await?;
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
    let message = message(&stored);
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
    let foreign = foreign(place, "waits").await?;
    place.delete(&sync).await?;
    place.until_gone(&sync).await?;
    manager.rest().await?;
    ensure!(reconciler.may_do().await?.is_empty(), "whoever is gone may do nothing");
    manager.end().await?;
    // Who starts afterwards sweeps what is left of those who are gone.
    let writes = place.manage_once(vec![Box::new(RoleRefs::default())]).await?;
    ensure!(writes == 0, "a restart wrote {writes} times");
    let mut left = Vec::new();
    for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
        left.extend(place.list(&rbac(kind, "x"), selector).await?);
    }
    ensure!(left == foreign, "{left:#?}");
    for object in &foreign {
        place.delete(object).await?;
    }
    Ok(())
}

/// What somebody else labelled like ours, gave a name like ours, and bound to our account. It gives nothing.
async fn foreign(place: &Place, sync: &str) -> Result<Vec<Value>> {
    let labels = json!({"configsync.gke.io/managed-by": "reconciler-manager", "configsync.gke.io/sync-kind": "RootSync",
        "configsync.gke.io/sync-namespace": HOME, "configsync.gke.io/sync-name": sync});
    let account = format!("root-reconciler-{sync}");
    let says = json!({"metadata": {"labels": labels},
        "subjects": [{"kind": "ServiceAccount", "namespace": HOME, "name": account}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "nothing"}});
    let mut all = Vec::new();
    for object in [
        rbac("ClusterRoleBinding", &format!("{account}:theirs")),
        rbac("ClusterRoleBinding", "theirs"),
        rbac("RoleBinding", &format!("shop/{account}:theirs")),
        rbac("RoleBinding", "shop/theirs"),
    ] {
        all.push(place.apply(&with(object, says.clone())).await?);
    }
    Ok(all)
}

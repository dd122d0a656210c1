//! After Config Sync's own manager, and beside it.

use anyhow::{Context, Result, ensure};
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use rolewright_testkit::manifest::{name, rbac, with};
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::access::{self, Vigil, allowed_by};
use crate::place::{HOME, account, manage, root, until};
use crate::reconciler::Reconciler;

const MANAGER: &str = "configsync.gke.io/reconciler-manager";
const SHARED: &str = "configsync.gke.io:root-reconciler";

/// Creates an object as Config Sync's manager does.
async fn made(place: &Place, object: &Value, sync: Option<&str>) -> Result<()> {
    let mut labels = json!({"configsync.gke.io/managed-by": "reconciler-manager",
        "configsync.gke.io/sync-kind": "RootSync", "configsync.gke.io/sync-namespace": HOME});
    if let Some(sync) = sync {
        labels["configsync.gke.io/sync-name"] = json!(sync);
    }
    let object = with(object.clone(), json!({"metadata": {"labels": labels}}));
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    let wish: DynamicObject = serde_json::from_value(object.clone())?;
    place.api(&object)?.create(&params, &wish).await.with_context(|| format!("{object}"))?;
    Ok(())
}

fn binding(kind: &str, name: &str, role: &str, accounts: &[&str]) -> Value {
    let (role_kind, role) = role.split_once('/').unwrap();
    let subjects: Vec<Value> =
        accounts.iter().map(|name| json!({"kind": "ServiceAccount", "namespace": HOME, "name": name})).collect();
    with(
        rbac(kind, name),
        json!({"subjects": subjects,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role}}),
    )
}

fn deployment(replicas: i64) -> Value {
    let labels = json!({"app": "reconciler-manager"});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": HOME, "name": "reconciler-manager"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "reconciler-manager", "image": "example.org/reconciler-manager"}]}}}})
}

pub(crate) async fn taking_over(place: &Place) -> Result<()> {
    let refs = ["ClusterRole/reader", "Role/ci@shop"];
    let (plain, limited) = (root("plain", &[]), root("limited", &refs));
    place.apply(&deployment(1)).await?;
    for sync in [&plain, &limited] {
        place.apply(sync).await?;
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let held = json!({"metadata": {"finalizers": [MANAGER]}});
        place.api(sync)?.patch(name(sync), &params, &Patch::Merge(held)).await?;
    }
    let (a, b) = ("root-reconciler-plain", "root-reconciler-limited");
    let (of_a, of_b) = (Some("plain"), Some("limited"));
    made(place, &account(a), of_a).await?;
    made(place, &account(b), of_b).await?;
    made(place, &binding("ClusterRoleBinding", SHARED, "ClusterRole/cluster-admin", &[a]), None).await?;
    let base = format!("{SHARED}-base");
    made(place, &binding("ClusterRoleBinding", &base, "ClusterRole/configsync.gke.io:root-reconciler", &[b]), None)
        .await?;
    made(place, &binding("ClusterRoleBinding", "root-reconciler-limited-abcde", "ClusterRole/reader", &[b]), of_b)
        .await?;
    made(place, &binding("RoleBinding", "shop/root-reconciler-limited-fghij", "Role/ci", &[b]), of_b).await?;
    let (first, second) = (Reconciler::of(place, a).await?, Reconciler::of(place, b).await?);
    let (all, some) = (allowed_by(&["ClusterRole/cluster-admin"]), allowed_by(&refs));
    access::until(&first, &all).await?;
    access::until(&second, &some).await?;
    // Beside it we only plan.
    let manager = manage(place)?;
    manager.see().await?;
    ensure!(manager.requests.counts().writes == 0, "two writers");
    let vigils = [Vigil::begin(&first, all.clone(), all.clone()), Vigil::begin(&second, some.clone(), some.clone())];
    place.apply(&deployment(0)).await?;
    until(place, &plain, "BoundByDefault").await?;
    until(place, &limited, "Bound").await?;
    for object in [
        rbac("ClusterRoleBinding", SHARED),
        rbac("ClusterRoleBinding", &base),
        rbac("ClusterRoleBinding", "root-reconciler-limited-abcde"),
        rbac("RoleBinding", "shop/root-reconciler-limited-fghij"),
    ] {
        place.until_gone(&object).await?;
    }
    manager.rest().await?;
    for vigil in vigils {
        vigil.end().await?;
    }
    // What was inherited is ours to take away.
    let narrow = ["ClusterRole/reader@shop"];
    place.apply(&root("limited", &narrow)).await?;
    access::until(&second, &allowed_by(&narrow)).await?;
    for sync in [&plain, &limited] {
        place.delete(sync).await?;
        place.until_gone(sync).await?;
    }
    ensure!(place.get(&account(a)).await?.is_none() && place.get(&account(b)).await?.is_none());
    place.delete(&deployment(0)).await?;
    manager.end().await
}

//! How syncs go, with a reconciler that cleans up and one that is dead.

use anyhow::{Result, ensure};
use rolewright_testkit::manifest::rbac;
use rolewright_testkit::place::Place;
use serde_json::json;

use crate::access::{self, allowed_by};
use crate::place::{account, manage, root, until};
use crate::reconciler::Reconciler;

const REFS: [&str; 2] = ["ClusterRole/reader@shop", "Role/ci@bank"];
const OURS: &str = "configsync.gke.io/reconciler-manager";

pub(crate) async fn departing(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    for dead in [false, true] {
        let sync = root("leaves", &REFS);
        place.apply(&sync).await?;
        until(place, &sync, "Bound").await?;
        let reconciler = Reconciler::of(place, "root-reconciler-leaves").await?;
        access::until(&reconciler, &allowed_by(&REFS)).await?;
        let held = json!({"metadata": {"finalizers": ["configsync.gke.io/reconciler", OURS]}});
        reconciler.change(&sync, &held, false).await?;
        place.delete(&sync).await?;
        // It cleans up with all its rights, and these are kept in order.
        for binding in place.list(&rbac("RoleBinding", "x"), "configsync.gke.io/sync-name=leaves").await? {
            place.delete(&binding).await?;
            place.until("it is back", &binding, |back| back["metadata"]["uid"] != binding["metadata"]["uid"]).await?;
        }
        access::until(&reconciler, &allowed_by(&REFS)).await?;
        ensure!(place.get(&sync).await?.is_some() && place.get(&account("root-reconciler-leaves")).await?.is_some());
        if dead {
            let why = json!({"metadata": {"annotations": {"rolewright.io/release-reconciler": "its node burnt down"}}});
            place.merge(&sync, &why).await?;
        } else {
            reconciler.change(&sync, &json!({"metadata": {"finalizers": [OURS]}}), false).await?;
        }
        place.until_gone(&sync).await?;
        ensure!(place.get(&account("root-reconciler-leaves")).await?.is_none(), "the account went before the sync");
        ensure!(reconciler.may_do().await?.is_empty());
    }
    manager.end().await
}

//! The manager under exactly the rights that `rolewright manifests rbac --modules sync` prints, with any role to give and
//! with some.

use anyhow::{Result, ensure};
use kube::api::{DynamicObject, PostParams};
use rolewright_plan::Module;
use rolewright_plan::rights::Identity;
use rolewright_plan::sync::{RoleRefs, Settings};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::rights::{self, Day};
use rolewright_testkit::place::{PATIENCE, Place};
use serde_json::{Value, json};

use crate::place::{HOME, account, role_ref, root, until};

const SHARED: &str = "configsync.gke.io:root-reconciler";
const SHARED_IN: &str = "shop/configsync.gke.io:ns-reconciler";

pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    rights::exactly_enough(place, &Works(Settings::default())).await?;
    let bindable = Some(["reader", "ci", "writer"].map(Into::into).into());
    let limited = Settings { bindable, default_role: None, ..Settings::default() };
    rights::exactly_enough(place, &Works(limited)).await
}

struct Works(Settings);

fn repo() -> Value {
    json!({"apiVersion": "configsync.gke.io/v1beta1", "kind": "RepoSync",
        "metadata": {"namespace": "shop", "name": "repo-sync"}, "spec": {}})
}

impl Day for Works {
    fn modules(&self) -> Vec<Box<dyn Module>> {
        vec![Box::new(RoleRefs::new(self.0.clone()))]
    }

    async fn tidy_up(&self, place: &Place) -> Result<()> {
        let lease = Identity::default();
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": lease.namespace, "name": lease.lease}});
        let mut all =
            vec![root("rights", &[]), repo(), lease, account("root-reconciler-rights"), account("ns-reconciler-shop")];
        all.extend([rbac("ClusterRoleBinding", SHARED), rbac("RoleBinding", SHARED_IN)]);
        all.extend(["root", "ns"].map(|kind| rbac("ClusterRole", &format!("rolewright:{kind}-reconciler"))));
        for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
            all.extend(place.list(&rbac(kind, "x"), "configsync.gke.io/managed-by=reconciler-manager").await?);
        }
        let start = std::time::Instant::now();
        for object in &all {
            while place.get(object).await?.is_some() {
                // What keeps it is no longer there to let it go.
                let _ = place.merge(object, &json!({"metadata": {"finalizers": null}})).await;
                let _ = place.delete(object).await;
                ensure!(start.elapsed() < PATIENCE, "it does not go: {object:#}");
            }
        }
        Ok(())
    }

    /// What Config Sync's manager left: an account, and bindings in which others are as well.
    async fn before(&self, place: &Place, _: &Identity) -> Result<()> {
        let subjects = |own: &str| {
            json!([{"kind": "ServiceAccount", "namespace": HOME, "name": own}, {"kind": "User", "name": "somebody",
                "apiGroup": "rbac.authorization.k8s.io"}])
        };
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"});
        for object in [
            account("root-reconciler-rights"),
            with(
                rbac("ClusterRoleBinding", SHARED),
                json!({"subjects": subjects("root-reconciler-rights"), "roleRef": role}),
            ),
            with(rbac("RoleBinding", SHARED_IN), json!({"subjects": subjects("ns-reconciler-shop"), "roleRef": role})),
        ] {
            let labels = json!({"metadata": {"labels": {"configsync.gke.io/managed-by": "reconciler-manager"}}});
            let params = PostParams {
                field_manager: Some("configsync.gke.io/reconciler-manager".to_owned()),
                ..PostParams::default()
            };
            let made: DynamicObject = serde_json::from_value(with(object.clone(), labels))?;
            place.api(&object)?.create(&params, &made).await?;
        }
        Ok(())
    }

    async fn work(&self, place: &Place) -> Result<()> {
        let sync = root("rights", &["ClusterRole/reader", "ClusterRole/reader@shop", "Role/ci@shop"]);
        place.apply(&sync).await?;
        place.apply(&repo()).await?;
        until(place, &sync, "Bound").await?;
        until(place, &repo(), "BaseOnly").await?;
        let only_somebody = |binding: &Value| binding["subjects"].as_array().is_some_and(|all| all.len() == 1);
        place.until("others stay", &rbac("ClusterRoleBinding", SHARED), only_somebody).await?;
        place.until("others stay", &rbac("RoleBinding", SHARED_IN), only_somebody).await?;
        // A role that is not there yet is bound as well.
        let refs = json!({"spec": {"override": {"roleRefs": [role_ref("ClusterRole/writer")]}}});
        place.merge(&sync, &refs).await?;
        until(place, &sync, "Bound").await?;
        // Something to complain of: events are told.
        place.merge(&sync, &json!({"spec": {"override": {"roleRefs": [role_ref("Role/ci@nowhere")]}}})).await?;
        until(place, &sync, "NamespaceMissing").await?;
        for sync in [&sync, &repo()] {
            place.delete(sync).await?;
            place.until_gone(sync).await?;
        }
        for kind in ["root", "ns"] {
            place.until_gone(&rbac("ClusterRole", &format!("rolewright:{kind}-reconciler"))).await?;
        }
        Ok(())
    }
}

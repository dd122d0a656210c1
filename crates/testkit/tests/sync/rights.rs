//! The manager under exactly the rights that `rolewright manifests rbac --modules sync` prints, with any role to give and
//! with some.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kube::api::{DynamicObject, PostParams};
use rolewright_core::subject::User;
use rolewright_plan::Module;
use rolewright_plan::rights::{Identity, Rights};
use rolewright_plan::sync::{RoleRefs, Settings};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::rights::{self, Day};
use rolewright_testkit::place::{PATIENCE, Place};
use rolewright_testkit::requests::Requests;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::access::{self, Vigil, allowed_by};
use crate::place::{HOME, account, message, refs, repo, role_ref, root, until};
use crate::process;
use crate::reconciler::Reconciler;

const SHARED: &str = "configsync.gke.io:root-reconciler";
const SHARED_IN: &str = "shop/configsync.gke.io:ns-reconciler";

pub(crate) async fn exactly_enough(place: &Place) -> Result<()> {
    rights::exactly_enough(place, &Works(Settings::default())).await?;
    let bindable = Some(["reader", "ci", "writer"].map(Into::into).into());
    let limited = Settings { bindable, default_role: None, ..Settings::default() };
    rights::exactly_enough(place, &Works(limited)).await
}

/// A manager that is asked for more than it may give: the rest is given, and what should go goes.
pub(crate) async fn refused(place: &Place) -> Result<()> {
    let identity = Identity::default();
    place.apply(&identity.namespace_manifest().context("it has a namespace of its own")?).await?;
    let less = Settings { bindable: Some(vec!["reader".into()]), default_role: None, ..Settings::default() };
    let module: &dyn Module = &RoleRefs::new(less);
    for manifest in Rights::of([module], &identity).manifests(&identity) {
        place.apply(&manifest).await?;
    }
    for (verb, group, resource, namespace) in
        [("list", "configsync.gke.io", "rootsyncs", ""), ("create", "", "serviceaccounts", HOME)]
    {
        let attributes = json!({"verb": verb, "group": group, "resource": resource, "namespace": namespace});
        let user = format!("system:serviceaccount:{}:{}", identity.namespace, identity.name);
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {},
            "spec": {"user": user, "resourceAttributes": attributes}});
        let start = Instant::now();
        while !place.review(&review).await? {
            ensure!(start.elapsed() < PATIENCE, "the authorizer does not follow: {review}");
            sleep(Duration::from_millis(5)).await;
        }
    }
    let user = User::service_account(&identity.namespace, &identity.name);
    process::during(place.client_as(&user, &Requests::default())?, ask_for_more(place)).await
}

async fn ask_for_more(place: &Place) -> Result<()> {
    let before = ["ClusterRole/reader", "ClusterRole/reader@shop"];
    let sync = root("asks", &before);
    place.apply(&sync).await?;
    until(place, &sync, "Bound").await?;
    let reconciler = Reconciler::of(place, "root-reconciler-asks").await?;
    access::until(&reconciler, &allowed_by(&before)).await?;
    let given = allowed_by(&["ClusterRole/reader@shop"]);
    let vigil = Vigil::begin(&reconciler, allowed_by(&before), given.clone());
    place.merge(&sync, &refs(&["ClusterRole/reader@shop", "ClusterRole/writer"])).await?;
    let stored = until(place, &sync, "Forbidden").await?;
    let expected = "ClusterRole/writer: Forbidden; ClusterRole/reader in shop: Bound; ";
    ensure!(message(&stored).starts_with(expected), "{stored:#}");
    access::until(&reconciler, &given).await?;
    vigil.end().await?;
    place.delete(&sync).await?;
    place.until_gone(&sync).await
}

struct Works(Settings);

impl Day for Works {
    fn modules(&self) -> Vec<Box<dyn Module>> {
        vec![Box::new(RoleRefs::new(self.0.clone()))]
    }

    async fn tidy_up(&self, place: &Place) -> Result<()> {
        let lease = Identity::default();
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"namespace": lease.namespace, "name": lease.lease}});
        let mut all = vec![
            root("rights", &[]),
            repo("shop", "repo-sync"),
            lease,
            account("root-reconciler-rights"),
            account("ns-reconciler-shop"),
        ];
        all.extend([rbac("ClusterRoleBinding", SHARED), rbac("RoleBinding", SHARED_IN)]);
        all.extend(["root", "ns"].map(|kind| rbac("ClusterRole", &format!("rolewright:{kind}-reconciler"))));
        for kind in ["ClusterRoleBinding", "RoleBinding", "Role"] {
            all.extend(place.list(&rbac(kind, "x"), "configsync.gke.io/managed-by=reconciler-manager").await?);
        }
        let start = Instant::now();
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
        place.apply(&repo("shop", "repo-sync")).await?;
        until(place, &sync, "Bound").await?;
        until(place, &repo("shop", "repo-sync"), "BaseOnly").await?;
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
        for sync in [&sync, &repo("shop", "repo-sync")] {
            place.delete(sync).await?;
            place.until_gone(sync).await?;
        }
        for kind in ["root", "ns"] {
            place.until_gone(&rbac("ClusterRole", &format!("rolewright:{kind}-reconciler"))).await?;
        }
        Ok(())
    }
}

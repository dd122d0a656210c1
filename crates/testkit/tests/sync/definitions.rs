//! Our definitions, and those of Config Sync itself.

use anyhow::{Context, Result, ensure};
use kube::api::DynamicObject;
use rolewright_testkit::manifest::with;
use rolewright_testkit::place::Place;
use serde_json::{Value, json};

use crate::access::{self, allowed_by};
use crate::place::{HOME, manage, role_ref, root, until};
use crate::reconciler::Reconciler;

/// Creates an object as a client does that checks nothing itself.
async fn create(place: &Place, object: &Value) -> Result<Result<Value, String>> {
    let wish: DynamicObject = serde_json::from_value(object.clone())?;
    let path = format!("/apis/configsync.gke.io/v1beta1/namespaces/{HOME}/rootsyncs?fieldValidation=Ignore");
    let request = http::Request::post(path).header("content-type", "application/json");
    let done: kube::Result<Value> = place.client.request(request.body(serde_json::to_vec(&wish)?)?).await;
    match done {
        Ok(stored) => Ok(Ok(stored)),
        Err(kube::Error::Api(status)) => Ok(Err(status.message.clone())),
        Err(error) => Err(error.into()),
    }
}

fn misspelt(name: &str) -> Value {
    let mut sync = root(name, &[]);
    sync["spec"] = json!({"overrides": {"roleRefs": reader()}});
    sync
}

fn reader() -> Value {
    json!([role_ref("ClusterRole/reader")])
}

/// With our definitions what cannot be meant is refused, with the way out.
pub(crate) async fn ours(place: &Place) -> Result<()> {
    let bad = |refs: Value| with(root("bad", &[]), json!({"spec": {"override": {"roleRefs": refs}}}));
    for (object, expected) in [
        (misspelt("bad"), "spec.overrides: Forbidden: there is no such field: say `override`, and not `overrides`"),
        (
            with(root("bad", &[]), json!({"spec": {"roleRefs": reader()}})),
            "spec.roleRefs: Forbidden: there is no such field: say `override.roleRefs`, and not `roleRefs`",
        ),
        (
            with(root("bad", &[]), json!({"spec": {"override": {"roleRef": reader()}}})),
            "spec.override.roleRef: Forbidden: there is no such field: say `roleRefs`, and not `roleRef`",
        ),
        (
            with(root("bad", &[]), json!({"spec": {"override": {"rolerefs": reader()}}})),
            "spec.override.rolerefs: Forbidden: there is no such field: say `roleRefs`, and not `rolerefs`",
        ),
        (
            bad(json!([{"kind": "Role", "name": "x"}])),
            "spec.override.roleRefs[0].namespace: Required value: a Role needs the namespace that it is in",
        ),
        (bad(json!([{"kind": "Role", "name": "x", "namespace": ""}])), "a Role needs the namespace that it is in"),
        (bad(json!([{"kind": "Group", "name": "x"}])), "Unsupported value: \"Group\""),
        (bad(json!([{"kind": "ClusterRole", "name": ""}])), "spec.override.roleRefs[0].name"),
        (bad(json!([{"kind": "ClusterRole"}])), "spec.override.roleRefs[0].name: Required value"),
    ] {
        let refused = create(place, &object).await?.err().with_context(|| format!("{object} is accepted"))?;
        ensure!(refused.contains(expected), "{refused}\nand not: {expected}");
    }
    // Both versions are one object, and what is not ours to know passes through.
    let mut old =
        with(root("old", &["ClusterRole/reader"]), json!({"spec": {"git": {"repo": "x"}, "sourceType": "git"}}));
    old["apiVersion"] = json!("configsync.gke.io/v1alpha1");
    place.apply(&old).await?;
    let manager = manage(place)?;
    let stored = until(place, &old, "Bound").await?;
    ensure!(stored["spec"]["git"]["repo"] == "x", "{stored:#}");
    place.delete(&old).await?;
    place.until_gone(&old).await?;
    manager.end().await
}

/// With Config Sync's own definitions `overrides` is dropped before anybody sees it, and conditions are one list.
pub(crate) async fn theirs(place: &Place) -> Result<()> {
    let manager = manage(place)?;
    let mut sync = misspelt("typo");
    let applied = sync.to_string();
    sync["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    let stored = create(place, &sync).await?.map_err(anyhow::Error::msg)?;
    ensure!(stored["spec"].get("overrides").is_none(), "{stored:#}");
    until(place, &sync, "OverridesMisspelt").await?;
    let reconciler = Reconciler::of(place, "root-reconciler-typo").await?;
    access::until(&reconciler, &[]).await?;
    // Who says it right gets it.
    place.merge(&sync, &json!({"spec": {"override": {"roleRefs": reader()}}})).await?;
    until(place, &sync, "Bound").await?;
    access::until(&reconciler, &allowed_by(&["ClusterRole/reader"])).await?;
    // What others say stays, and nobody writes for ever because the server does not keep all that we say.
    let others =
        json!([{"type": "Syncing", "status": "True", "commit": "abc", "lastUpdateTime": "2026-01-01T00:00:00Z"}]);
    place.report(&sync, &json!({"conditions": others, "observedGeneration": 7})).await?;
    let stored = until(place, &sync, "Bound").await?;
    let conditions = stored["status"]["conditions"].as_array().context("conditions")?;
    ensure!(conditions.len() == 2 && conditions[0] == others[0], "{conditions:#?}");
    ensure!(stored["status"]["observedGeneration"] == 7 && stored["status"]["reconciler"] == "root-reconciler-typo");
    manager.rest().await?;
    manager.end().await?;
    let again = place.manage_once(vec![Box::new(rolewright_plan::sync::RoleRefs::default())]).await?;
    ensure!(again == 0, "a restart wrote {again} times");
    Ok(())
}

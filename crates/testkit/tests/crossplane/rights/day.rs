//! What the manager does in a day.

use anyhow::{Context, Result, ensure};
use kube::api::{DynamicObject, PostParams};
use rolewright_plan::crossplane::{Manage, Settings};
use rolewright_plan::rights::Identity;
use rolewright_testkit::manifest::{rbac, with};
use serde_json::{Value, json};

use crate::place::{PATIENCE, Place};
use crate::platform::{Definition, PROVIDERS, Provider, SYSTEM, Scope, namespace};

pub(super) const DEFINED: Definition = Definition { plural: "xrights", group: "acme.io", scope: Scope::Claimed };
const NEW: Definition = Definition { plural: "xnew", group: "acme.io", scope: Scope::Claimed };
const TAKEN: Definition = Definition { plural: "xtaken", group: "acme.io", scope: Scope::Claimed };
pub(super) const BRINGING: Provider =
    Provider { name: "rights", served: &["wrongs.rights.example.org"], ..PROVIDERS[0] };
/// Two of one family, but not of one publisher.
const STRANGERS: [Provider; 2] = [
    Provider { name: "near", family: Some("strange"), ..BRINGING },
    Provider { name: "far", family: Some("strange"), ..BRINGING },
];
const NAMELESS: Provider = Provider { name: "taken", ..BRINGING };

fn role(name: &str) -> Value {
    rbac("ClusterRole", name)
}

fn composite(definition: &Definition, to: &str) -> Value {
    role(&format!("crossplane:composite:{}:aggregate-to-{to}", definition.name()))
}

fn provider(provider: &Provider, what: &str) -> String {
    format!("crossplane:provider:{}:{what}", provider.id())
}

/// What is there when the manager comes: a role and a binding that its predecessor made, and roles that others made.
pub(super) async fn before(place: &Place) -> Result<()> {
    let definition = place.apply(&DEFINED.object()).await?;
    inherit(place, &definition, &with(composite(&DEFINED, "crossplane"), json!({"rules": []}))).await?;
    BRINGING.install(place).await?;
    let revision = place.get(&BRINGING.object()).await?.context("it is installed")?;
    let name = provider(&BRINGING, "system");
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    inherit(place, &revision, &with(rbac("ClusterRoleBinding", &name), json!({"roleRef": role_ref}))).await?;
    for taken in [composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))] {
        place.apply(&with(taken, json!({"rules": []}))).await?;
    }
    Ok(())
}

/// An object as Crossplane's manager made it for another one.
async fn inherit(place: &Place, owner: &Value, object: &Value) -> Result<()> {
    let owner = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true});
    let object = with(object.clone(), json!({"metadata": {"ownerReferences": [owner]}}));
    let params = PostParams { field_manager: Some("crossplane".to_owned()), ..PostParams::default() };
    let made: DynamicObject = serde_json::from_value(object.clone())?;
    place.api(&object)?.create(&params, &made).await?;
    Ok(())
}

/// Everything that the manager has to do: grant, inherit, bind, widen, revoke, complain.
pub(super) async fn work(place: &Place, settings: &Settings) -> Result<()> {
    let has = |text: &'static str| move |object: &Value| object["rules"].to_string().contains(text);
    let ours = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array();
        entries.is_some_and(|all| all.iter().all(|entry| entry["manager"] != "crossplane"))
    };
    place
        .until("an inheritance", &composite(&DEFINED, "crossplane"), |role| ours(role) && has("xrights")(role))
        .await?;
    place.apply(&NEW.object()).await?;
    place.until("a definition's role", &composite(&NEW, "crossplane"), has("xnew")).await?;
    let system = role(&provider(&BRINGING, "system"));
    let binding = rbac("ClusterRoleBinding", &provider(&BRINGING, "system"));
    place.until("a provider's role", &system, has("wrongs")).await?;
    place.until("its binding", &binding, |binding| ours(binding) && binding["subjects"].is_array()).await?;
    let refs = json!([{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "name": "rights.rights.example.org"}]);
    place.report(&BRINGING.object(), &json!({"objectRefs": refs})).await?;
    place.until("more rights", &system, has("\"rights\"")).await?;
    if settings.manage == Manage::All {
        let enabled = ["xrights", "nothing"].map(|name| (format!("rbac.crossplane.io/{name}.acme.io"), "xrd-enabled"));
        let enabled = json!({"metadata": {"annotations": std::collections::BTreeMap::from(enabled)}});
        place.merge(&namespace("rights"), &enabled).await?;
        place.until("a role of a namespace", &role("crossplane-ns-rights-edit"), |_| true).await?;
        told(place, "rights", "RW0201").await?;
    }
    for (stranger, publisher) in STRANGERS.iter().zip(["acme", "other"]) {
        let image = format!("xpkg.example.org/{publisher}/provider-{}:v1", stranger.name);
        place.apply(&with(stranger.object(), json!({"spec": {"image": image}}))).await?;
    }
    for stranger in &STRANGERS {
        told(place, &stranger.id(), "RW0204").await?;
    }
    // Trouble is told.
    let ready = |object: &Value| {
        let all = object["status"]["conditions"].as_array().into_iter().flatten();
        all.into_iter().any(|one| one["type"] == "PermissionsReady" && one["status"] == "False")
    };
    place.apply(&TAKEN.object()).await?;
    place.until("a complaint", &TAKEN.object(), ready).await?;
    NAMELESS.install(place).await?;
    place.until("a complaint", &NAMELESS.object(), ready).await?;
    // Less, and nothing.
    place.delete(&BRINGING.deployment("")).await?;
    place.delete(&BRINGING.account()).await?;
    place.until_gone(&binding).await?;
    place.report(&BRINGING.object(), &json!({"objectRefs": []})).await?;
    place.delete(&crate::platform::served("wrongs.rights.example.org")).await?;
    place.until_gone(&system).await
}

/// Waits for an event.
async fn told(place: &Place, name: &str, code: &str) -> Result<()> {
    let start = std::time::Instant::now();
    while !place.told(name, code).await? {
        ensure!(start.elapsed() < PATIENCE, "no event tells `{name}` of {code}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Takes away what a day leaves, for the next one to begin anew.
pub(super) async fn tidy_up(place: &Place, identity: &Identity) -> Result<()> {
    let annotations = ["xrights", "nothing"].map(|name| (format!("rbac.crossplane.io/{name}.acme.io"), Value::Null));
    let annotations = json!({"metadata": {"annotations": std::collections::BTreeMap::from(annotations)}});
    place.merge(&namespace("rights"), &annotations).await?;
    place.forget_events().await?;
    let lease = |namespace: &str, name: &str| {
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"namespace": namespace, "name": name}})
    };
    let mut all = vec![lease(&identity.namespace, &identity.lease), lease(SYSTEM, "crossplane-leader-election-rbac")];
    all.push(crate::platform::served("wrongs.rights.example.org"));
    all.extend([DEFINED, NEW, TAKEN].iter().map(Definition::object));
    all.extend(STRANGERS.iter().map(Provider::object));
    all.extend([BRINGING, NAMELESS].iter().flat_map(|one| [one.object(), one.deployment(""), one.account()]));
    all.extend([composite(&TAKEN, "crossplane"), role(&provider(&NAMELESS, "system"))]);
    all.extend([composite(&DEFINED, "crossplane"), rbac("ClusterRoleBinding", &provider(&BRINGING, "system"))]);
    all.extend(crate::drift::kept(place).await?);
    let start = std::time::Instant::now();
    for object in &all {
        while place.get(object).await?.is_some() {
            // The garbage collector may be faster; and the aggregation controller makes some anew.
            let _ = place.delete(object).await;
            ensure!(start.elapsed() < PATIENCE, "it does not go: {object:#}");
        }
    }
    Ok(())
}

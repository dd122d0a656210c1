//! A small platform, and what managers make of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_plan::crossplane::Settings;
use rolewright_testkit::manifest::{is_established, name, rbac, with};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::drift::plain;
use crate::place::{PATIENCE, Place, SUITE};
use crate::platform::{Definition, Provider, SYSTEM, Scope, managed, namespace, served};

pub(super) const DEFINITIONS: [Definition; 3] = [
    Definition { plural: "xas", group: "acme.io", scope: Scope::Claimed },
    Definition { plural: "bs", group: "acme.io", scope: Scope::Namespaced },
    Definition { plural: "xcs", group: crate::platform::LONG, scope: Scope::Claimed },
];

/// Two revisions of one provider, and a family of two.
pub(super) const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "p",
        revision: 1,
        family: None,
        served: &["as.p.org", "bs.p.org"],
        managed: &[],
        starts_safely: false,
    },
    Provider {
        name: "p",
        revision: 2,
        family: None,
        served: &["as.p.org", "cs.p.org"],
        managed: &[],
        starts_safely: false,
    },
    Provider {
        name: "f",
        revision: 1,
        family: Some("f"),
        served: &["as.f.org"],
        managed: &["bs.f.org"],
        starts_safely: false,
    },
    Provider {
        name: "g",
        revision: 1,
        family: Some("f"),
        served: &["as.g.org", "usages.g.org"],
        managed: &[],
        starts_safely: false,
    },
];

pub(super) const NAMESPACES: [&str; 2] = ["one", "two"];

/// Kinds of the names of Crossplane's, for lives in which their schemas do not matter.
fn kinds() -> [Value; 3] {
    let kind = |plural: &str, group: &str, kind: &str, versions: &[&str]| {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let version = |name: &&str| {
            json!({"name": name, "served": true, "storage": name == versions.first().unwrap_or(name),
                "subresources": {"status": {}}, "schema": schema})
        };
        let versions: Vec<Value> = versions.iter().map(version).collect();
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")}, "spec": {"group": group, "scope": "Cluster",
                "names": {"plural": plural, "kind": kind}, "versions": versions}})
    };
    let (extensions, packages) = ("apiextensions.crossplane.io", "pkg.crossplane.io");
    [
        kind("compositeresourcedefinitions", extensions, "CompositeResourceDefinition", &["v1", "v2"]),
        kind("managedresourcedefinitions", extensions, "ManagedResourceDefinition", &["v1alpha1"]),
        kind("providerrevisions", packages, "ProviderRevision", &["v1"]),
    ]
}

/// What is there before anything happens.
pub(crate) async fn begin(place: &Place) -> Result<()> {
    for kind in kinds() {
        place.apply(&kind).await?;
        place.until("a kind", &kind, is_established).await?;
    }
    for name in [SYSTEM].iter().chain(&NAMESPACES) {
        place.apply(&namespace(name)).await?;
    }
    Ok(())
}

/// Everything that managers read, owners first.
fn inputs() -> Vec<Value> {
    let mut all: Vec<Value> = [SYSTEM].iter().chain(&NAMESPACES).map(|name| namespace(name)).collect();
    all.extend(DEFINITIONS.iter().map(Definition::object));
    all.extend(PROVIDERS.iter().map(Provider::object));
    let brought = |one: &Provider| one.served.iter().map(|name| served(name)).collect::<Vec<_>>();
    all.extend(PROVIDERS.iter().flat_map(brought));
    all.extend(PROVIDERS.iter().flat_map(|one| one.managed.iter().map(|name| managed(name))));
    all.extend(PROVIDERS.iter().map(|one| one.deployment("")));
    all
}

/// Ends every pause, and waits until nothing is left whose owners are gone.
pub(super) async fn settle(place: &Place) -> Result<()> {
    let resumed = json!({"metadata": {"annotations": {"rolewright.io/paused": null, "crossplane.io/paused": null}}});
    for object in inputs().into_iter().chain(made(place).await?) {
        if place.get(&object).await?.is_some() {
            // It may go at any moment.
            let _ = place.merge(&object, &resumed).await;
        }
    }
    let start = Instant::now();
    loop {
        let mut known = Vec::new();
        let mut dangling = Vec::new();
        for object in inputs() {
            let Some(found) = place.get(&object).await? else { continue };
            known.push(found["metadata"]["uid"].clone());
            let owners = found["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            let left = owners.filter(|owner| !known.contains(&owner["uid"])).count();
            if left > 0 || found["metadata"]["deletionTimestamp"].is_string() {
                dangling.push(found);
            }
        }
        if dangling.is_empty() {
            return Ok(());
        }
        ensure!(start.elapsed() < PATIENCE, "nobody collects what is left: {dangling:#?}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// What a manager that saw no fault makes of the platform as it is now.
pub(super) async fn expected(users: &Place, settings: &Settings) -> Result<Map<String, Value>> {
    let clean = Place::embedded(SUITE, rolewright_server::Settings::default())?;
    begin(&clean).await?;
    let mut uids: BTreeMap<String, Value> = BTreeMap::new();
    for object in inputs() {
        let Some(found) = users.get(&object).await? else { continue };
        let metadata = &found["metadata"];
        let mut owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
        for owner in &mut owners {
            let uid = owner["uid"].as_str().unwrap_or_default();
            owner["uid"] = uids.get(uid).context("owners come first")?.clone();
        }
        let copy = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {
            "name": metadata["name"], "namespace": metadata["namespace"], "labels": metadata["labels"],
            "annotations": metadata["annotations"], "ownerReferences": owners}, "spec": found["spec"]});
        let copy = if object["kind"] == "Namespace" { with(copy, json!({"spec": {}})) } else { copy };
        let stored = clean.apply(&without_nulls(copy)).await?;
        if object["kind"] == "ProviderRevision" && found["status"].is_object() {
            clean.report(&object, &json!({"objectRefs": found["status"]["objectRefs"]})).await?;
        }
        let uid = metadata["uid"].as_str().unwrap_or_default();
        uids.insert(uid.to_owned(), stored["metadata"]["uid"].clone());
    }
    clean.manage_once(super::modules(settings)).await?;
    let made = state(&clean).await?;
    clean.end();
    Ok(made)
}

fn without_nulls(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|_, value| !value.is_null());
    }
    object
}

/// Everything whose name says that managers made it.
pub(super) async fn made(place: &Place) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for kind in ["ClusterRole", "ClusterRoleBinding"] {
        all.extend(place.list(&rbac(kind, ""), "").await?);
    }
    all.retain(|object| name(object).starts_with("crossplane"));
    Ok(all)
}

/// What is granted: all roles and bindings, with whatever managers say of them.
pub(super) async fn state(place: &Place) -> Result<Map<String, Value>> {
    let mut state = Map::new();
    for object in made(place).await? {
        let mut plain = plain(&object);
        if let Some(labels) = plain["metadata"]["labels"].as_object_mut() {
            labels.remove("theirs");
        }
        for owner in plain["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
            owner["uid"] = Value::Null;
        }
        state.insert(format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', ""), plain);
    }
    Ok(state)
}

/// Where two states differ.
pub(super) fn difference(expected: &Map<String, Value>, found: &Map<String, Value>) -> String {
    let mut keys: Vec<&String> = expected.keys().chain(found.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let differ = keys.into_iter().filter(|key| expected.get(*key) != found.get(*key));
    let shown = |side: &Map<String, Value>, key| side.get(key).map_or_else(|| "nothing".to_owned(), Value::to_string);
    let told =
        differ.map(|key| format!("{key}\n  expected {}\n  found    {}", shown(expected, key), shown(found, key)));
    format!("it does not converge:\n{}", told.collect::<Vec<_>>().join("\n"))
}

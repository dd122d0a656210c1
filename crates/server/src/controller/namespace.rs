//! The life of a namespace: it gets what every namespace has, and it takes its content with it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ROOT_CA, change, delete};
use crate::cluster::{Entry, ObjectName, Page};
use crate::json::put;
use crate::registry::finalizers;
use crate::{Server, bootstrap};

const AGENT: &str = "kube-controller-manager";

pub(super) fn sync(server: &Server, name: &str) {
    let Some(entry) = server.cluster().read().table(server.namespaces()).get("", name).cloned() else { return };
    let controllers = server.settings().controllers;
    if !entry.deleting {
        if controllers.service_accounts {
            furnish_account(server, name);
        }
        if let Some(certificate) = server.settings().root_ca.as_ref().filter(|_| controllers.root_ca) {
            let map = json!({"metadata": {"name": ROOT_CA, "namespace": name}, "data": {"ca.crt": certificate}});
            furnish(server, "configmaps", name, ROOT_CA, map);
        }
        return;
    }
    if !controllers.namespaces {
        return;
    }
    let remaining = clear(server, name);
    report(server, name, &remaining);
    if remaining.is_empty() {
        let at = ObjectName { collection: server.namespaces(), namespace: "".into(), name: name.into() };
        change(server, &at, "finalize", AGENT, &|mut object| {
            let spec = object.entry("spec").or_insert_with(|| json!({}));
            if let Some(list) = spec.get_mut("finalizers").and_then(Value::as_array_mut) {
                list.retain(|finalizer| finalizer != "kubernetes");
            }
            Ok(object)
        });
    }
}

pub(super) fn furnish_account(server: &Server, namespace: &str) {
    let account = json!({"metadata": {"name": "default", "namespace": namespace}});
    furnish(server, "serviceaccounts", namespace, "default", account);
}

fn furnish(server: &Server, plural: &str, namespace: &str, name: &str, object: Value) {
    let Some(served) = server.catalog().find("", "v1", plural) else { return };
    if server.cluster().read().table(served.collection).get(namespace, name).is_none() {
        bootstrap::store(server, "", plural, AGENT, object);
    }
}

/// What could not be removed yet: the resource, and the finalizers of one object.
type Remaining = Vec<(String, Vec<String>)>;

/// Deletes what is in a namespace. Returns what is left.
fn clear(server: &Server, namespace: &str) -> Remaining {
    let page = Page { namespace, after: None };
    let content: Vec<(ObjectName, String)> = {
        let state = server.cluster().read();
        let entries = state.tables().flat_map(|(collection, table)| {
            let doomed = table.entries(&page).filter(|entry| !entry.deleting);
            let named = move |entry: &std::sync::Arc<Entry>| {
                let at = ObjectName { collection, namespace: namespace.into(), name: entry.name.clone() };
                (at, entry.uid.to_string())
            };
            doomed.map(named).collect::<Vec<_>>()
        });
        entries.collect()
    };
    for (at, uid) in &content {
        delete(server, at, uid, "Background", AGENT);
    }
    let state = server.cluster().read();
    let left = state.tables().flat_map(|(collection, table)| {
        let entries: Vec<_> = table.entries(&page).collect();
        let served = if entries.is_empty() { None } else { server.catalog().stored_in(collection) };
        let resource = served.map(|served| served.group_resource().to_string()).unwrap_or_default();
        entries.into_iter().map(move |entry| {
            let finalizers = finalizers(&entry.object()).into_iter().map(str::to_owned).collect();
            (resource.clone(), finalizers)
        })
    });
    left.collect()
}

fn count<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    counts
}

/// Says in the namespace's status how far its removal is.
fn report(server: &Server, name: &str, remaining: &Remaining) {
    let resources = count(remaining.iter().map(|(resource, _)| resource.as_str()));
    let held = count(remaining.iter().flat_map(|(_, finalizers)| finalizers).map(String::as_str));
    let listed = |counts: &BTreeMap<&str, usize>, of: &str| {
        let each = counts.iter().map(|(text, count)| format!("{text}{of} {count} resource instances"));
        each.collect::<Vec<_>>().join(", ")
    };
    let (left, finalizing) = (listed(&resources, ". has"), listed(&held, " in"));
    let wanted = [
        (
            "NamespaceDeletionDiscoveryFailure",
            false,
            "ResourcesDiscovered",
            "All resources successfully discovered".to_owned(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_owned(),
        ),
        (
            "NamespaceDeletionContentFailure",
            false,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
        ),
        if resources.is_empty() {
            ("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed".to_owned())
        } else {
            ("NamespaceContentRemaining", true, "SomeResourcesRemain", format!("Some resources are remaining: {left}"))
        },
        if held.is_empty() {
            (
                "NamespaceFinalizersRemaining",
                false,
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished".to_owned(),
            )
        } else {
            (
                "NamespaceFinalizersRemaining",
                true,
                "SomeFinalizersRemain",
                format!("Some content in the namespace has finalizers remaining: {finalizing}"),
            )
        },
    ];
    let at = ObjectName { collection: server.namespaces(), namespace: "".into(), name: name.into() };
    let now = crate::time::seconds(crate::time::now());
    change(server, &at, "status", AGENT, &|mut object| {
        let status = object.entry("status").or_insert_with(|| json!({}));
        let before = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        let conditions: Vec<Value> = wanted
            .iter()
            .map(|(kind, is, reason, message)| {
                let is = if *is { "True" } else { "False" };
                let old = before.iter().find(|condition| condition["type"] == *kind);
                let since =
                    old.filter(|old| old["status"] == is).map_or(json!(now), |old| old["lastTransitionTime"].clone());
                json!({"type": kind, "status": is, "lastTransitionTime": since, "reason": reason, "message": message})
            })
            .collect();
        let others = before.into_iter().filter(|old| !wanted.iter().any(|(kind, ..)| old["type"] == *kind));
        put(status, "conditions", others.chain(conditions).collect::<Vec<_>>());
        Ok(object)
    });
}

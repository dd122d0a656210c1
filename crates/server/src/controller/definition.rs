//! The life of a definition: its names are accepted, it is served, and it takes its objects with it.
//!
//! One step at a time: each step is a write, and a write brings the definition here again.

use std::sync::Arc;

use serde_json::{Value, json};

use super::change;
use crate::Server;
use crate::cluster::{Entry, ObjectName, Page};
use crate::json::put;
use crate::registry::finalizers;
use crate::strategy::Object;
use crate::time;

const AGENT: &str = "kube-apiserver";

/// Keeps a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(super) fn sync(server: &Server, name: &str) {
    let Some(entry) = server.cluster().read().table(server.definitions()).get("", name).cloned() else {
        return gone(server, name);
    };
    let object = entry.object();
    if accept_names(server, &entry, &object) {
        return;
    }
    server.catalog().serve(&entry, || server.cluster().open());
    if is_true(&object, "NamesAccepted") && !is_true(&object, "Established") {
        return set_condition(
            server,
            &entry,
            &condition("Established", true, "InitialNamesAccepted", "the initial names have been accepted"),
        );
    }
    if entry.deleting && finalizers(&object).contains(&CLEANUP) {
        finalize(server, &entry, &object);
    }
}

/// Its names are free again.
fn gone(server: &Server, name: &str) {
    if let Some(collection) = server.catalog().forget(name) {
        server.cluster().close(collection);
    }
}

/// Whether something had to be written about the names.
fn accept_names(server: &Server, entry: &Arc<Entry>, object: &Object) -> bool {
    let names = |part: &str, member: &str| object.get(part).and_then(|part| part.get(member)).cloned();
    let wanted = names("spec", "names");
    if wanted == names("status", "acceptedNames") {
        return false;
    }
    change(server, &at(server, entry), "status", AGENT, &|mut object| {
        put(object.entry("status").or_insert_with(|| json!({})), "acceptedNames", wanted.clone().unwrap_or_default());
        set(&mut object, &condition("NamesAccepted", true, "NoConflicts", "no conflicts found"));
        if !is_true(&object, "Established") {
            set(&mut object, &condition("Established", false, "Installing", "the initial names have been accepted"));
        }
        Ok(object)
    });
    true
}

/// Objects go first, then the definition.
fn finalize(server: &Server, entry: &Arc<Entry>, object: &Object) {
    let in_progress =
        condition("Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    if reason(object, "Terminating") != "InstanceDeletionInProgress" {
        return set_condition(server, entry, &in_progress);
    }
    let last = match server.catalog().definition(&entry.name) {
        Some((_, collection)) if is_true(object, "Established") => {
            clear(server, collection);
            if !server.cluster().close(collection) {
                return;
            }
            condition("Terminating", false, "InstanceDeletionCompleted", "removed all instances")
        }
        _ => condition("Terminating", false, "NeverEstablished", "resource was never established"),
    };
    change(server, &at(server, entry), "status", AGENT, &|mut object| {
        set(&mut object, &last);
        let finalizers = object.get_mut("metadata").and_then(|meta| meta.get_mut("finalizers"));
        if let Some(list) = finalizers.and_then(Value::as_array_mut) {
            list.retain(|finalizer| finalizer != CLEANUP);
        }
        Ok(object)
    });
}

/// Deletes what there is of a kind.
fn clear(server: &Server, collection: crate::cluster::Collection) {
    let content: Vec<(ObjectName, String)> = {
        let state = server.cluster().read();
        let all = Page::default();
        let entries = state.table(collection).entries(&all).filter(|entry| !entry.deleting);
        entries
            .map(|entry| {
                let (namespace, name) = (entry.namespace.clone(), entry.name.clone());
                (ObjectName { collection, namespace, name }, entry.uid.to_string())
            })
            .collect()
    };
    for (at, uid) in content {
        super::delete(server, &at, &uid, "Background", AGENT);
    }
}

fn at(server: &Server, entry: &Entry) -> ObjectName {
    ObjectName { collection: server.definitions(), namespace: "".into(), name: entry.name.clone() }
}

pub(crate) fn condition(kind: &str, is: bool, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": if is { "True" } else { "False" }, "reason": reason, "message": message})
}

fn set_condition(server: &Server, entry: &Entry, condition: &Value) {
    change(server, &at(server, entry), "status", AGENT, &|mut object| {
        set(&mut object, condition);
        Ok(object)
    });
}

/// Sets a condition; its time changes only with its status.
pub(crate) fn set(object: &mut Object, condition: &Value) {
    let status = object.entry("status").or_insert_with(|| json!({}));
    let mut conditions = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut condition = condition.clone();
    let old = conditions.iter_mut().find(|old| old.get("type") == condition.get("type"));
    let since = old.as_ref().filter(|old| old.get("status") == condition.get("status"));
    let since = since.and_then(|old| old.get("lastTransitionTime").cloned());
    put(&mut condition, "lastTransitionTime", since.unwrap_or_else(|| time::seconds(time::now()).into()));
    match old {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
    put(status, "conditions", conditions);
}

fn find<'a>(object: &'a Object, kind: &str) -> Option<&'a Value> {
    let conditions = object.get("status")?.get("conditions")?.as_array()?;
    conditions.iter().find(|condition| condition.get("type").is_some_and(|found| found == kind))
}

fn is_true(object: &Object, kind: &str) -> bool {
    find(object, kind).is_some_and(|condition| condition.get("status").is_some_and(|status| status == "True"))
}

fn reason<'a>(object: &'a Object, kind: &str) -> &'a str {
    find(object, kind).and_then(|condition| condition.get("reason")).and_then(Value::as_str).unwrap_or_default()
}

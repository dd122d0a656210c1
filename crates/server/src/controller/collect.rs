//! Garbage collection: an object goes when its last owner is gone.

use serde_json::Value;

use super::{change, delete};
use crate::Server;
use crate::cluster::{ObjectName, State};
use crate::registry::finalizers;
use crate::strategy::Object;

const AGENT: &str = "kube-controller-manager";
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What an owner reference stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Alive,
    Gone,
    /// It waits for its dependents to go first.
    Waiting,
}

pub(super) fn sync(server: &Server, at: &ObjectName) {
    let Some(entry) = server.cluster().read().table(at.collection).get(&at.namespace, &at.name).cloned() else {
        return;
    };
    let object = entry.object();
    if entry.deleting && finalizers(&object).contains(&ORPHAN) {
        return orphan(server, at, &entry.uid);
    }
    if entry.deleting && finalizers(&object).contains(&FOREGROUND) {
        return foreground(server, at, &entry.uid);
    }
    let references = references(&object);
    if references.is_empty() {
        return;
    }
    let (alive, others): (Vec<_>, Vec<_>) = {
        let state = server.cluster().read();
        let of = |reference: &&Value| owner(server, &state, at, reference);
        references
            .iter()
            .map(|reference| (uid(reference).to_owned(), of(reference)))
            .partition(|(_, owner)| *owner == Owner::Alive)
    };
    if !alive.is_empty() {
        if !others.is_empty() {
            let drop: Vec<String> = others.into_iter().map(|(uid, _)| uid).collect();
            disown(server, at, &drop);
        }
        return;
    }
    let waiting = others.iter().any(|(_, owner)| *owner == Owner::Waiting);
    let has_dependents = server.cluster().read().owners.dependents(&entry.uid).next().is_some();
    let propagation = if waiting && has_dependents {
        "Foreground"
    } else if finalizers(&object).contains(&ORPHAN) {
        "Orphan"
    } else if finalizers(&object).contains(&FOREGROUND) {
        "Foreground"
    } else {
        "Background"
    };
    if !entry.deleting {
        delete(server, at, &entry.uid, propagation, AGENT);
    }
}

fn references(object: &Object) -> Vec<&Value> {
    let list = object.get("metadata").and_then(|meta| meta.get("ownerReferences")).and_then(Value::as_array);
    list.into_iter().flatten().collect()
}

fn uid(reference: &Value) -> &str {
    reference.get("uid").and_then(Value::as_str).unwrap_or_default()
}

/// An owner is found by uid, and only where a reference may point: in the same namespace or at cluster scope.
fn owner(server: &Server, state: &State, at: &ObjectName, reference: &Value) -> Owner {
    let Some(found) = state.owners.find(uid(reference)) else { return Owner::Gone };
    let Some(served) = server.catalog().stored_in(found.collection) else { return Owner::Gone };
    let text = |member: &str| reference.get(member).and_then(Value::as_str).unwrap_or_default();
    let same_kind = served.kind == text("kind") && found.name == text("name");
    if !same_kind || !found.namespace.is_empty() && found.namespace != at.namespace {
        return Owner::Gone;
    }
    match state.table(found.collection).get(&found.namespace, &found.name) {
        Some(entry) if entry.deleting && finalizers(&entry.object()).contains(&FOREGROUND) => Owner::Waiting,
        Some(_) => Owner::Alive,
        None => Owner::Gone,
    }
}

/// Nobody is taken along: dependents forget their owner, then it may go.
fn orphan(server: &Server, at: &ObjectName, owner: &str) {
    let dependents: Vec<ObjectName> = server.cluster().read().owners.dependents(owner).cloned().collect();
    for dependent in dependents {
        disown(server, &dependent, &[owner.to_owned()]);
    }
    drop_finalizer(server, at, ORPHAN);
}

/// Dependents go first; the owner follows when none of those that block it is left.
fn foreground(server: &Server, at: &ObjectName, owner: &str) {
    let dependents: Vec<ObjectName> = server.cluster().read().owners.dependents(owner).cloned().collect();
    let mut blocked = false;
    for dependent in &dependents {
        let entry =
            server.cluster().read().table(dependent.collection).get(&dependent.namespace, &dependent.name).cloned();
        let Some(entry) = entry else { continue };
        let object = entry.object();
        let blocks = |reference: &&Value| {
            uid(reference) == owner && reference.get("blockOwnerDeletion").and_then(Value::as_bool).unwrap_or_default()
        };
        blocked |= references(&object).iter().any(blocks);
        sync(server, dependent);
    }
    let left = server.cluster().read().owners.dependents(owner).next().is_some();
    if !blocked || !left {
        drop_finalizer(server, at, FOREGROUND);
    }
}

fn disown(server: &Server, at: &ObjectName, owners: &[String]) {
    change(server, at, "", AGENT, &|mut object| {
        if let Some(list) =
            object.get_mut("metadata").and_then(|meta| meta.get_mut("ownerReferences")).and_then(Value::as_array_mut)
        {
            list.retain(|reference| !owners.iter().any(|owner| owner == uid(reference)));
        }
        Ok(without_empty(object, "ownerReferences"))
    });
}

pub(super) fn drop_finalizer(server: &Server, at: &ObjectName, name: &str) {
    change(server, at, "", AGENT, &|mut object| {
        if let Some(list) =
            object.get_mut("metadata").and_then(|meta| meta.get_mut("finalizers")).and_then(Value::as_array_mut)
        {
            list.retain(|finalizer| finalizer != name);
        }
        Ok(without_empty(object, "finalizers"))
    });
}

fn without_empty(mut object: Object, member: &str) -> Object {
    let empty =
        object.get("metadata").and_then(|meta| meta.get(member)).and_then(Value::as_array).is_some_and(Vec::is_empty);
    if empty && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(member);
    }
    object
}

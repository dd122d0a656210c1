//! The life of a definition: its names are accepted, it is served, and it takes its objects with it.
//!
//! One step at a time: each step is a write, and a write brings the definition here again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolewright_core::Name;
use rolewright_crd::naming::{self, Names, Termination};
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::{change, delete};
use crate::Server;
use crate::cluster::{Collection, Entry, ObjectName, Page};
use crate::registry::finalizers;
use crate::strategy::Object;
use crate::time;

const AGENT: &str = "kube-apiserver";

pub(crate) use rolewright_crd::definition::CLEANUP_FINALIZER as CLEANUP;

/// The names that definitions have, and those that wait for some.
#[derive(Default)]
pub(crate) struct Naming(Mutex<Known>);

#[derive(Default)]
struct Known {
    names: Names,
    /// The definitions whose names are counted, as they were counted.
    counted: FxHashMap<Name, Arc<Entry>>,
    /// Definitions that did not get all that they wish, with their groups.
    waiting: BTreeMap<Name, Name>,
}

impl Naming {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Counts the names of a definition as it is now, or no longer.
    fn count(&mut self, name: &str, now: Option<(&Arc<Entry>, &Object)>) {
        let unchanged = |old: &Arc<Entry>| now.is_some_and(|(entry, _)| Arc::ptr_eq(old, entry));
        if self.counted.get(name).is_some_and(unchanged) {
            return;
        }
        if let Some(old) = self.counted.remove(name) {
            self.names.remove(&old.object());
        }
        self.waiting.remove(name);
        if let Some((entry, object)) = now {
            self.names.insert(object);
            self.counted.insert(name.into(), entry.clone());
            if naming::lacks_names(object) {
                self.waiting.insert(name.into(), group(object).into());
            }
        }
    }

    /// Those that wait for a name in a group.
    fn waiting_in(&self, group: &str, but: &str) -> Vec<Name> {
        let waiting = self.waiting.iter().filter(|(name, of)| *of == group && *name != but);
        waiting.map(|(name, _)| name.clone()).collect()
    }
}

/// Counts the names of the definitions that a store kept, before anybody asks for one.
pub(crate) fn recall(server: &Server) {
    let kept: Vec<Arc<Entry>> =
        server.cluster().read().table(server.definitions()).entries(&Page::default()).cloned().collect();
    let mut known = server.naming().known();
    for entry in &kept {
        known.count(&entry.name, Some((entry, &entry.object())));
    }
}

pub(super) fn sync(server: &Server, name: &str) {
    let Some(entry) = server.cluster().read().table(server.definitions()).get("", name).cloned() else {
        return gone(server, name);
    };
    let object = entry.object();
    server.naming().known().count(name, Some((&entry, &object)));
    server.catalog().serve(&entry, || server.cluster().open(&entry.name));
    if accept_names(server, &entry, &object) {
        return;
    }
    let steps: [fn(&mut Object, &str) -> bool; 3] = [naming::establish, naming::approve, naming::check_structure];
    for step in steps {
        if step(&mut object.clone(), &now()) {
            return write(server, name, |object| {
                step(object, &now());
            });
        }
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
    let waiting = {
        let mut known = server.naming().known();
        let group = known.counted.get(name).map(|entry| group(&entry.object()).to_owned());
        known.count(name, None);
        group.map(|group| known.waiting_in(&group, name)).unwrap_or_default()
    };
    server.cluster().wake_definitions(waiting);
}

/// Whether something had to be written about the names.
fn accept_names(server: &Server, entry: &Arc<Entry>, object: &Object) -> bool {
    let mut accepted = object.clone();
    if !naming::accept_names(&mut accepted, &server.naming().known().names, &now()) {
        return false;
    }
    let status = accepted.remove("status");
    write(server, &entry.name, |object| {
        object.extend(status.clone().map(|status| ("status".to_owned(), status)));
    });
    // It may have let go of a name that another one waits for.
    let waiting = server.naming().known().waiting_in(group(object), &entry.name);
    server.cluster().wake_definitions(waiting);
    true
}

/// Objects go first, then the definition.
fn finalize(server: &Server, entry: &Arc<Entry>, object: &Object) {
    let is = |kind: &str, member: &str, value: &str| {
        let conditions = object.get("status").and_then(|status| status.get("conditions")).and_then(Value::as_array);
        let mut conditions = conditions.into_iter().flatten();
        let of_kind = |condition: &&Value| condition.get("type").is_some_and(|found| found == kind);
        conditions.find(of_kind).is_some_and(|condition| condition.get(member).is_some_and(|found| found == value))
    };
    if !is("Terminating", "reason", "InstanceDeletionInProgress") {
        return write(server, &entry.name, |object| naming::terminate(object, &Termination::InProgress, &now()));
    }
    let how = match server.catalog().definition(&entry.name) {
        Some((_, collection)) if is("Established", "status", "True") => {
            clear(server, collection);
            if !server.cluster().close(collection) {
                // The last of its objects brings it here again.
                return;
            }
            Termination::Completed
        }
        _ => Termination::NeverEstablished,
    };
    write(server, &entry.name, |object| {
        naming::terminate(object, &how, &now());
        let finalizers = object.get_mut("metadata").and_then(|meta| meta.get_mut("finalizers"));
        if let Some(list) = finalizers.and_then(Value::as_array_mut) {
            list.retain(|finalizer| finalizer != CLEANUP);
        }
    });
}

/// Deletes what there is of a kind.
fn clear(server: &Server, collection: Collection) {
    let content: Vec<(ObjectName, String)> = {
        let state = server.cluster().read();
        let all = Page::default();
        let entries = state.table(collection).entries(&all).filter(|entry| !entry.deleting);
        let named = |entry: &Arc<Entry>| {
            let at = ObjectName { collection, namespace: entry.namespace.clone(), name: entry.name.clone() };
            (at, entry.uid.to_string())
        };
        entries.map(named).collect()
    };
    for (at, uid) in content {
        delete(server, &at, &uid, "Background", AGENT);
    }
}

fn write(server: &Server, name: &str, make: impl Fn(&mut Object)) {
    let at = ObjectName { collection: server.definitions(), namespace: "".into(), name: name.into() };
    change(server, &at, "status", AGENT, &|mut object| {
        make(&mut object);
        Ok(object)
    });
}

fn group(definition: &Object) -> &str {
    definition.get("spec").and_then(|spec| spec.get("group")).and_then(Value::as_str).unwrap_or_default()
}

fn now() -> String {
    time::seconds(time::now())
}

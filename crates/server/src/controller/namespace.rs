//! The life of a namespace: it gets what every namespace has, and it takes its content with it.

use serde_json::{Value, json};

use super::{ROOT_CA, change, delete};
use crate::cluster::{ObjectName, Page};
use crate::{Server, bootstrap};

const AGENT: &str = "kube-controller-manager";

pub(super) fn sync(server: &Server, name: &str) {
    let Some(entry) = server.cluster().read().table(server.namespaces()).get("", name).cloned() else { return };
    let controllers = server.settings().controllers;
    if !entry.deleting {
        if controllers.service_accounts {
            let account = json!({"metadata": {"name": "default", "namespace": name}});
            furnish(server, "serviceaccounts", name, "default", account);
        }
        if let Some(certificate) = server.settings().root_ca.as_ref().filter(|_| controllers.root_ca) {
            let map = json!({"metadata": {"name": ROOT_CA, "namespace": name}, "data": {"ca.crt": certificate}});
            furnish(server, "configmaps", name, ROOT_CA, map);
        }
        return;
    }
    if controllers.namespaces && clear(server, name) {
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

fn furnish(server: &Server, plural: &str, namespace: &str, name: &str, object: Value) {
    let Some(served) = server.catalog().find("", "v1", plural) else { return };
    if server.cluster().read().table(served.collection).get(namespace, name).is_none() {
        bootstrap::put(server, "", plural, AGENT, object);
    }
}

/// Deletes what is in a namespace; true if nothing is left.
fn clear(server: &Server, namespace: &str) -> bool {
    let page = Page { namespace, after: None };
    let content: Vec<(ObjectName, String, bool)> = {
        let state = server.cluster().read();
        let entries = state.tables().flat_map(|(collection, table)| {
            let named = move |name: &rolewright_core::Name| ObjectName { collection, namespace: namespace.into(), name: name.clone() };
            let entries: Vec<_> =
                table.entries(&page).map(|entry| (named(&entry.name), entry.uid.to_string(), entry.deleting)).collect();
            entries
        });
        entries.collect()
    };
    for (at, uid, deleting) in &content {
        if !deleting {
            delete(server, at, uid, "Background", AGENT);
        }
    }
    let state = server.cluster().read();
    state.tables().all(|(_, table)| table.entries(&page).next().is_none())
}

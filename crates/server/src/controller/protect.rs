//! Protection of storage: a deleted volume stays while a claim has it. Claims are in use by pods that run, and none does
//! here.

use serde_json::Value;

use super::collect::drop_finalizer;
use crate::Server;
use crate::cluster::ObjectName;
use crate::registry::finalizers;

/// What new volumes have.
pub(crate) const VOLUME: &str = "kubernetes.io/pv-protection";
/// What new claims have.
pub(crate) const CLAIM: &str = "kubernetes.io/pvc-protection";

pub(super) fn sync(server: &Server, at: &ObjectName) {
    let Some(entry) = server.cluster().read().table(at.collection).get(&at.namespace, &at.name).cloned() else {
        return;
    };
    if !entry.deleting {
        return;
    }
    let object = entry.object();
    let phase = object.get("status").and_then(|status| status.get("phase")).and_then(Value::as_str);
    for name in finalizers(&object) {
        if name == CLAIM || name == VOLUME && phase != Some("Bound") {
            drop_finalizer(server, at, name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::{Own, change, delete};
    use super::*;
    use crate::Settings;

    async fn gone(server: &Server, at: &ObjectName) {
        let mut changes = server.cluster().subscribe(at.collection).unwrap();
        let there = || server.cluster().read().table(at.collection).get(&at.namespace, &at.name).is_some();
        let wait = async {
            while there() {
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.expect("it goes");
    }

    fn made(server: &Server, plural: &str, namespace: &str, spec: &Value) -> (ObjectName, String) {
        let collection = server.catalog().find("", "v1", plural).unwrap().collection;
        let at = ObjectName { collection, namespace: namespace.into(), name: "it".into() };
        let (own, served) = Own::on(server, &at, "create", "").unwrap();
        let body = json!({"metadata": {"name": "it"}, "spec": spec});
        own.call(&served, "test", &body).create().unwrap();
        let entry = server.cluster().read().table(collection).get(namespace, "it").cloned().unwrap();
        (at, entry.uid.to_string())
    }

    fn set_phase(server: &Server, at: &ObjectName, phase: &str) {
        change(server, at, "status", "test", &|mut object| {
            object.insert("status".to_owned(), json!({"phase": phase}));
            Ok(object)
        });
    }

    #[tokio::test]
    async fn storage_goes_when_nobody_has_it() {
        let server = Server::start(Settings::default()).unwrap();
        let requests = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let (at, uid) = made(&server, "persistentvolumeclaims", "default", &requests);
        delete(&server, &at, &uid, "Background", "test");
        gone(&server, &at).await;

        let volume =
            json!({"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}});
        let (at, uid) = made(&server, "persistentvolumes", "", &volume);
        set_phase(&server, &at, "Bound");
        delete(&server, &at, &uid, "Background", "test");
        sync(&server, &at);
        let entry = server.cluster().read().table(at.collection).get("", "it").cloned().expect("a claim has it");
        assert!(entry.deleting && finalizers(&entry.object()).contains(&VOLUME));
        set_phase(&server, &at, "Released");
        gone(&server, &at).await;
    }
}

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

//! APIServices: groups and versions, and who serves them.

use serde_json::json;

use super::read::{absent, child, child_mut};
use crate::strategy::Object;

/// What this server serves itself is available at once.
pub(super) fn prepare(service: &mut Object) {
    if child(service, "spec").is_some_and(|spec| !absent(spec, "service")) {
        return;
    }
    let created = child(service, "metadata").and_then(|metadata| metadata.get("creationTimestamp")).cloned();
    let condition = json!([{
        "type": "Available", "status": "True", "lastTransitionTime": created,
        "reason": "Local", "message": "Local APIServices are always available",
    }]);
    if let Some(status) = child_mut(service, "status") {
        status.insert("conditions".to_owned(), condition);
    }
}

//! Kubernetes serves more groups than we do. Of discovery, only what both should serve is compared.

use serde_json::{Map, Value};

/// The groups that `facts/` describes; custom resource definitions come later.
const SERVED: [(&str, &[&str]); 16] = [
    ("", &["v1"]),
    ("admissionregistration.k8s.io", &["v1"]),
    ("apiregistration.k8s.io", &["v1"]),
    ("apps", &["v1"]),
    ("authentication.k8s.io", &["v1"]),
    ("authorization.k8s.io", &["v1"]),
    ("autoscaling", &["v1", "v2"]),
    ("batch", &["v1"]),
    ("coordination.k8s.io", &["v1"]),
    ("discovery.k8s.io", &["v1"]),
    ("events.k8s.io", &["v1"]),
    ("networking.k8s.io", &["v1"]),
    ("policy", &["v1"]),
    ("rbac.authorization.k8s.io", &["v1"]),
    ("scheduling.k8s.io", &["v1"]),
    ("storage.k8s.io", &["v1"]),
];

/// Drops the other groups and versions from a discovery document.
pub(crate) fn retain(document: &mut Value) {
    for list in ["groups", "items"] {
        let Some(Value::Array(groups)) = document.get_mut(list) else { continue };
        groups.retain_mut(|group| {
            let name = text(group, "/name").or_else(|| text(group, "/metadata/name")).unwrap_or_default();
            versions(&name).is_some_and(|served| {
                retain_versions(group, served);
                true
            })
        });
    }
    if let Some(served) = text(document, "/name").and_then(|name| versions(&name)) {
        retain_versions(document, served);
    }
}

fn versions(group: &str) -> Option<&'static [&'static str]> {
    SERVED.iter().find(|(name, _)| *name == group).map(|(_, versions)| *versions)
}

fn retain_versions(group: &mut Value, served: &[&str]) {
    let Some(Value::Array(versions)) = group.get_mut("versions") else { return };
    versions
        .retain(|version| version.get("version").and_then(Value::as_str).is_some_and(|name| served.contains(&name)));
}

fn text(value: &Value, place: &str) -> Option<String> {
    let empty = Value::Object(Map::new());
    let value = if value.is_object() { value } else { &empty };
    value.pointer(place).and_then(Value::as_str).map(str::to_owned)
}

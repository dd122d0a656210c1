//! Short words for roles.

use serde_json::{Value, json};

use crate::place::{rbac, with};

/// A rule that lets one get a resource.
pub(super) fn on(resource: &str) -> Value {
    may(resource, &["get"])
}

pub(super) fn may(resource: &str, verbs: &[&str]) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": verbs})
}

/// A role with labels, `key=value` or `key` for `key=true`, and rules.
pub(super) fn role(name: &str, labels: &[&str], rules: &[Value]) -> Value {
    let label = |label: &&str| {
        let (key, value) = label.split_once('=').unwrap_or((label, "true"));
        (key.to_owned(), json!(value))
    };
    let labels: serde_json::Map<String, Value> = labels.iter().map(label).collect();
    with(rbac("ClusterRole", name), json!({"metadata": {"labels": labels}, "rules": rules}))
}

/// A role that selects others, with labels.
pub(super) fn gathers(name: &str, labels: &[&str], selectors: impl IntoIterator<Item = Value>) -> Value {
    let mut role = role(name, labels, &[]);
    if let Some(role) = role.as_object_mut() {
        role.remove("rules");
    }
    let selectors: Vec<Value> = selectors.into_iter().collect();
    with(role, json!({"aggregationRule": {"clusterRoleSelectors": selectors}}))
}

/// A selector by one label.
pub(super) fn by(label: &str) -> Value {
    let (key, value) = label.split_once('=').unwrap_or((label, "true"));
    json!({"matchLabels": {key: value}})
}

pub(super) fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
    match values {
        [] => json!({"key": key, "operator": operator}),
        values => json!({"key": key, "operator": operator, "values": values}),
    }
}

//! Objects as tests write them down.

use serde_json::{Value, json};

/// An object of RBAC by kind and name; with `namespace/name` in a namespace.
pub fn rbac(kind: &str, name: &str) -> Value {
    let metadata = match name.split_once('/') {
        Some((namespace, name)) => json!({"namespace": namespace, "name": name}),
        None => json!({"name": name}),
    };
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata})
}

/// The same object with these fields.
pub fn with(mut object: Value, fields: Value) -> Value {
    merge(&mut object, fields);
    object
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The name of an object; empty where it has none.
pub fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

/// Whether a definition says that its kind is served.
pub fn is_established(definition: &Value) -> bool {
    let says = |condition: &Value, field: &str, text: &str| condition.get(field).is_some_and(|value| value == text);
    let conditions = definition.pointer("/status/conditions").and_then(Value::as_array);
    conditions.is_some_and(|all| all.iter().any(|one| says(one, "type", "Established") && says(one, "status", "True")))
}

/// What a metric counts in a text of Prometheus, over all lines of it that contain `part`.
pub fn counted(metrics: &str, name: &str, part: &str) -> u64 {
    let is_it = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
    let lines = metrics.lines().filter(is_it).filter(|line| line.contains(part));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

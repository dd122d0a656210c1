//! What there is to give and who may take how much of it: nodes, limit ranges, resource quotas.

pub(super) mod limits;
pub(super) mod nodes;
pub(super) mod quotas;

use serde_json::Value;

use super::read::{absent, child, known_mut, list, text};
use crate::strategy::Object;

/// Limits of containers follow from each other: the maximum is the default limit, which is the default request.
pub(super) fn default_limit(item: &mut Object) {
    if text(item, "type") != "Container" {
        return;
    }
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
        let from = child(item, from).cloned().unwrap_or_default();
        let mut filled = child(item, to).cloned().unwrap_or_default();
        for (name, amount) in from {
            filled.entry(name).or_insert(amount);
        }
        if !filled.is_empty() {
            item.insert(to.to_owned(), Value::Object(filled));
        }
    }
}

/// The first range has a field of its own, which wins where both differ.
pub(super) fn default_node_spec(spec: &mut Object) {
    let first = list(spec, "podCIDRs").first().and_then(Value::as_str).map(str::to_owned);
    let single = text(spec, "podCIDR").to_owned();
    match first {
        Some(first) if single.is_empty() && !first.is_empty() => {
            spec.insert("podCIDR".to_owned(), first.into());
        }
        Some(first) if single == first => {}
        _ if single.is_empty() => {}
        _ => {
            spec.insert("podCIDRs".to_owned(), vec![single].into());
        }
    }
}

pub(super) fn default_node_status(status: &mut Object) {
    if absent(status, "allocatable")
        && let Some(capacity) = child(status, "capacity").cloned()
    {
        status.insert("allocatable".to_owned(), Value::Object(capacity));
    }
}

/// A way to configure nodes that is no more.
pub(super) fn prepare_node(node: &mut Object) {
    if let Some(spec) = known_mut(node, "spec") {
        spec.remove("configSource");
    }
    if let Some(status) = known_mut(node, "status") {
        status.remove("config");
    }
}

pub(super) fn prepare_node_status(node: &mut Object, old: &Object) {
    let used = child(old, "status").is_some_and(|status| !absent(status, "config"));
    if let (false, Some(status)) = (used, known_mut(node, "status")) {
        status.remove("config");
    }
}

pub(super) fn prepare_node_update(node: &mut Object, old: &Object) {
    let used = child(old, "spec").is_some_and(|spec| !absent(spec, "configSource"));
    if let (false, Some(spec)) = (used, known_mut(node, "spec")) {
        spec.remove("configSource");
    }
}

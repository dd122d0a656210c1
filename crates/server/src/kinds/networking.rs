//! Network policies, ingresses and endpoint slices.

pub(super) mod endpoints;
pub(super) mod ingress;
pub(super) mod policy;
pub(super) mod ranges;

use rolewright_core::validate::names;
use serde_json::Value;

use super::read::{child, fill, integer, items, items_mut, known_mut, list};
use crate::strategy::Object;

pub(super) fn default_policy(spec: &mut Object) {
    if list(spec, "policyTypes").is_empty() {
        let mut types = vec!["Ingress"];
        if !list(spec, "egress").is_empty() {
            types.push("Egress");
        }
        spec.insert("policyTypes".to_owned(), types.into());
    }
}

pub(super) fn default_endpoint_port(port: &mut Object) {
    fill(port, "name", "");
    fill(port, "protocol", "TCP");
}

/// Topology is a field of an older version; it names the node where nothing else does.
pub(super) fn drop_topology(slice: &mut Object, old: Option<&Object>) {
    let topology = |endpoint: &Object| {
        let topology = child(endpoint, "deprecatedTopology")?;
        topology.get("kubernetes.io/hostname").and_then(Value::as_str).map(str::to_owned)
    };
    if old.is_some_and(|old| list(old, "endpoints") == list(slice, "endpoints")) {
        return;
    }
    // That it was there at all counts as a change.
    let before = old.and_then(|old| child(old, "metadata")).and_then(|metadata| integer(metadata, "generation"));
    if let (Some(before), Some(metadata)) = (before, known_mut(slice, "metadata")) {
        metadata.insert("generation".to_owned(), before.saturating_add(1).into());
    }
    let known: Vec<String> = old.into_iter().flat_map(|old| items(old, "endpoints")).filter_map(topology).collect();
    for endpoint in items_mut(slice, "endpoints") {
        let named = topology(endpoint).filter(|node| known.contains(node) && names::dns_subdomain(node).is_empty());
        if let Some(node) = named {
            fill(endpoint, "nodeName", node);
        }
        endpoint.remove("deprecatedTopology");
    }
}

//! Services.

mod addresses;
mod allocate;
pub(super) mod update;
pub(super) mod validate;

use serde_json::json;

pub use allocate::{allocate, keep_allocated};

use super::read::{below, child, child_mut, fill, fill_text, integer, items, items_mut, known_mut, list, text};
use crate::strategy::Object;

pub(super) fn default_service(service: &mut Object) {
    let Some(spec) = child_mut(service, "spec") else { return };
    fill_text(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let given = below(spec, &["sessionAffinityConfig", "clientIP"]);
            if given.and_then(|config| integer(config, "timeoutSeconds")).is_none() {
                spec.insert("sessionAffinityConfig".to_owned(), json!({"clientIP": {"timeoutSeconds": 10800}}));
            }
        }
        _ => {}
    }
    fill_text(spec, "type", "ClusterIP");
    for port in items_mut(spec, "ports") {
        fill_text(port, "protocol", "TCP");
        let target = port.get("targetPort");
        if target.is_none_or(|target| target.is_null() || *target == json!(0) || *target == json!("")) {
            let number = integer(port, "port").unwrap_or_default();
            port.insert("targetPort".to_owned(), number.into());
        }
    }
    let kind = text(spec, "type").to_owned();
    let balanced = kind == "LoadBalancer";
    if is_external(spec) {
        fill_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    if balanced {
        fill(spec, "allocateLoadBalancerNodePorts", true);
        default_ingress(service);
    }
}

fn default_ingress(service: &mut Object) {
    let balancer = known_mut(service, "status").and_then(|status| known_mut(status, "loadBalancer"));
    for ingress in balancer.into_iter().flat_map(|balancer| items_mut(balancer, "ingress")) {
        if !text(ingress, "ip").is_empty() {
            fill(ingress, "ipMode", "VIP");
        }
    }
}

/// Fields that only make sense for a type go with it, unless the client changed them too.
pub(super) fn prepare_update(service: &mut Object, old: &Object) {
    let (Some(new), Some(old)) = (known_mut(service, "spec"), child(old, "spec")) else { return };
    let lost = |new: &Object, has: fn(&Object) -> bool| has(old) && !has(new);
    if lost(new, |spec| text(spec, "type") != "ExternalName") {
        if new.get("clusterIP") == old.get("clusterIP") && new.get("clusterIPs") == old.get("clusterIPs") {
            new.remove("clusterIP");
            new.remove("clusterIPs");
        }
        remove_same(new, old, "ipFamilies");
        remove_same(new, old, "ipFamilyPolicy");
    }
    if lost(new, |spec| matches!(text(spec, "type"), "NodePort" | "LoadBalancer")) {
        let ports =
            |spec: &Object| items(spec, "ports").filter_map(|port| integer(port, "nodePort")).collect::<Vec<_>>();
        let known = ports(old);
        if ports(new).iter().all(|port| *port == 0 || known.contains(port)) {
            items_mut(new, "ports").for_each(|port| {
                port.remove("nodePort");
            });
        }
    }
    let balanced = |spec: &Object| text(spec, "type") == "LoadBalancer";
    if lost(new, |spec| text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local") {
        remove_same(new, old, "healthCheckNodePort");
    }
    if lost(new, balanced) {
        remove_same(new, old, "allocateLoadBalancerNodePorts");
        remove_same(new, old, "loadBalancerClass");
    }
    if lost(new, is_external) {
        remove_same(new, old, "externalTrafficPolicy");
    }
    if !balanced(new) {
        service.insert("status".to_owned(), json!({"loadBalancer": {}}));
    }
}

fn remove_same(new: &mut Object, old: &Object, key: &str) {
    if new.get(key) == old.get(key) {
        new.remove(key);
    }
}

fn is_external(spec: &Object) -> bool {
    match text(spec, "type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !list(spec, "externalIPs").is_empty(),
        _ => false,
    }
}

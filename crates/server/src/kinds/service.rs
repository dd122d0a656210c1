//! Services.

use serde_json::json;

use super::read::{below, child_mut, fill, fill_text, integer, items_mut, known_mut, list, text};
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
    if balanced || kind == "NodePort" || (kind == "ClusterIP" && !list(spec, "externalIPs").is_empty()) {
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

//! Warnings: what is accepted, and better avoided.

use rolewright_core::validate::names;
use serde_json::Value;

use super::read::{absent, below, child, list, text};
use crate::strategy::Object;

const HINT: &str = "which can result in surprising behavior; a DNS label is recommended";

/// A name that becomes a hostname.
pub(super) fn pod(pod: &Object, old: Option<&Object>) -> Vec<String> {
    hostname(pod, old, "this is used in the Pod's hostname")
}

/// A name from which names of pods are made.
pub(super) fn controller(controller: &Object, old: Option<&Object>) -> Vec<String> {
    hostname(controller, old, "this is used in Pod names and hostnames")
}

fn hostname(object: &Object, old: Option<&Object>, what: &str) -> Vec<String> {
    let name = child(object, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    let faults = names::dns_label(name);
    if old.is_some() || faults.is_empty() {
        return Vec::new();
    }
    vec![format!("metadata.name: {what}, {HINT}: [{}]", faults.join(" "))]
}

pub(super) fn ingress(ingress: &Object, old: Option<&Object>) -> Vec<String> {
    let class = "kubernetes.io/ingress.class";
    let annotated = below(ingress, &["metadata", "annotations"]).is_some_and(|all| all.contains_key(class));
    let named = child(ingress, "spec").is_some_and(|spec| !absent(spec, "ingressClassName"));
    if old.is_some() || !annotated || named {
        return Vec::new();
    }
    vec![format!("annotation \"{class}\" is deprecated, please use 'spec.ingressClassName' instead")]
}

pub(super) fn service(service: &Object, _: Option<&Object>) -> Vec<String> {
    let Some(spec) = child(service, "spec") else { return Vec::new() };
    let mut warnings = Vec::new();
    let headless = matches!(list(spec, "clusterIPs"), [Value::String(ip)] if ip == "None");
    let external = text(spec, "type") == "ExternalName";
    let has_external_ips = !list(spec, "externalIPs").is_empty();
    if headless {
        if !text(spec, "loadBalancerIP").is_empty() {
            warnings.push("spec.loadBalancerIP is ignored for headless services");
        }
        if has_external_ips {
            warnings.push("spec.externalIPs is ignored for headless services");
        }
        if text(spec, "sessionAffinity") != "None" {
            warnings.push("spec.SessionAffinity is ignored for headless services");
        }
    } else if has_external_ips && !external {
        warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if external && has_external_ips {
        warnings.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !external && !text(spec, "externalName").is_empty() {
        warnings.push("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if text(spec, "trafficDistribution") == "PreferClose" {
        warnings.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
    warnings.into_iter().map(str::to_owned).collect()
}

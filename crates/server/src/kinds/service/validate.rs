//! What is wrong with a service.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, check_labels, cidr, each, forbid, formed, json, one_of, port, port_number, required, supported,
};
use super::super::read::{absent, below, child, integer, items, list, text, texts};
use super::addresses::{check_addresses, check_external_ips};
use super::is_external;
use crate::strategy::Object;

const BALANCED_ONLY: &str = "may only be used when `type` is 'LoadBalancer'";

pub(in super::super) fn validate(service: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(spec) = child(service, "spec") {
        check(&mut errors, spec, None, Path::field("spec"));
    }
    errors
}

pub(super) fn balances(spec: &Object) -> bool {
    text(spec, "type") == "LoadBalancer"
}

pub(super) fn check_class(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    if balances(spec) {
        formed(errors, spec, "loadBalancerClass", at, names::label_key);
    } else {
        forbid(errors, spec, "loadBalancerClass", at, BALANCED_ONLY);
    }
}

pub(super) fn is_headless(spec: &Object) -> bool {
    matches!(list(spec, "clusterIPs"), [Value::String(ip)] if ip == "None")
}

pub(super) fn check(errors: &mut Errors, spec: &Object, old: Option<&Object>, at: Path<'_>) {
    let kind = text(spec, "type");
    let headless = is_headless(spec);
    if list(spec, "ports").is_empty() && !headless && kind != "ExternalName" {
        errors.push(FieldError::required(at.child("ports"), ""));
    }
    match kind {
        "LoadBalancer" | "NodePort" if headless => errors.push(FieldError::invalid(
            at.child("clusterIPs").index(0),
            "None",
            format!("may not be set to 'None' for {kind} services"),
        )),
        "ExternalName" => check_external_name(errors, spec, at),
        _ => {}
    }
    let mut seen = BTreeSet::new();
    let several = list(spec, "ports").len() > 1;
    for (i, port) in items(spec, "ports").enumerate() {
        check_port(errors, port, several, &mut seen, at.child("ports").index(i));
    }
    check_labels(errors, spec, "selector", at);
    one_of(errors, spec, "sessionAffinity", at, &["ClientIP", "None"]);
    if text(spec, "sessionAffinity") == "ClientIP"
        && let Some(seconds) =
            below(spec, &["sessionAffinityConfig", "clientIP"]).and_then(|it| integer(it, "timeoutSeconds"))
        && !(1..=86400).contains(&seconds)
    {
        let config = at.child("sessionAffinityConfig");
        let at = config.child("clientIP");
        let range = "must be greater than 0 and less than 86400";
        errors.push(FieldError::invalid(at.child("timeoutSeconds"), json(seconds), range));
    }
    if kind != "ExternalName" {
        check_addresses(errors, spec, old, at);
    }
    check_external_ips(errors, spec, old, at);
    one_of(errors, spec, "type", at, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    check_node_ports(errors, spec, at);
    check_ranges(errors, spec, old, at.child("LoadBalancerSourceRanges"));
    if kind != "LoadBalancer" {
        forbid(errors, spec, "allocateLoadBalancerNodePorts", at, BALANCED_ONLY);
    }
    check_class(errors, spec, at);
    check_traffic(errors, spec, at);
}

/// Who may reach a load balancer.
fn check_ranges(errors: &mut Errors, spec: &Object, old: Option<&Object>, at: Path<'_>) {
    let key = "loadBalancerSourceRanges";
    if !list(spec, key).is_empty() && !balances(spec) {
        errors.push(FieldError::forbidden(at, BALANCED_ONLY));
    }
    let trimmed = |range: &str| Value::from(range.trim());
    let known: Vec<Value> = old.into_iter().flat_map(|old| texts(old, key)).map(trimmed).collect();
    for (i, range) in texts(spec, key).enumerate() {
        cidr(errors, range.trim(), at.index(i), &known);
    }
}

fn check_external_name(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let unused = "may not be set for ExternalName services";
    for key in ["clusterIPs", "ipFamilies"] {
        if !list(spec, key).is_empty() {
            errors.push(FieldError::forbidden(at.child(key), unused));
        }
    }
    if !absent(spec, "ipFamilyPolicy") {
        errors.push(FieldError::forbidden(at.child("ipFamilyPolicy"), unused));
    }
    let name = text(spec, "externalName");
    match name.strip_suffix('.').unwrap_or(name) {
        "" => errors.push(FieldError::required(at.child("externalName"), "")),
        name => each(errors, at.child("externalName"), name, names::dns_subdomain(name)),
    }
}

fn check_port<'a>(errors: &mut Errors, object: &'a Object, named: bool, seen: &mut BTreeSet<&'a str>, at: Path<'_>) {
    let name = text(object, "name");
    if named {
        required(errors, object, "name", at);
    }
    if !name.is_empty() {
        each(errors, at.child("name"), name, names::dns_label(name));
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
    }
    port_number(errors, integer(object, "port").unwrap_or_default(), at.child("port"));
    one_of(errors, object, "protocol", at, &["SCTP", "TCP", "UDP"]);
    port(errors, object.get("targetPort"), at.child("targetPort"));
    if let Some(protocol) = object.get("appProtocol").and_then(Value::as_str) {
        each(errors, at.child("appProtocol"), protocol, names::label_key(protocol));
    }
}

fn check_node_ports(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let ports = at.child("ports");
    let node_port = |port: &Object| integer(port, "nodePort").filter(|port| *port != 0);
    if text(spec, "type") == "ClusterIP" {
        for (i, _) in items(spec, "ports").enumerate().filter(|(_, port)| node_port(port).is_some()) {
            let at = ports.index(i);
            errors.push(FieldError::forbidden(at.child("nodePort"), "may not be used when `type` is 'ClusterIP'"));
        }
    }
    let mut seen = BTreeSet::new();
    for (i, port) in items(spec, "ports").enumerate() {
        let Some(number) = node_port(port) else { continue };
        if !seen.insert((text(port, "protocol"), number)) {
            let at = ports.index(i);
            errors.push(FieldError::duplicate(at.child("nodePort"), json(number)));
        }
    }
    let mut seen = BTreeSet::new();
    for (i, port) in items(spec, "ports").enumerate() {
        let (protocol, number) = (text(port, "protocol"), integer(port, "port").unwrap_or_default());
        if !seen.insert((protocol, number)) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}",
                Value::from(protocol)
            );
            errors.push(FieldError::duplicate(ports.index(i), json(shown)));
        }
    }
}

fn check_traffic(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let policy = text(spec, "externalTrafficPolicy");
    if is_external(spec) {
        one_of(errors, spec, "externalTrafficPolicy", at, &["Cluster", "Local"]);
    } else if !policy.is_empty() {
        let why = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid(at.child("externalTrafficPolicy"), BadValue::typed_text(policy), why));
    }
    let health = integer(spec, "healthCheckNodePort").unwrap_or_default();
    if text(spec, "type") == "LoadBalancer" && policy == "Local" {
        match health {
            0 => errors.push(FieldError::required(at.child("healthCheckNodePort"), "")),
            port => port_number(errors, port, at.child("healthCheckNodePort")),
        }
    } else if health != 0 {
        let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(FieldError::invalid(at.child("healthCheckNodePort"), json(health), why));
    }
    if let Some(policy) = spec.get("internalTrafficPolicy").and_then(Value::as_str) {
        supported(errors, policy, at.child("internalTrafficPolicy"), &["Cluster", "Local"]);
    }
    if let Some(policy) = spec.get("trafficDistribution").and_then(Value::as_str)
        && !["PreferClose", "PreferSameZone", "PreferSameNode"].contains(&policy)
    {
        let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        errors.push(FieldError::not_supported(at.child("trafficDistribution"), policy, &known));
    }
}

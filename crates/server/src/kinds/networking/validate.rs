//! What is wrong with an ingress or network policy.

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, each, host, json, name, port_name, port_number, required, selector, supported,
};
use super::super::read::{absent, below, child, integer, items, list, text, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn ingress(object: &Object) -> Errors {
    let mut errors = check_ingress(object);
    let annotation = below(object, &["metadata", "annotations"]);
    let annotation = annotation.and_then(|all| all.get("kubernetes.io/ingress.class")).and_then(Value::as_str);
    let class = child(object, "spec").and_then(|spec| spec.get("ingressClassName")).and_then(Value::as_str);
    if let (Some(annotation), Some(class)) = (annotation, class)
        && annotation != class
    {
        let annotations = Path::field("annotations");
        let at = annotations.child("kubernetes.io/ingress.class");
        errors.push(FieldError::invalid(at, annotation, "must match `ingressClassName` when both are specified"));
    }
    errors
}

pub(in super::super) fn ingress_update(object: &Object, _: &Object) -> Errors {
    check_ingress(object)
}

fn check_ingress(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    let backend = child(spec, "defaultBackend");
    if list(spec, "rules").is_empty() && backend.is_none() {
        let why = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(SPEC, BadValue::null(), why));
    }
    if let Some(backend) = backend {
        check_backend(&mut errors, backend, SPEC.child("defaultBackend"));
    }
    let rules = SPEC.child("rules");
    for (i, rule) in items(spec, "rules").enumerate() {
        check_rule(&mut errors, rule, rules.index(i));
    }
    let tls = SPEC.child("tls");
    for (i, entry) in items(spec, "tls").enumerate() {
        let at = tls.index(i);
        let hosts = at.child("hosts");
        for (j, text) in texts(entry, "hosts").enumerate() {
            each(&mut errors, hosts.index(j), text, host(text));
        }
        name(&mut errors, entry, "secretName", at, names::dns_subdomain);
    }
    if let Some(class) = spec.get("ingressClassName").and_then(Value::as_str) {
        each(&mut errors, SPEC.child("ingressClassName"), class, names::dns_subdomain(class));
    }
    errors
}

fn check_rule(errors: &mut Errors, rule: &Object, at: Path<'_>) {
    let name = text(rule, "host");
    if name.parse::<std::net::IpAddr>().is_ok() {
        errors.push(FieldError::invalid(at.child("host"), name, "must be a DNS name, not an IP address"));
    }
    if !name.is_empty() {
        each(errors, at.child("host"), name, host(name));
    }
    let Some(http) = child(rule, "http") else { return };
    let at = at.child("http");
    let paths = at.child("paths");
    if list(http, "paths").is_empty() {
        errors.push(FieldError::required(paths, ""));
    }
    for (i, path) in items(http, "paths").enumerate() {
        check_path(errors, path, paths.index(i));
    }
}

fn check_path(errors: &mut Errors, path: &Object, at: Path<'_>) {
    let Some(kind) = path.get("pathType").and_then(Value::as_str) else {
        errors.push(FieldError::required(at.child("pathType"), "pathType must be specified"));
        return;
    };
    let value = text(path, "path");
    let relative = || FieldError::invalid(at.child("path"), value, "must be an absolute path");
    match kind {
        "Exact" | "Prefix" => {
            if !value.starts_with('/') {
                errors.push(relative());
            }
            for sequence in ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| value.contains(part)) {
                let why = format!("must not contain '{sequence}'");
                errors.push(FieldError::invalid(at.child("path"), value, why));
            }
            for suffix in ["/..", "/."].into_iter().filter(|part| value.ends_with(part)) {
                errors.push(FieldError::invalid(at.child("path"), value, format!("cannot end with '{suffix}'")));
            }
        }
        "ImplementationSpecific" if !value.is_empty() && !value.starts_with('/') => errors.push(relative()),
        "ImplementationSpecific" => {}
        kind => supported(errors, kind, at.child("pathType"), &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    if let Some(backend) = child(path, "backend") {
        check_backend(errors, backend, at.child("backend"));
    }
}

fn check_backend(errors: &mut Errors, backend: &Object, at: Path<'_>) {
    let service = match (child(backend, "service"), child(backend, "resource")) {
        (Some(_), Some(_)) => {
            errors.push(FieldError::invalid(at, "", "cannot set both resource and service backends"));
            return;
        }
        (None, None) => {
            errors.push(FieldError::invalid(at, "", "resource or service backend is required"));
            return;
        }
        (None, Some(_)) => return,
        (Some(service), None) => service,
    };
    let service_at = at.child("service");
    required(errors, service, "name", service_at);
    name(errors, service, "name", service_at, names::dns_label);
    let port = child(service, "port");
    let port_text = port.map(|port| text(port, "name")).unwrap_or_default();
    let number = port.and_then(|port| integer(port, "number")).unwrap_or_default();
    let port_at = service_at.child("port");
    match (port_text, number) {
        ("", 0) => errors.push(FieldError::required(at, "port name or number is required")),
        ("", number) => port_number(errors, number, port_at.child("number")),
        (name, 0) => each(errors, port_at.child("name"), name, port_name(name)),
        _ => errors.push(FieldError::invalid(at, "", "cannot set both port name & port number")),
    }
}

pub(in super::super) fn ingress_class_update(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    if let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) {
        let controller = text(spec, "controller");
        if controller != text(old, "controller") {
            errors.push(FieldError::invalid(SPEC.child("controller"), controller, IMMUTABLE));
        }
    }
    errors
}

pub(in super::super) fn network_policy(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    selector(&mut errors, spec, "podSelector", SPEC);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let at = SPEC.child(rules);
        for (i, rule) in items(spec, rules).enumerate() {
            let at = at.index(i);
            let ports = at.child("ports");
            for (j, port) in items(rule, "ports").enumerate() {
                check_policy_port(&mut errors, port, ports.index(j));
            }
            let peers_at = at.child(peers);
            for (j, peer) in items(rule, peers).enumerate() {
                check_peer(&mut errors, peer, peers_at.index(j));
            }
        }
    }
    let types = SPEC.child("policyTypes");
    if list(spec, "policyTypes").len() > 2 {
        let shown = json(Value::from(list(spec, "policyTypes").to_vec()));
        errors.push(FieldError::invalid(types, shown, "may not specify more than two policyTypes"));
        return errors;
    }
    for (i, kind) in texts(spec, "policyTypes").enumerate() {
        supported(&mut errors, kind, types.index(i), &["Ingress", "Egress"]);
    }
    errors
}

pub(in super::super) fn network_policy_update(object: &Object, _: &Object) -> Errors {
    network_policy(object)
}

fn check_policy_port(errors: &mut Errors, object: &Object, at: Path<'_>) {
    if let Some(protocol) = object.get("protocol").and_then(Value::as_str) {
        supported(errors, protocol, at.child("protocol"), &["TCP", "UDP", "SCTP"]);
    }
    let end = integer(object, "endPort");
    let invalid_end = |end: i64, why: &str| FieldError::invalid(at.child("endPort"), json(end), why);
    match object.get("port") {
        Some(Value::String(name)) => {
            errors.extend(end.map(|end| invalid_end(end, "may not be specified when `port` is non-numeric")));
            each(errors, at.child("port"), name, port_name(name));
        }
        Some(Value::Number(number)) => {
            let number = number.as_i64().unwrap_or_default();
            port_number(errors, number, at.child("port"));
            if let Some(end) = end {
                if end < number {
                    errors.push(invalid_end(number, "must be greater than or equal to `port`"));
                }
                port_number(errors, end, at.child("endPort"));
            }
        }
        _ => errors.extend(end.map(|end| invalid_end(end, "may not be specified when `port` is not specified"))),
    }
}

fn check_peer(errors: &mut Errors, peer: &Object, at: Path<'_>) {
    let known = ["podSelector", "namespaceSelector", "ipBlock"].into_iter().filter(|key| !absent(peer, key)).count();
    selector(errors, peer, "podSelector", at);
    selector(errors, peer, "namespaceSelector", at);
    if let Some(block) = child(peer, "ipBlock") {
        required(errors, block, "cidr", at.child("ipBlock"));
    }
    if known == 0 {
        errors.push(FieldError::required(at, "must specify a peer"));
    } else if known > 1 && !absent(peer, "ipBlock") {
        errors.push(FieldError::forbidden(at, "may not specify both ipBlock and another peer"));
    }
}

//! What is wrong with an ingress or a class of them.

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, balancer_host, each, each_item, formed, host, ip, name, named, parse_ip, port_name, port_number,
    required, supported, within,
};
use super::super::read::{below, child, integer, items, list, text, texts};
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
    if parse_ip(name).is_some() {
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
        (None, Some(resource)) => return check_reference(errors, resource, at.child("resource")),
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

pub(in super::super) fn class(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    let at = SPEC.child("controller");
    let controller = text(spec, "controller");
    if controller.len() > LONGEST_CONTROLLER {
        errors.push(FieldError::too_long(at, LONGEST_CONTROLLER));
    }
    check_domain_path(&mut errors, controller, at);
    within(spec, "parameters", SPEC, |parameters, at| check_parameters(&mut errors, parameters, at));
    errors
}

const LONGEST_CONTROLLER: usize = 250;
const DOMAIN_PATH: &str = "must be a domain-prefixed path (such as \"acme.io/foo\")";
const URL_PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/// A path after a domain.
pub(in super::super) fn check_domain_path(errors: &mut Errors, text: &str, at: Path<'_>) {
    if text.is_empty() {
        errors.push(FieldError::required(at, ""));
        return;
    }
    let parts = text.split_once('/').filter(|(host, path)| !host.is_empty() && !path.is_empty());
    let Some((host, path)) = parts else {
        errors.push(FieldError::invalid(at, text, DOMAIN_PATH));
        return;
    };
    each(errors, at, host, names::dns_subdomain(host));
    if !path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte)) {
        errors.push(FieldError::invalid(at, path, URL_PATH));
    }
}

fn check_parameters(errors: &mut Errors, parameters: &Object, at: Path<'_>) {
    check_reference(errors, parameters, at);
    let namespace = parameters.get("namespace").and_then(Value::as_str);
    match (parameters.get("scope").and_then(Value::as_str), namespace) {
        (None, _) => errors.push(FieldError::required(at.child("scope"), "")),
        (Some("Namespace"), None) => {
            let why = "`parameters.scope` is set to 'Namespace'";
            errors.push(FieldError::required(at.child("namespace"), why));
        }
        (Some("Namespace"), Some(namespace)) => {
            each(errors, at.child("namespace"), namespace, names::dns_label(namespace));
        }
        (Some("Cluster"), Some(_)) => {
            let why = "`parameters.scope` is set to 'Cluster'";
            errors.push(FieldError::forbidden(at.child("namespace"), why));
        }
        (Some("Cluster"), None) => {}
        (Some(scope), _) => {
            errors.push(FieldError::not_supported(at.child("scope"), scope, &["Cluster", "Namespace"]));
        }
    }
}

/// An object of some group in the same namespace.
fn check_reference(errors: &mut Errors, reference: &Object, at: Path<'_>) {
    formed(errors, reference, "apiGroup", at, names::dns_subdomain);
    named(errors, reference, "kind", at, names::path_segment);
    named(errors, reference, "name", at, names::path_segment);
}

pub(in super::super) fn class_update(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    if let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) {
        let controller = text(spec, "controller");
        if controller != text(old, "controller") {
            errors.push(FieldError::invalid(SPEC.child("controller"), controller, IMMUTABLE));
        }
    }
    errors.extend(class(object));
    errors
}

pub(in super::super) fn ingress_status(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let known = balancer_ips(old);
    let Some(balancer) = below(object, &["status", "loadBalancer"]) else { return errors };
    let status = Path::field("status");
    each_item(balancer, "ingress", status.child("loadBalancer"), |ingress, at| {
        let address = text(ingress, "ip");
        if !address.is_empty() {
            ip(&mut errors, address, at.child("ip"), &known);
        }
        balancer_host(&mut errors, text(ingress, "hostname"), at.child("hostname"));
    });
    errors
}

/// The addresses of a load balancer that were accepted before.
pub(in super::super) fn balancer_ips(object: &Object) -> Vec<Value> {
    let balancer = below(object, &["status", "loadBalancer"]);
    let ip = |ingress: &Object| ingress.get("ip").cloned();
    balancer.into_iter().flat_map(|balancer| items(balancer, "ingress")).filter_map(ip).collect()
}

//! What is wrong with a pod, or with the template of one.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path, labels, names};
use serde_json::Value;

use super::super::check::{
    Errors, between, check_labels, each, each_item, each_text, forbid, formed, ip, json, list_json, name, one_of,
    read_labels, required, supported, within,
};
use super::super::internal;
use super::super::read::{absent, child, flag, items, list, text, texts};
use super::amounts::{check_pod_resources, check_requirements};
use super::containers::{Context, check_containers, check_host_network, check_image};
use super::each_container;
use super::environment::check_file_volumes;
use super::scheduling::{check_affinity, check_gates, check_spreading, check_tolerations};
use super::security::{check_host_users, check_pod_context};
use super::systems::{check_host_process, check_system};
use super::volumes::{Owner, check_volumes};
use crate::strategy::Object;

pub(in super::super) fn validate(pod: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(pod, "spec") else { return errors };
    let at = Path::field("spec");
    check_pod(&mut errors, pod, at);
    if !list(spec, "ephemeralContainers").is_empty() {
        errors.push(FieldError::forbidden(at.child("ephemeralContainers"), "cannot be set on create"));
    }
    if !text(spec, "nodeName").is_empty() && !list(spec, "schedulingGates").is_empty() {
        let why = "cannot be set until all schedulingGates have been cleared";
        errors.push(FieldError::forbidden(at.child("nodeName"), why));
    }
    errors
}

pub(super) fn check_pod(errors: &mut Errors, pod: &Object, at: Path<'_>) {
    let Some(spec) = child(pod, "spec") else { return };
    let name = child(pod, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    check_spec(errors, spec, Owner { is_pod: true, name }, at);
    if text(spec, "serviceAccountName").is_empty() {
        each_item(spec, "volumes", at, |volume, at| {
            within(volume, "projected", at, |projected, at| {
                each_item(projected, "sources", at, |source, at| {
                    let why = "must not be specified when serviceAccountName is not set";
                    forbid(errors, source, "serviceAccountToken", at, why);
                });
            });
        });
    }
    for kind in ["containers", "initContainers"] {
        each_item(spec, kind, at, |container, at| check_image(errors, container, at));
    }
}

/// The template of a controller's pods.
pub(in super::super) fn check_template(errors: &mut Errors, template: &Object, at: Path<'_>) {
    let metadata = child(template, "metadata");
    errors.extend(labels(&read_labels(metadata.and_then(|it| child(it, "labels"))), at.child("labels")));
    let Some(spec) = child(template, "spec") else { return };
    let at = at.child("spec");
    check_spec(errors, spec, Owner { is_pod: false, name: "" }, at);
    if !list(spec, "ephemeralContainers").is_empty() {
        let why = "ephemeral containers not allowed in pod template";
        errors.push(FieldError::forbidden(at.child("ephemeralContainers"), why));
    }
}

/// The template of pods that never end by themselves.
pub(in super::super) fn check_lasting_template(errors: &mut Errors, template: &Object, kind: &str, at: Path<'_>) {
    check_template(errors, template, at);
    check_lasting(errors, template, kind, at);
}

/// Pods of a controller that keeps them running.
pub(in super::super) fn check_lasting(errors: &mut Errors, template: &Object, kind: &str, at: Path<'_>) {
    let Some(spec) = child(template, "spec") else { return };
    let at = at.child("spec");
    supported(errors, text(spec, "restartPolicy"), at.child("restartPolicy"), &["Always"]);
    if !absent(spec, "activeDeadlineSeconds") {
        let why = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(FieldError::forbidden(at.child("activeDeadlineSeconds"), why));
    }
}

fn check_spec(errors: &mut Errors, spec: &Object, pod: Owner<'_>, at: Path<'_>) {
    let volumes = check_volumes(errors, spec, pod, at.child("volumes"));
    let claims = check_claims(errors, spec, at);
    let host_users = spec.get("hostUsers") != Some(&Value::from(false));
    let context = Context { spec, volumes, claims, host_users };
    check_containers(errors, &context, at);
    check_pod_resources(errors, spec, &context.claims, at);
    check_host_network(errors, spec, pod.is_pod, at);
    one_of(errors, spec, "restartPolicy", at, &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(errors, spec, "dnsPolicy", at, &policies);
    check_labels(errors, spec, "nodeSelector", at);
    check_pod_context(errors, spec, at);
    check_affinity(errors, spec, at);
    check_dns(errors, spec, at);
    check_gates(errors, spec, at);
    check_spreading(errors, spec, at);
    check_host_process(errors, spec, at);
    check_host_users(errors, spec, at);
    check_hostname(errors, spec, at);
    name(errors, spec, "serviceAccountName", at, names::dns_subdomain);
    name(errors, spec, "nodeName", at, names::dns_subdomain);
    between(errors, spec, "activeDeadlineSeconds", at, (1, i64::from(i32::MAX)));
    name(errors, spec, "hostname", at, names::dns_label);
    name(errors, spec, "subdomain", at, names::dns_label);
    check_tolerations(errors, spec, at);
    each_item(spec, "hostAliases", at, |alias, at| {
        ip(errors, text(alias, "ip"), at.child("ip"), &[]);
        each_text(alias, "hostnames", at, |name, at| each(errors, at, name, names::dns_subdomain(name)));
    });
    name(errors, spec, "priorityClassName", at, names::dns_subdomain);
    formed(errors, spec, "runtimeClassName", at, names::dns_subdomain);
    if !absent(spec, "preemptionPolicy") {
        one_of(errors, spec, "preemptionPolicy", at, &["PreemptLowerPriority", "Never"]);
    }
    if let Some(overhead) = spec.get("overhead").filter(|overhead| overhead.is_object()) {
        let limits = Object::from_iter([("limits".to_owned(), overhead.clone())]);
        check_requirements(errors, &limits, &[], at.child("overhead"));
    }
    check_system(errors, spec, at);
    each_container(spec, at, |container, at| check_file_volumes(errors, spec, container, at));
}

/// Claims of resources; their names.
fn check_claims<'a>(errors: &mut Errors, spec: &'a Object, at: Path<'_>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    each_item(spec, "resourceClaims", at, |claim, at| {
        let claim_name = text(claim, "name");
        required(errors, claim, "name", at);
        if seen.contains(claim_name) {
            errors.push(FieldError::duplicate(at.child("name"), claim_name));
        } else if !claim_name.is_empty() {
            each(errors, at.child("name"), claim_name, names::dns_label(claim_name));
            seen.insert(claim_name);
        }
        let keys = ["resourceClaimName", "resourceClaimTemplateName"];
        let why = match keys.iter().filter(|key| !absent(claim, key)).count() {
            0 => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            1 => "",
            _ => "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        };
        if !why.is_empty() {
            let path = ["spec", "resourceClaims"];
            let shown = internal::shown("", "Pod", &path, Some(&Value::Object(claim.clone())));
            errors.push(FieldError::invalid(at, json(shown), why));
        }
        for key in keys {
            formed(errors, claim, key, at, names::dns_subdomain);
        }
    });
    items(spec, "resourceClaims").map(|claim| text(claim, "name")).filter(|name| !name.is_empty()).collect()
}

fn check_dns(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let at = at.child("dnsConfig");
    let config = child(spec, "dnsConfig");
    if text(spec, "dnsPolicy") == "None" {
        let Some(config) = config else {
            errors.push(FieldError::required(at, "must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        };
        if list(config, "nameservers").is_empty() {
            let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            errors.push(FieldError::required(at.child("nameservers"), why));
            return;
        }
    }
    let Some(config) = config else { return };
    let searches = at.child("searches");
    if list(config, "nameservers").len() > 3 {
        let why = "must not have more than 3 nameservers";
        errors.push(FieldError::invalid(at.child("nameservers"), list_json(config, "nameservers"), why));
    }
    each_text(config, "nameservers", at, |server, at| {
        ip(errors, server, at, &[]);
    });
    if list(config, "searches").len() > 32 {
        let why = "must not have more than 32 search paths";
        errors.push(FieldError::invalid(searches, list_json(config, "searches"), why));
    }
    let length: usize = texts(config, "searches").map(|search| search.len() + 1).sum();
    if length > 2049 {
        let why = "must not have more than 2048 characters (including spaces) in the search list";
        errors.push(FieldError::invalid(searches, list_json(config, "searches"), why));
    }
    each_text(config, "searches", at, |search, at| {
        let search = if search == "." { return } else { search.strip_suffix('.').unwrap_or(search) };
        each(errors, at, search, search_domain(search));
    });
    each_item(config, "options", at, |option, at| {
        if text(option, "name").is_empty() {
            errors.push(FieldError::required(at, "must not be empty"));
        }
    });
}

/// A subdomain in which labels may have underscores too.
fn search_domain(text: &str) -> Vec<String> {
    const DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or \
        '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
        '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
    let plain = |label: &str| label.strip_prefix('_').unwrap_or(label).replace('_', "-");
    let labels: Vec<String> = text.split('.').map(plain).collect();
    let faults = names::dns_subdomain(&labels.join("."));
    let reword = |fault: String| if fault.starts_with("a lowercase") { DOMAIN.to_owned() } else { fault };
    faults.into_iter().map(reword).collect()
}

fn check_hostname(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    const LONGEST: usize = 64;
    let Some(name) = spec.get("hostnameOverride").and_then(Value::as_str) else { return };
    let at = at.child("hostnameOverride");
    if flag(spec, "setHostnameAsFQDN") {
        errors.push(FieldError::forbidden(at, "may not be specified when setHostnameAsFQDN is true"));
    }
    if flag(spec, "hostNetwork") {
        errors.push(FieldError::forbidden(at, "may not be specified when hostNetwork is true"));
    }
    if name.len() > LONGEST {
        errors.push(FieldError::too_long(at, LONGEST));
    }
    each(errors, at, name, names::dns_subdomain(name));
}

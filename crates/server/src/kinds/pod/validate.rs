//! What is wrong with a pod, or with the template of one.

use rolewright_core::validate::{FieldError, Path, labels, names};
use serde_json::Value;

use super::super::check::{Errors, check_labels, each, json, name, one_of, read_labels, required, supported};
use super::super::read::{absent, child, flag, integer, items, list, text};
use super::super::semantic;
use super::containers::{check_containers, check_groups, check_id, check_init_containers};
use super::volume::check_volumes;
use crate::facts::{Ty, type_of};
use crate::strategy::Object;

pub(in super::super) fn validate(pod: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(pod, "spec") else { return errors };
    let at = Path::field("spec");
    check_pod(&mut errors, spec, at);
    if !list(spec, "ephemeralContainers").is_empty() {
        errors.push(FieldError::forbidden(at.child("ephemeralContainers"), "cannot be set on create"));
    }
    if !text(spec, "nodeName").is_empty() && !list(spec, "schedulingGates").is_empty() {
        let why = "cannot be set until all schedulingGates have been cleared";
        errors.push(FieldError::forbidden(at.child("nodeName"), why));
    }
    errors
}

fn check_pod(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    check_spec(errors, spec, true, at);
    if text(spec, "serviceAccountName").is_empty() {
        for (i, volume) in items(spec, "volumes").enumerate() {
            let sources = child(volume, "projected").into_iter().flat_map(|volume| items(volume, "sources"));
            for (j, _) in sources.enumerate().filter(|(_, source)| !absent(source, "serviceAccountToken")) {
                let volumes = at.child("volumes");
                let volume = volumes.index(i);
                let projected = volume.child("projected");
                let sources = projected.child("sources");
                let source = sources.index(j);
                let why = "must not be specified when serviceAccountName is not set";
                errors.push(FieldError::forbidden(source.child("serviceAccountToken"), why));
            }
        }
    }
}

/// The template of a controller's pods.
pub(in super::super) fn check_template(errors: &mut Errors, template: &Object, at: Path<'_>) {
    let metadata = child(template, "metadata");
    errors.extend(labels(&read_labels(metadata.and_then(|it| child(it, "labels"))), at.child("labels")));
    let Some(spec) = child(template, "spec") else { return };
    let at = at.child("spec");
    check_spec(errors, spec, false, at);
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

fn check_spec(errors: &mut Errors, spec: &Object, is_pod: bool, at: Path<'_>) {
    let volumes = check_volumes(errors, spec, at.child("volumes"));
    check_containers(errors, spec, &volumes, at.child("containers"));
    check_init_containers(errors, spec, &volumes, at.child("initContainers"));
    if flag(spec, "hostNetwork") {
        check_host_network(errors, spec, is_pod, at.child("containers"));
    }
    one_of(errors, spec, "restartPolicy", at, &["Always", "OnFailure", "Never"]);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of(errors, spec, "dnsPolicy", at, &policies);
    check_labels(errors, spec, "nodeSelector", at);
    if let Some(context) = child(spec, "securityContext") {
        let context_at = at.child("securityContext");
        for key in ["fsGroup", "runAsUser", "runAsGroup"] {
            check_id(errors, context, key, context_at);
        }
        check_groups(errors, context, context_at);
    }
    name(errors, spec, "serviceAccountName", at, names::dns_subdomain);
    name(errors, spec, "nodeName", at, names::dns_subdomain);
    let deadline = integer(spec, "activeDeadlineSeconds");
    if let Some(seconds) = deadline.filter(|seconds| !(1..=i64::from(i32::MAX)).contains(seconds)) {
        let why = "must be between 1 and 2147483647, inclusive";
        errors.push(FieldError::invalid(at.child("activeDeadlineSeconds"), json(seconds), why));
    }
    name(errors, spec, "hostname", at, names::dns_label);
    name(errors, spec, "subdomain", at, names::dns_label);
    check_tolerations(errors, spec, at.child("tolerations"));
    name(errors, spec, "priorityClassName", at, names::dns_subdomain);
    if let Some(class) = spec.get("runtimeClassName").and_then(Value::as_str) {
        each(errors, at.child("runtimeClassName"), class, names::dns_subdomain(class));
    }
    if !absent(spec, "preemptionPolicy") {
        one_of(errors, spec, "preemptionPolicy", at, &["PreemptLowerPriority", "Never"]);
    }
}

fn check_host_network(errors: &mut Errors, spec: &Object, is_pod: bool, at: Path<'_>) {
    for (i, container) in items(spec, "containers").enumerate() {
        let container_at = at.index(i);
        let ports = container_at.child("ports");
        for (j, port) in items(container, "ports").enumerate() {
            let number = |key| integer(port, key).unwrap_or_default();
            let host = number("hostPort");
            if (is_pod || host != 0) && host != number("containerPort") {
                let at = ports.index(j);
                let why = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid(at.child("hostPort"), json(host), why));
            }
        }
    }
}

fn check_tolerations(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    for (i, toleration) in items(spec, "tolerations").enumerate() {
        let at = at.index(i);
        let typed = |key| rolewright_core::validate::BadValue::typed_text(text(toleration, key));
        let (key, operator, value) = (text(toleration, "key"), text(toleration, "operator"), text(toleration, "value"));
        name(errors, toleration, "key", at, names::label_key);
        if key.is_empty() && operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid(at.child("operator"), typed("operator"), why));
        }
        if !absent(toleration, "tolerationSeconds") && text(toleration, "effect") != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(at.child("effect"), typed("effect"), why));
        }
        match operator {
            "" | "Equal" => {
                let faults = names::label_value(value);
                if !faults.is_empty() {
                    errors.push(FieldError::invalid(at.child("operator"), value, faults.join(";")));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(at.child("operator"), value, why));
            }
            "Exists" | "Lt" | "Gt" => {}
            operator => supported(errors, operator, at.child("operator"), &["Equal", "Exists"]),
        }
        if !text(toleration, "effect").is_empty() {
            let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            supported(errors, text(toleration, "effect"), at.child("effect"), &effects);
        }
    }
}

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
    set to 1 if it was previously negative)";

pub(in super::super) fn validate_update(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let (Some(new), Some(old)) = (child(pod, "spec"), child(old, "spec")) else { return errors };
    let at = Path::field("spec");
    check_pod(&mut errors, new, at);
    for kind in ["containers", "initContainers"] {
        if list(new, kind).len() != list(old, kind).len() {
            // Kubernetes has found out by then that the others are not the same either.
            let why = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(at.child(kind), why));
            return errors;
        }
        for (i, container) in items(new, kind).enumerate() {
            let containers = at.child(kind);
            let at = containers.index(i);
            let image = text(container, "image");
            required(&mut errors, container, "image", at);
            if image.trim() != image {
                let why = "must not have leading or trailing whitespace";
                errors.push(FieldError::invalid(at.child("image"), image, why));
            }
        }
    }
    let mut wanted = new.clone();
    for key in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        match old.get(key) {
            Some(value) => wanted.insert(key.to_owned(), value.clone()),
            None => wanted.remove(key),
        };
    }
    for kind in ["containers", "initContainers"] {
        let images: Vec<Option<Value>> = items(old, kind).map(|container| container.get("image").cloned()).collect();
        for (container, image) in super::items_mut(&mut wanted, kind).zip(images) {
            container.insert("image".to_owned(), image.unwrap_or_default());
        }
    }
    let spec = type_of("", "v1", "PodSpec").or_else(|| match type_of("", "v1", "Pod")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    });
    let changed: Vec<&str> = spec
        .into_iter()
        .flat_map(crate::facts::Type::fields)
        .map(|field| field.name)
        .filter(|key| spec.is_some_and(|spec| !semantic::same_at(spec, &wanted, old, key)))
        .collect();
    if !changed.is_empty() {
        let shown = |spec: &Object, key: &str| spec.get(key).unwrap_or(&Value::Null).to_string();
        let lines = changed.iter().map(|key| format!("-{key}: {}\n+{key}: {}\n", shown(old, key), shown(&wanted, key)));
        let why = format!("pod updates may not change fields other than {UPDATABLE}\n{}", lines.collect::<String>());
        errors.push(FieldError::forbidden(at, why));
    }
    errors
}

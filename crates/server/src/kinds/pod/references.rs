//! References from a pod to its own fields, and to the resources of its containers.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, each, required};
use super::super::quantity::Quantity;
use super::super::read::text;
use crate::strategy::Object;

/// The fields that the environment of a container may have.
pub(super) const ENVIRONMENT_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// What is known as a field otherwise.
const OTHERS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase"];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// A field of the pod, out of those that are `allowed` here.
pub(super) fn check_field_ref(errors: &mut Errors, reference: &Object, allowed: &[&str], at: Path<'_>) {
    let (version, path) = (text(reference, "apiVersion"), text(reference, "fieldPath"));
    if version.is_empty() || path.is_empty() {
        let missing = if version.is_empty() { "apiVersion" } else { "fieldPath" };
        errors.push(FieldError::required(at.child(missing), ""));
        return;
    }
    let subscripted = path.strip_suffix("']").and_then(|path| path.split_once("['")).filter(|(map, _)| !map.is_empty());
    let known = |path: &str| ENVIRONMENT_FIELDS.contains(&path) || OTHERS.contains(&path) || path == "spec.host";
    let why = match subscripted {
        _ if version != "v1" => format!("unsupported pod version: {version}"),
        Some(("metadata.annotations", key)) => return each_key(errors, &key.to_lowercase(), at),
        Some(("metadata.labels", key)) => return each_key(errors, key, at),
        Some(_) => format!("field label does not support subscript: {path}"),
        None if !known(path) => format!("field label not supported: {path}"),
        None => {
            let path = if path == "spec.host" { "spec.nodeName" } else { path };
            if !allowed.contains(&path) {
                errors.push(FieldError::not_supported(at.child("fieldPath"), path, allowed));
            }
            return;
        }
    };
    errors.push(FieldError::invalid(at.child("fieldPath"), path, format!("error converting fieldPath: {why}")));
}

fn each_key(errors: &mut Errors, key: &str, at: Path<'_>) {
    each(errors, at, key, names::label_key(key));
}

/// A resource of a container, which a volume must name.
pub(super) fn check_resource_ref(errors: &mut Errors, reference: &Object, volume: bool, at: Path<'_>) {
    let resource = text(reference, "resource");
    let huge = ["limits.hugepages-", "requests.hugepages-"].iter().any(|prefix| resource.starts_with(prefix));
    if volume && text(reference, "containerName").is_empty() {
        errors.push(FieldError::required(at.child("containerName"), ""));
    } else if resource.is_empty() {
        required(errors, reference, "resource", at);
    } else if !RESOURCES.contains(&resource) && !huge {
        errors.push(FieldError::not_supported(at.child("resource"), resource, &RESOURCES));
    }
    let divisor = reference.get("divisor").and_then(Value::as_str).and_then(Quantity::parse);
    let Some(divisor) = divisor.filter(|divisor| !divisor.sign().is_eq()).map(|divisor| divisor.to_string()) else {
        return;
    };
    let is_scale = matches!(
        divisor.as_str(),
        "1" | "1k" | "1M" | "1G" | "1T" | "1P" | "1E" | "1Ki" | "1Mi" | "1Gi" | "1Ti" | "1Pi" | "1Ei"
    );
    let called = match resource {
        "limits.cpu" | "requests.cpu" if divisor != "1" && divisor != "1m" => {
            let why = "only divisor's values 1m and 1 are supported with the cpu resource";
            errors.push(FieldError::invalid(at.child("divisor"), resource, why));
            return;
        }
        "limits.memory" | "requests.memory" => "memory",
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => "local ephemeral storage",
        _ if huge => "hugepages",
        _ => return,
    };
    if !is_scale {
        let why = format!(
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the \
             {called} resource"
        );
        errors.push(FieldError::invalid(at.child("divisor"), resource, why));
    }
}

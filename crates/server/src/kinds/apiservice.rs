//! APIServices: groups and versions, and who serves them.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::json;

use super::check::{Errors, each, each_item, json as shown, label_1035, required, supported};
use super::data::decoded_len;
use super::read::{absent, child, child_mut, flag, integer, text};
use crate::strategy::Object;

/// What this server serves itself is available at once.
pub(super) fn prepare(service: &mut Object) {
    if child(service, "spec").is_some_and(|spec| !absent(spec, "service")) {
        return;
    }
    let created = child(service, "metadata").and_then(|metadata| metadata.get("creationTimestamp")).cloned();
    let condition = json!([{
        "type": "Available", "status": "True", "lastTransitionTime": created,
        "reason": "Local", "message": "Local APIServices are always available",
    }]);
    if let Some(status) = child_mut(service, "status") {
        status.insert("conditions".to_owned(), condition);
    }
}

pub(super) fn validate(service: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(service, "spec") else { return errors };
    let at = Path::field("spec");
    let (group, version) = (text(spec, "group"), text(spec, "version"));
    if group.is_empty() && version != "v1" {
        let why = "only v1 may have an empty group and it better be legacy kube";
        errors.push(FieldError::required(at.child("group"), why));
    }
    if !group.is_empty() {
        each(&mut errors, at.child("group"), group, names::dns_subdomain(group));
    }
    each(&mut errors, at.child("version"), version, label_1035(version));
    for (key, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let value = integer(spec, key).unwrap_or_default();
        if !(1..=most).contains(&value) {
            let why = format!("must be positive and less than {most}");
            errors.push(FieldError::invalid(at.child(key), shown(value), why));
        }
    }
    let insecure = flag(spec, "insecureSkipTLSVerify");
    let has_bundle = !text(spec, "caBundle").is_empty();
    let Some(backend) = child(spec, "service") else {
        if has_bundle {
            let shown = format!("{} bytes", decoded_len(text(spec, "caBundle")));
            let why = "local APIServices may not have a caBundle";
            errors.push(FieldError::invalid(at.child("caBundle"), shown.as_str(), why));
        }
        if insecure {
            let why = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(FieldError::invalid(at.child("insecureSkipTLSVerify"), shown(true), why));
        }
        return errors;
    };
    required(&mut errors, backend, "namespace", at.child("service"));
    required(&mut errors, backend, "name", at.child("service"));
    let port = integer(backend, "port").unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let service = at.child("service");
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(service.child("port"), shown(port), why));
    }
    if insecure && has_bundle {
        let why = "may not be true if caBundle is present";
        errors.push(FieldError::invalid(at.child("insecureSkipTLSVerify"), shown(true), why));
    }
    errors
}

pub(super) fn validate_status(service: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(status) = child(service, "status") {
        each_item(status, "conditions", Path::field("status"), |condition, at| {
            supported(&mut errors, text(condition, "status"), at.child("status"), &["True", "False", "Unknown"]);
        });
    }
    errors
}

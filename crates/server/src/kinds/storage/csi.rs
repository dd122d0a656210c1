//! What is wrong with what storage drivers tell of themselves.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, each, each_item, immutable, json, list_json, not_negative, not_negative_amount, read_selector,
    required, selector, selector_json, supported, supported_if, within,
};
use super::super::quantity::Quantity;
use super::super::read::{absent, child, integer, items, list, text, texts};
use super::super::volumes::check_driver;
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn driver(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    supported_if(&mut errors, spec, "fsGroupPolicy", SPEC, &["File", "None", "ReadWriteOnceWithFSType"]);
    let mut audiences = BTreeSet::new();
    each_item(spec, "tokenRequests", SPEC, |request, at| {
        let audience = text(request, "audience");
        if !audiences.insert(audience) {
            errors.push(FieldError::duplicate(at.child("audience"), audience));
            return;
        }
        let why = match integer(request, "expirationSeconds") {
            Some(seconds) if seconds < 600 => "may not specify a duration less than 10 minutes",
            Some(seconds) if seconds > 1 << 32 => "may not specify a duration larger than 2^32 seconds",
            _ => return,
        };
        let shown = json(integer(request, "expirationSeconds").unwrap_or_default());
        errors.push(FieldError::invalid(at.child("expirationSeconds"), shown, why));
    });
    for mode in texts(spec, "volumeLifecycleModes") {
        supported(&mut errors, mode, SPEC.child("volumeLifecycleModes"), &["Persistent", "Ephemeral"]);
    }
    if let Some(seconds) = integer(spec, "nodeAllocatableUpdatePeriodSeconds").filter(|seconds| *seconds < 10) {
        let at = SPEC.child("nodeAllocatableUpdatePeriodSeconds");
        errors.push(FieldError::invalid(at, json(seconds), "must be greater than or equal to 10 seconds"));
    }
    if let Some(flag) = spec.get("serviceAccountTokenInSecrets").filter(|flag| flag.is_boolean())
        && list(spec, "tokenRequests").is_empty()
    {
        let why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.push(FieldError::invalid(SPEC.child("serviceAccountTokenInSecrets"), json(flag), why));
    }
    errors
}

pub(in super::super) fn driver_update(object: &Object, old: &Object) -> Errors {
    let mut errors = driver(object);
    let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) else { return errors };
    let before = errors.len();
    immutable(&mut errors, spec, old, "attachRequired", SPEC);
    if let Some(error) = errors.get_mut(before) {
        // Kubernetes misspells it.
        "spec.attachedRequired".clone_into(&mut error.field);
    }
    if list(spec, "volumeLifecycleModes") != list(old, "volumeLifecycleModes") {
        let shown = list_json(spec, "volumeLifecycleModes");
        errors.push(FieldError::invalid(SPEC.child("volumeLifecycleModes"), shown, IMMUTABLE));
    }
    errors
}

pub(in super::super) fn node(object: &Object) -> Errors {
    const LONGEST_ID: usize = 256;
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    let mut seen = BTreeSet::new();
    each_item(spec, "drivers", SPEC, |driver, at| {
        check_driver(&mut errors, driver, "name", at);
        required(&mut errors, driver, "nodeID", at);
        let id = text(driver, "nodeID");
        if id.len() > LONGEST_ID {
            let why = format!("must be {LONGEST_ID} characters or less");
            errors.push(FieldError::invalid(at.child("nodeID"), id, why));
        }
        within(driver, "allocatable", at, |allocatable, at| not_negative(&mut errors, allocatable, "count", at));
        if !seen.insert(text(driver, "name")) {
            errors.push(FieldError::duplicate(at.child("name"), text(driver, "name")));
        }
        let mut keys = BTreeSet::new();
        for key in texts(driver, "topologyKeys") {
            if key.is_empty() {
                errors.push(FieldError::required(at, ""));
            }
            if !keys.insert(key) {
                errors.push(FieldError::duplicate(at, key));
            }
            each(&mut errors, at, key, names::label_key(key));
        }
    });
    errors
}

pub(in super::super) fn node_update(object: &Object, old: &Object) -> Errors {
    let mut errors = node(object);
    let drivers = |object: &'_ Object| -> Vec<Object> {
        child(object, "spec").into_iter().flat_map(|spec| items(spec, "drivers")).cloned().collect()
    };
    let new = drivers(object);
    for before in drivers(old) {
        for now in new.iter().filter(|now| text(now, "name") == text(&before, "name")) {
            let same = text(now, "nodeID") == text(&before, "nodeID")
                && list(now, "topologyKeys") == list(&before, "topologyKeys");
            if !same {
                let keys = now.get("topologyKeys").unwrap_or(&Value::Null);
                let text = |key| Value::from(text(now, key));
                let go = format!(
                    "{{\"Name\":{},\"NodeID\":{},\"TopologyKeys\":{keys},\"Allocatable\":null}}",
                    text("name"),
                    text("nodeID")
                );
                errors.push(FieldError::invalid(SPEC.child("drivers"), json(go), IMMUTABLE));
            }
        }
    }
    errors
}

pub(in super::super) fn capacity(object: &Object) -> Errors {
    let mut errors = Errors::new();
    selector(&mut errors, object, "nodeTopology", Path::Root);
    let class = text(object, "storageClassName");
    each(&mut errors, Path::field("storageClassName"), class, names::dns_subdomain(class));
    if let Some(amount) = object.get("capacity").and_then(Value::as_str).and_then(Quantity::parse) {
        not_negative_amount(&mut errors, amount, Path::field("capacity"));
    }
    errors
}

pub(in super::super) fn capacity_update(object: &Object, old: &Object) -> Errors {
    let mut errors = capacity(object);
    let topology = |object: &Object| child(object, "nodeTopology").map(read_selector);
    if absent(object, "nodeTopology") != absent(old, "nodeTopology") || topology(object) != topology(old) {
        let shown = json(selector_json(child(object, "nodeTopology")));
        errors.push(FieldError::invalid(Path::field("nodeTopology"), shown, IMMUTABLE));
    }
    let class = text(object, "storageClassName");
    if class != text(old, "storageClassName") {
        errors.push(FieldError::invalid(Path::field("storageClassName"), BadValue::from(class), IMMUTABLE));
    }
    errors
}

//! What is wrong with a node.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    EFFECTS, Errors, Range, amounts, cidr, each, each_item, each_text, internal_error, json, list_json, one_of,
    resource_amount,
};
use super::super::internal;
use super::super::read::{child, integer, list, text, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const STATUS: Path<'static> = Path::Field(&Path::Root, "status");

pub(in super::super) fn node(node: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (spec, status) = (child(node, "spec").unwrap_or(&empty), child(node, "status").unwrap_or(&empty));
    check_taints(&mut errors, spec);
    check_node_status(&mut errors, status);
    let swap = child(status, "nodeInfo").and_then(|info| child(info, "swap"));
    if let Some(capacity) = swap.and_then(|swap| integer(swap, "capacity")).filter(|capacity| *capacity <= 0) {
        let at = Path::field("metadata");
        let at = at.child("nodeSwapStatus");
        errors.push(FieldError::invalid(at.child("capacity"), json(capacity), "must be greater than zero"));
    }
    check_features(&mut errors, status);
    each_text(spec, "podCIDRs", SPEC, |range, at| cidr(&mut errors, range, at, &[]));
    let ranges: Vec<&str> = texts(spec, "podCIDRs").collect();
    if ranges.len() > 1 {
        let at = SPEC.child("podCIDRs");
        let parsed: Vec<bool> = ranges.iter().filter_map(|text| Range::parse(text)).map(Range::is_v6).collect();
        let bad = ranges.iter().enumerate().find(|(_, text)| Range::parse(text).is_none());
        if let Some((i, text)) = bad {
            let why = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{i}]: <nil> (invalid CIDR \
                 address: {text})"
            );
            errors.push(internal_error(at, why));
        }
        if bad.is_some() || ranges.len() > 2 || parsed.iter().all(|v6| *v6) || !parsed.contains(&true) {
            let why = "may specify no more than one CIDR for each IP family";
            errors.push(FieldError::invalid(at, list_json(spec, "podCIDRs"), why));
        }
    }
    errors
}

fn check_node_status(errors: &mut Errors, status: &Object) {
    for key in ["capacity", "allocatable"] {
        for (name, amount) in amounts(status, key) {
            resource_amount(errors, name, amount, STATUS.child(key).child(name));
        }
    }
}

fn check_features(errors: &mut Errors, status: &Object) {
    let at = STATUS.child("declaredFeatures");
    let mut features = texts(status, "declaredFeatures").enumerate().peekable();
    while let Some((i, feature)) = features.next() {
        if !is_feature(feature) {
            let why = format!(
                "invalid feature name {}: must start with an UpperCamelCase segment, with subsequent segments separated \
                 by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
                rolewright_core::quote::Quoted(feature)
            );
            errors.push(FieldError::invalid(at.index(i), feature, why));
        }
        match features.peek() {
            Some((next, other)) if *other == feature => errors.push(FieldError::duplicate(at.index(*next), *other)),
            Some((next, other)) if *other < feature => {
                errors.push(FieldError::invalid(at.index(*next), *other, "list must be sorted alphabetically"));
            }
            _ => {}
        }
    }
}

fn is_feature(name: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_segment)
}

fn check_taints(errors: &mut Errors, spec: &Object) {
    let mut seen = BTreeSet::new();
    each_item(spec, "taints", Path::field("metadata"), |taint, at| {
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        each(errors, at.child("key"), key, names::label_key(key));
        let faults = names::label_value(value);
        if !faults.is_empty() {
            errors.push(FieldError::invalid(at.child("value"), value, faults.join(";")));
        }
        one_of(errors, taint, "effect", at, &EFFECTS);
        if !seen.insert((effect, key)) {
            let shown = json(internal::shown("", "Node", &["spec", "taints"], Some(&Value::Object(taint.clone()))));
            let mut error = FieldError::duplicate(at, shown);
            "taints must be unique by key and effect pair".clone_into(&mut error.detail);
            errors.push(error);
        }
    });
}

pub(in super::super) fn node_update(object: &Object, old: &Object) -> Errors {
    [node(object), node_status(object, old)].concat()
}

pub(in super::super) fn node_status(node: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (spec, status) = (child(node, "spec").unwrap_or(&empty), child(node, "status").unwrap_or(&empty));
    let old = child(old, "spec").unwrap_or(&empty);
    check_node_status(&mut errors, status);
    check_features(&mut errors, status);
    let mut seen = BTreeSet::new();
    each_item(status, "addresses", STATUS, |address, at| {
        let (kind, address) = (text(address, "type"), text(address, "address"));
        if !seen.insert((kind, address)) {
            errors.push(FieldError::duplicate(at, BadValue::fields([("Type", kind), ("Address", address)])));
        }
    });
    let why = |field| format!("node updates may not change {field} except from \"\" to valid");
    let (ranges, before) = (list(spec, "podCIDRs"), list(old, "podCIDRs"));
    if !before.is_empty() && ranges != before {
        errors.push(FieldError::forbidden(SPEC.child("podCIDRs"), why("podCIDR")));
    }
    if !text(old, "providerID").is_empty() && text(old, "providerID") != text(spec, "providerID") {
        errors.push(FieldError::forbidden(SPEC.child("providerID"), why("providerID")));
    }
    check_taints(&mut errors, spec);
    if text(old, "externalID") != text(spec, "externalID") {
        errors.push(FieldError::forbidden(SPEC.child("externalID"), "may not be updated"));
    }
    errors
}

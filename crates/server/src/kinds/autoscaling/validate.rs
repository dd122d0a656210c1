//! What is wrong with an autoscaler.

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, container_resource_name, counts, each, each_item, json, named, not_negative_amount, shown, supported,
    supported_if, within,
};
use super::super::quantity::Quantity;
use super::super::read::{absent, child, integer, list, text};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const AT_LEAST_ONE: &str = "must be greater than or equal to 1";
const POSITIVE: &str = "must be greater than zero";
/// In the order in which Kubernetes looks at them, by field and by type.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

/// References that were wrong may stay wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Tolerance {
    target: bool,
    objects: bool,
}

pub(in super::super) fn validate(scaler: &Object) -> Errors {
    check(scaler, Tolerance::default())
}

pub(in super::super) fn validate_update(scaler: &Object, old: &Object) -> Errors {
    let Some(old) = child(old, "spec") else { return validate(scaler) };
    let mut objects = false;
    each_item(old, "metrics", SPEC, |metric, _| {
        let described = child(metric, "object").and_then(|object| child(object, "describedObject"));
        objects |= described.is_some_and(|reference| version_fault(reference, true).is_some());
    });
    let target = |spec: &Object| {
        let target = child(spec, "scaleTargetRef");
        target.map(|target| ["apiVersion", "kind"].map(|key| text(target, key).to_owned()))
    };
    let same = child(scaler, "spec").is_some_and(|spec| target(spec) == target(old));
    check(scaler, Tolerance { target: same, objects })
}

pub(in super::super) fn validate_status(scaler: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(status) = child(scaler, "status") {
        counts(&mut errors, status, Path::field("status"), &["currentReplicas", "desiredReplicas"]);
    }
    errors
}

fn check(scaler: &Object, tolerance: Tolerance) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(scaler, "spec") else { return errors };
    let (min, max) = (integer(spec, "minReplicas"), integer(spec, "maxReplicas").unwrap_or_default());
    if let Some(min) = min.filter(|min| *min < 1) {
        errors.push(FieldError::invalid(SPEC.child("minReplicas"), json(min), AT_LEAST_ONE));
    }
    match max {
        0 => errors.push(FieldError::required(SPEC.child("maxReplicas"), "must be set and greater than 0")),
        max if max < 0 => errors.push(FieldError::invalid(SPEC.child("maxReplicas"), json(max), AT_LEAST_ONE)),
        _ => {}
    }
    if min.is_some_and(|min| max < min) {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(SPEC.child("maxReplicas"), json(max), why));
    }
    within(spec, "scaleTargetRef", SPEC, |target, at| {
        check_reference(&mut errors, target, at);
        check_version(&mut errors, target, text(target, "kind") == "ReplicationController", tolerance.target, at);
    });
    each_item(spec, "metrics", SPEC, |metric, at| check_metric(&mut errors, metric, tolerance.objects, at));
    let zoomable = ["Object", "External"];
    let mut from_outside = false;
    each_item(spec, "metrics", SPEC, |metric, _| from_outside |= zoomable.contains(&text(metric, "type")));
    if min == Some(0) && !from_outside {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden(SPEC.child("metrics"), why));
    }
    within(spec, "behavior", SPEC, |behavior, at| {
        for key in ["scaleUp", "scaleDown"] {
            within(behavior, key, at, |rules, at| check_rules(&mut errors, rules, at));
        }
    });
    errors
}

fn check_reference(errors: &mut Errors, reference: &Object, at: Path<'_>) {
    named(errors, reference, "kind", at, names::path_segment);
    named(errors, reference, "name", at, names::path_segment);
}

fn version_fault(reference: &Object, core: bool) -> Option<String> {
    let version = text(reference, "apiVersion");
    match version.matches('/').count() {
        0 | 1 if core => None,
        1 if !version.starts_with('/') => None,
        0 | 1 => Some("apiVersion must specify API group".to_owned()),
        _ => Some(format!("unexpected GroupVersion string: {version}")),
    }
}

fn check_version(errors: &mut Errors, reference: &Object, core: bool, tolerate: bool, at: Path<'_>) {
    if let Some(why) = version_fault(reference, core).filter(|_| !tolerate) {
        errors.push(FieldError::invalid(at.child("apiVersion"), text(reference, "apiVersion"), why));
    }
}

fn check_metric(errors: &mut Errors, metric: &Object, tolerate: bool, at: Path<'_>) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        errors.push(FieldError::required(at.child("type"), "must specify a metric source type"));
    }
    supported(errors, kind, at.child("type"), &TYPES);
    let given: Vec<&str> = SOURCES.iter().map(|(key, _)| *key).filter(|key| child(metric, key).is_some()).collect();
    if let Some((key, source)) = given.first().and_then(|key| Some((*key, child(metric, key)?))) {
        check_source(errors, key, source, tolerate, at.child(key));
    }
    let expected = SOURCES.iter().find(|(_, known)| *known == kind).map(|(key, _)| *key);
    match expected {
        Some(key) if !given.contains(&key) => {
            errors.push(FieldError::required(at.child(key), "must populate information for the given metric source"));
        }
        Some(_) => {}
        None => supported(errors, kind, at.child("type"), &TYPES),
    }
    if given.len() != 1 {
        for key in given.into_iter().filter(|key| Some(*key) != expected) {
            errors.push(FieldError::forbidden(at.child(key), "must populate the given metric source only"));
        }
    }
}

fn check_source(errors: &mut Errors, kind: &str, source: &Object, tolerate: bool, at: Path<'_>) {
    let empty = Object::new();
    if kind == "object" {
        let described = child(source, "describedObject").unwrap_or(&empty);
        check_reference(errors, described, at.child("describedObject"));
        check_version(errors, described, true, tolerate, at.child("describedObject"));
    }
    if kind == "resource" || kind == "containerResource" {
        let name = text(source, "name");
        if name.is_empty() {
            errors.push(FieldError::required(at.child("name"), "must specify a resource name"));
        } else if kind == "containerResource" {
            container_resource_name(errors, name, at.child("name"));
        }
        let container = text(source, "container");
        if kind == "containerResource" && container.is_empty() {
            errors.push(FieldError::required(at.child("container"), "must specify a container"));
        } else if kind == "containerResource" {
            each(errors, at.child("container"), container, names::dns_label(container));
        }
    } else {
        let name = child(source, "metric").map(|metric| text(metric, "name")).unwrap_or_default();
        let metric = at.child("metric");
        if name.is_empty() {
            errors.push(FieldError::required(metric.child("name"), "must specify a metric name"));
        } else {
            each(errors, metric.child("name"), name, names::path_segment(name));
        }
    }
    let target = child(source, "target").unwrap_or(&empty);
    let at = at.child("target");
    check_target(errors, target, at);
    let has = |key| !absent(target, key);
    let neither = |a, b| !has(a) && !has(b);
    match kind {
        "object" if neither("value", "averageValue") => errors
            .push(FieldError::required(at.child("averageValue"), "must set either a target value or averageValue")),
        "external" if neither("value", "averageValue") => errors.push(FieldError::required(
            at.child("averageValue"),
            "must set either a target value for metric or a per-pod target",
        )),
        "external" if has("value") && has("averageValue") => errors.push(FieldError::forbidden(
            at.child("value"),
            "may not set both a target value for metric and a per-pod target",
        )),
        "pods" if !has("averageValue") => {
            errors.push(FieldError::required(at.child("averageValue"), "must specify a positive target averageValue"));
        }
        "resource" | "containerResource" if neither("averageUtilization", "averageValue") => {
            let why = "must set either a target raw value or a target utilization";
            errors.push(FieldError::required(at.child("averageUtilization"), why));
        }
        "resource" | "containerResource" if has("averageUtilization") && has("averageValue") => {
            let why = "may not set both a target raw value and a target utilization";
            errors.push(FieldError::forbidden(at.child("averageValue"), why));
        }
        _ => {}
    }
}

fn check_target(errors: &mut Errors, target: &Object, at: Path<'_>) {
    let kind = text(target, "type");
    if kind.is_empty() {
        errors.push(FieldError::required(at.child("type"), "must specify a metric target type"));
    }
    if !["Utilization", "Value", "AverageValue"].contains(&kind) {
        let why = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(at.child("type"), BadValue::typed_text(kind), why));
    }
    for key in ["value", "averageValue"] {
        let amount = target.get(key).and_then(Value::as_str).and_then(Quantity::parse);
        if let Some(amount) = amount.filter(|amount| !amount.sign().is_gt()) {
            errors.push(FieldError::invalid(at.child(key), shown(amount), "must be positive"));
        }
    }
    if let Some(percent) = integer(target, "averageUtilization").filter(|percent| *percent < 1) {
        errors.push(FieldError::invalid(at.child("averageUtilization"), json(percent), "must be greater than 0"));
    }
}

fn check_rules(errors: &mut Errors, rules: &Object, at: Path<'_>) {
    if let Some(seconds) = integer(rules, "stabilizationWindowSeconds") {
        let why = match seconds {
            ..0 => "must be greater than or equal to zero",
            0..=3600 => "",
            _ => "must be less than or equal to 3600",
        };
        if !why.is_empty() {
            errors.push(FieldError::invalid(at.child("stabilizationWindowSeconds"), json(seconds), why));
        }
    }
    supported_if(errors, rules, "selectPolicy", at, &["Disabled", "Max", "Min"]);
    if list(rules, "policies").is_empty() {
        errors.push(FieldError::required(at.child("policies"), "must specify at least one Policy"));
    }
    each_item(rules, "policies", at, |policy, at| {
        supported(errors, text(policy, "type"), at.child("type"), &["Percent", "Pods"]);
        let number = |key| integer(policy, key).unwrap_or_default();
        for key in ["value", "periodSeconds"] {
            if number(key) <= 0 {
                errors.push(FieldError::invalid(at.child(key), json(number(key)), POSITIVE));
            }
        }
        if number("periodSeconds") > 1800 {
            let why = "must be less than or equal to 1800";
            errors.push(FieldError::invalid(at.child("periodSeconds"), json(number("periodSeconds")), why));
        }
    });
    if let Some(amount) = rules.get("tolerance").and_then(Value::as_str).and_then(Quantity::parse) {
        not_negative_amount(errors, amount, at.child("tolerance"));
    }
}

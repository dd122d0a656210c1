//! What is wrong with the status of a controller, or with a revision of one.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, at_most, counts, json, not_negative};
use super::super::read::{child, integer};
use crate::strategy::Object;

const STATUS: Path<'static> = Path::Field(&Path::Root, "status");
const ALL: &str = "status.replicas";
/// A replica that is available is ready.
const AVAILABLE: (&str, &str, &str) = ("availableReplicas", "readyReplicas", "readyReplicas");

/// Counts that must not be negative, then those that others bound.
fn check(status: &Object, keys: &[&str], bounded: &[&str], available: (&str, &str, &str)) -> Errors {
    let mut errors = Errors::new();
    counts(&mut errors, status, STATUS, keys);
    for key in bounded {
        at_most(&mut errors, status, STATUS, (key, "replicas", ALL));
    }
    at_most(&mut errors, status, STATUS, available);
    errors
}

pub(in super::super) fn deployment(object: &Object, old: &Object) -> Errors {
    let Some(status) = child(object, "status") else { return Errors::new() };
    let keys = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    let mut errors = check(status, &keys, &["updatedReplicas", "readyReplicas", "availableReplicas"], AVAILABLE);
    not_decremented(&mut errors, status, old);
    errors
}

pub(in super::super) fn replica_set(object: &Object, _: &Object) -> Errors {
    let Some(status) = child(object, "status") else { return Errors::new() };
    let keys = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    check(status, &keys, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"], AVAILABLE)
}

pub(in super::super) fn stateful_set(object: &Object, old: &Object) -> Errors {
    let Some(status) = child(object, "status") else { return Errors::new() };
    let keys = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    let bounded = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    let available = ("availableReplicas", "readyReplicas", "status.readyReplicas");
    let mut errors = check(status, &keys, &bounded, available);
    not_decremented(&mut errors, status, old);
    errors
}

pub(in super::super) fn daemon_set(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(status) = child(object, "status") else { return errors };
    let keys = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    counts(&mut errors, status, STATUS, &keys);
    not_decremented(&mut errors, status, old);
    errors
}

/// How often names of revisions collided only rises.
fn not_decremented(errors: &mut Errors, status: &Object, old: &Object) {
    let before = child(old, "status").and_then(|status| integer(status, "collisionCount"));
    let now = integer(status, "collisionCount");
    if before.is_some_and(|before| now.is_none_or(|now| now < before)) {
        let shown = BadValue::number(now.unwrap_or_default());
        errors.push(FieldError::invalid(STATUS.child("collisionCount"), shown, "cannot be decremented"));
    }
}

pub(in super::super) fn revision(object: &Object) -> Errors {
    let mut errors = Errors::new();
    not_negative(&mut errors, object, "revision", Path::Root);
    let at = Path::field("data");
    match object.get("data") {
        None | Some(Value::Null) => errors.push(FieldError::required(at, "data is mandatory")),
        Some(Value::Object(_)) => {}
        Some(_) => errors.push(FieldError::required(at, "data must be a valid JSON object")),
    }
    errors
}

pub(in super::super) fn revision_update(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    not_negative(&mut errors, object, "revision", Path::Root);
    let data = |object: &Object| object.get("data").filter(|data| !data.is_null()).cloned();
    if data(object) != data(old) {
        let shown = data(object).map_or_else(BadValue::null, json);
        errors.push(FieldError::invalid(Path::field("data"), shown, IMMUTABLE));
    }
    errors
}

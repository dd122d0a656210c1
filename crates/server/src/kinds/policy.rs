//! How pods may be disturbed: disruption budgets and priority classes.

use rolewright_core::validate::{FieldError, Path};

use super::check::{
    Errors, at_most_all, conditions, counts, immutable, json, number_or_percent, one_of, selector, supported_if,
};
use super::internal;
use super::read::{absent, child, integer, text};
use crate::strategy::Object;

pub(super) fn validate(budget: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(budget, "spec") else { return errors };
    let at = Path::field("spec");
    if !absent(spec, "minAvailable") && !absent(spec, "maxUnavailable") {
        let why = "minAvailable and maxUnavailable cannot be both set";
        errors.push(FieldError::invalid(
            at,
            json(internal::shown("policy", "PodDisruptionBudget", &["spec"], budget.get("spec"))),
            why,
        ));
    }
    for key in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = spec.get(key).filter(|value| !value.is_null()) {
            number_or_percent(&mut errors, value, at.child(key));
            at_most_all(&mut errors, value, at.child(key));
        }
    }
    selector(&mut errors, spec, "selector", at);
    supported_if(&mut errors, spec, "unhealthyPodEvictionPolicy", at, &["AlwaysAllow", "IfHealthyBudget"]);
    errors
}

pub(super) fn validate_status(budget: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(status) = child(budget, "status") else { return errors };
    let at = Path::field("status");
    conditions(&mut errors, status, at);
    let keys = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    counts(&mut errors, status, at, &keys);
    errors
}

pub(super) fn validate_update(budget: &Object, _: &Object) -> Errors {
    validate(budget)
}

pub(super) fn priority_class(class: &Object) -> Errors {
    let mut errors = Errors::new();
    let name = child(class, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    if !name.starts_with("system-") && integer(class, "value").is_some_and(|value| value > 1_000_000_000) {
        let why = "maximum allowed value of a user defined priority is 1000000000";
        errors.push(FieldError::forbidden(Path::field("value"), why));
    }
    if !absent(class, "preemptionPolicy") {
        one_of(&mut errors, class, "preemptionPolicy", Path::Root, &["PreemptLowerPriority", "Never"]);
    }
    errors
}

pub(super) fn priority_class_update(class: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let value = |class: &Object| integer(class, "value").unwrap_or_default();
    if value(class) != value(old) {
        errors.push(FieldError::forbidden(Path::field("value"), "may not be changed in an update."));
    }
    immutable(&mut errors, class, old, "preemptionPolicy", Path::Root);
    errors
}

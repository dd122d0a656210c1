//! Pod disruption budgets.

use rolewright_core::validate::Path;
use serde_json::Value;

use super::check::{Errors, at_most_all, number_or_percent, selector, supported};
use super::read::child;
use crate::strategy::Object;

pub(super) fn validate(budget: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(budget, "spec") else { return errors };
    let at = Path::field("spec");
    for key in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = spec.get(key).filter(|value| !value.is_null()) {
            number_or_percent(&mut errors, value, at.child(key));
            at_most_all(&mut errors, value, at.child(key));
        }
    }
    selector(&mut errors, spec, "selector", at);
    if let Some(policy) = spec.get("unhealthyPodEvictionPolicy").and_then(Value::as_str) {
        let known = ["AlwaysAllow", "IfHealthyBudget"];
        supported(&mut errors, policy, at.child("unhealthyPodEvictionPolicy"), &known);
    }
    errors
}

pub(super) fn validate_update(budget: &Object, _: &Object) -> Errors {
    validate(budget)
}

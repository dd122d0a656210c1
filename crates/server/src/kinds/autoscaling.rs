//! Horizontal pod autoscalers. Two versions are served and `v2` is stored; `v1` keeps what it has no field for in
//! annotations.

mod conversion;

use serde_json::{Value, json};

pub(super) use conversion::{to_v1, to_v2};

use rolewright_core::validate::{FieldError, Path, names};

use super::check::{Errors, json as shown, name, required};
use super::read::{child, child_mut, fill, integer, known_mut, list};
use crate::strategy::Object;

pub(super) fn default_v1(scaler: &mut Object) {
    if let Some(spec) = child_mut(scaler, "spec") {
        fill(spec, "minReplicas", 1);
    }
}

pub(super) fn default_v2(scaler: &mut Object) {
    conversion::taken_annotations(scaler);
    let Some(spec) = child_mut(scaler, "spec") else { return };
    fill(spec, "minReplicas", 1);
    if list(spec, "metrics").is_empty() {
        spec.insert("metrics".to_owned(), json!([cpu(80)]));
    }
    let Some(behavior) = known_mut(spec, "behavior") else { return };
    let up = json!([
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ]);
    let down = json!([{"type": "Percent", "value": 100, "periodSeconds": 15}]);
    default_rules(behavior, "scaleUp", up);
    default_rules(behavior, "scaleDown", down);
    if let Some(up) = child_mut(behavior, "scaleUp") {
        fill(up, "stabilizationWindowSeconds", 0);
    }
}

fn default_rules(behavior: &mut Object, direction: &str, policies: Value) {
    let Some(rules) = child_mut(behavior, direction) else { return };
    fill(rules, "selectPolicy", "Max");
    fill(rules, "policies", policies);
}

fn cpu(percent: i64) -> Value {
    json!({
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}},
    })
}

pub(super) fn validate(scaler: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(scaler, "spec") else { return errors };
    let at = Path::field("spec");
    let (min, max) = (integer(spec, "minReplicas"), integer(spec, "maxReplicas").unwrap_or_default());
    if let Some(min) = min.filter(|min| *min < 1) {
        errors.push(FieldError::invalid(at.child("minReplicas"), shown(min), "must be greater than or equal to 1"));
    }
    match max {
        0 => errors.push(FieldError::required(at.child("maxReplicas"), "must be set and greater than 0")),
        max if max < 0 => {
            errors.push(FieldError::invalid(at.child("maxReplicas"), shown(max), "must be greater than or equal to 1"));
        }
        _ => {}
    }
    if min.is_some_and(|min| max < min) {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(at.child("maxReplicas"), shown(max), why));
    }
    if let Some(target) = child(spec, "scaleTargetRef") {
        for key in ["kind", "name"] {
            required(&mut errors, target, key, at.child("scaleTargetRef"));
            name(&mut errors, target, key, at.child("scaleTargetRef"), names::path_segment);
        }
    }
    errors
}

pub(super) fn validate_update(scaler: &Object, _: &Object) -> Errors {
    validate(scaler)
}

//! Horizontal pod autoscalers. Two versions are served and `v2` is stored; `v1` keeps what it has no field for in
//! annotations.

mod conversion;
pub(super) mod validate;

use serde_json::{Value, json};

pub(super) use conversion::{to_v1, to_v2};

use super::read::{child_mut, fill, known_mut, list};
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

//! The two versions of autoscalers. `v1` has one field for the processor's use; everything else of `v2` is in
//! annotations there, in the words of `v1` alpha types.

mod members;
mod metrics;

use serde_json::{Map, Value, json};

use super::super::read::{child, child_mut, integer, text};
use crate::strategy::Object;
use members::Members;
use metrics::{metric_to_v1, metric_to_v2, status_to_v1, status_to_v2};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const STATUSES: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const ANNOTATIONS: [&str; 6] = [
    METRICS,
    STATUSES,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

const UTILIZATION: &str = "averageUtilization";

pub(crate) fn to_v2(v1: &Object) -> Object {
    let mut scaler = v1.clone();
    scaler.insert("apiVersion".to_owned(), "autoscaling/v2".into());
    let annotations = taken_annotations(&mut scaler);
    let written =
        |name: &str| annotations.get(name).and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    if let Some(spec) = child_mut(&mut scaler, "spec") {
        let cpu = spec.remove("targetCPUUtilizationPercentage").and_then(|percent| percent.as_i64());
        let mut metrics: Vec<Value> = written(METRICS).as_ref().map(|all| each(all, metric_to_v2)).unwrap_or_default();
        metrics.extend(cpu.map(super::cpu));
        if metrics.is_empty() {
            metrics.push(super::cpu(80));
        }
        spec.insert("metrics".to_owned(), metrics.into());
        let behavior = written(BEHAVIOR).map(|behavior: Value| lower_keys(&behavior));
        if let Some(behavior @ Value::Object(_)) = behavior.filter(|behavior| *behavior != json!({})) {
            spec.insert("behavior".to_owned(), behavior);
        }
    }
    if let Some(status) = child_mut(&mut scaler, "status") {
        let cpu = status.remove("currentCPUUtilizationPercentage").and_then(|percent| percent.as_i64());
        let cpu = cpu.map(|percent| {
            vec![json!({"type": "Resource", "resource": {"name": "cpu", "current": {UTILIZATION: percent}}})]
        });
        let current = written(STATUSES).as_ref().map(|all| each(all, status_to_v2)).or(cpu);
        status.insert("currentMetrics".to_owned(), current.map_or(Value::Null, Value::from));
        if let Some(conditions @ Value::Array(_)) = written(CONDITIONS) {
            status.insert("conditions".to_owned(), conditions);
        }
        drop_zero(status, "currentReplicas");
    }
    scaler
}

pub(crate) fn to_v1(v2: &Object) -> Object {
    let mut scaler = v2.clone();
    scaler.insert("apiVersion".to_owned(), "autoscaling/v1".into());
    taken_annotations(&mut scaler);
    let mut annotations = Map::new();
    if let Some(spec) = child_mut(&mut scaler, "spec") {
        let metrics = spec.remove("metrics").unwrap_or_default();
        let (cpu, others): (Vec<_>, Vec<_>) = objects(&metrics).partition(|metric| cpu_target(metric).is_some());
        if let Some(percent) = cpu.first().and_then(|metric| cpu_target(metric)) {
            spec.insert("targetCPUUtilizationPercentage".to_owned(), percent.into());
        }
        note(&mut annotations, METRICS, others.into_iter().map(metric_to_v1));
        if let Some(Value::Object(behavior)) = spec.remove("behavior") {
            annotations.insert(BEHAVIOR.to_owned(), escaped(&behavior_to_v1(&behavior)).into());
        }
    }
    if let Some(status) = child_mut(&mut scaler, "status") {
        let metrics = status.remove("currentMetrics").unwrap_or_default();
        let is_cpu = |metric: &&Object| text(metric, "type") == "Resource" && named(metric, "resource") == "cpu";
        let percent = objects(&metrics)
            .filter(is_cpu)
            .filter_map(|metric| integer(child(child(metric, "resource")?, "current")?, UTILIZATION));
        if let Some(percent) = percent.last() {
            status.insert("currentCPUUtilizationPercentage".to_owned(), percent.into());
        }
        note(&mut annotations, STATUSES, objects(&metrics).map(status_to_v1));
        let conditions = status.remove("conditions").unwrap_or_default();
        note(&mut annotations, CONDITIONS, objects(&conditions).map(condition_to_v1));
        if integer(status, "currentReplicas").is_none() {
            status.insert("currentReplicas".to_owned(), 0.into());
        }
    }
    if !annotations.is_empty()
        && let Some(metadata) = child_mut(&mut scaler, "metadata")
        && let Some(known) = child_mut(metadata, "annotations")
    {
        known.append(&mut annotations);
    }
    scaler
}

/// Removes the annotations of this conversion.
pub(super) fn taken_annotations(scaler: &mut Object) -> Object {
    let mut taken = Object::new();
    let Some(metadata) = child_mut(scaler, "metadata") else { return taken };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return taken };
    for name in ANNOTATIONS {
        if let Some(value) = annotations.remove(name) {
            taken.insert(name.to_owned(), value);
        }
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    taken
}

fn drop_zero(object: &mut Object, key: &str) {
    if integer(object, key) == Some(0) {
        object.remove(key);
    }
}

fn objects(value: &Value) -> impl Iterator<Item = &Object> {
    value.as_array().into_iter().flatten().filter_map(Value::as_object)
}

fn each(value: &Value, convert: fn(&Object) -> Value) -> Vec<Value> {
    objects(value).map(convert).collect()
}

fn named<'a>(metric: &'a Object, source: &str) -> &'a str {
    child(metric, source).map(|source| text(source, "name")).unwrap_or_default()
}

fn cpu_target(metric: &Object) -> Option<i64> {
    let resource = child(metric, "resource").filter(|resource| text(resource, "name") == "cpu")?;
    (text(metric, "type") == "Resource").then_some(())?;
    integer(child(resource, "target")?, UTILIZATION)
}

fn condition_to_v1(condition: &Object) -> String {
    let mut out = Members::default();
    for key in ["type", "status"] {
        out.text(key, text(condition, key));
    }
    out.raw("lastTransitionTime", condition.get("lastTransitionTime").unwrap_or(&Value::Null).to_string());
    for key in ["reason", "message"] {
        if !text(condition, key).is_empty() {
            out.text(key, text(condition, key));
        }
    }
    out.finish()
}

/// The internal type is written as it is, with Go's names.
fn behavior_to_v1(behavior: &Object) -> String {
    let rules = |key: &str| {
        let Some(rules) = child(behavior, key) else { return "null".to_owned() };
        let raw = |key: &str| rules.get(key).unwrap_or(&Value::Null).to_string();
        let policies = rules.get("policies").and_then(Value::as_array).map(|policies| {
            let policies = policies.iter().filter_map(Value::as_object).map(|policy| {
                let mut out = Members::default();
                out.text("Type", text(policy, "type"));
                out.raw("Value", integer(policy, "value").unwrap_or_default().to_string());
                out.raw("PeriodSeconds", integer(policy, "periodSeconds").unwrap_or_default().to_string());
                out.finish()
            });
            format!("[{}]", policies.collect::<Vec<_>>().join(","))
        });
        let mut out = Members::default();
        out.raw("StabilizationWindowSeconds", raw("stabilizationWindowSeconds"));
        out.raw("SelectPolicy", raw("selectPolicy"));
        out.raw("Policies", policies.unwrap_or_else(|| "null".to_owned()));
        out.raw("Tolerance", raw("tolerance"));
        out.finish()
    };
    let mut out = Members::default();
    out.raw("ScaleUp", rules("scaleUp"));
    out.raw("ScaleDown", rules("scaleDown"));
    out.finish()
}

/// The names of `v2` begin in lower case; what is absent is left out.
fn lower_keys(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let lower = |key: &str| {
                let mut chars = key.chars();
                chars.next().map(|first| first.to_ascii_lowercase().to_string() + chars.as_str()).unwrap_or_default()
            };
            let known = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(key, value)| (lower(key), lower_keys(value))).collect())
        }
        Value::Array(items) => items.iter().map(lower_keys).collect(),
        other => other.clone(),
    }
}

fn note(annotations: &mut Object, name: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        annotations.insert(name.to_owned(), escaped(&format!("[{}]", items.join(","))).into());
    }
}

/// Go escapes what could be markup.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

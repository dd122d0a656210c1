//! Autoscalers of both versions.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::kinds::{Kind, kind};
use super::shape::{Any, count, list, merged, name, one_of, quantity, with};

/// The kinds of metrics and the members with their particulars.
const METRICS: [(&str, &str); 5] = [
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

pub(super) fn kinds() -> Vec<Kind> {
    let reference = || with(vec![("kind", one_of(&["Deployment", "Scale"])), ("name", name())]);
    let v1_spec = vec![
        ("scaleTargetRef", reference()),
        ("minReplicas", count()),
        ("maxReplicas", count()),
        ("targetCPUUtilizationPercentage", count()),
    ];
    let v1_status = vec![("currentReplicas", count()), ("currentCPUUtilizationPercentage", count())];
    let v2_spec = vec![
        ("scaleTargetRef", reference()),
        ("minReplicas", count()),
        ("maxReplicas", count()),
        ("metrics", list(v2_metric("target"))),
    ];
    let v2_status = vec![("currentReplicas", count()), ("currentMetrics", list(v2_metric("current")))];
    let v1 = kind(
        "autoscaling",
        "v1",
        "HorizontalPodAutoscaler",
        vec![("spec", with(v1_spec)), ("status", with(v1_status))],
    );
    vec![
        with_metrics_in_annotations(v1),
        kind(
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            vec![("spec", with(v2_spec)), ("status", with(v2_status))],
        ),
    ]
}

/// The particulars are always there, as validation has it.
fn v2_metric(side: &'static str) -> Any {
    let amounts = with(vec![("value", quantity()), ("averageValue", quantity()), ("averageUtilization", count())]);
    (select(&METRICS[..]), resource(), amounts)
        .prop_map(
            move |((name, member), resource, amounts)| json!({"type": name, member: {"name": resource, side: amounts}}),
        )
        .boxed()
}

fn resource() -> Any {
    one_of(&["cpu", "memory"])
}

fn v1_metric(side: &'static str) -> Any {
    let fields: &[&str] = match side {
        "target" => &["targetValue", "targetAverageValue", "averageValue"],
        _ => &["currentValue", "currentAverageValue", "averageValue"],
    };
    let utilization = if side == "target" { "targetAverageUtilization" } else { "currentAverageUtilization" };
    let mut amounts: Vec<(&'static str, Any)> = fields.iter().map(|field| (*field, quantity())).collect();
    amounts.push((utilization, count()));
    amounts.push(("name", resource()));
    (select(&METRICS[..]), with(amounts))
        .prop_map(|((name, member), particulars)| json!({"type": name, member: particulars}))
        .boxed()
}

fn with_metrics_in_annotations((group, version, kind, object): Kind) -> Kind {
    let metrics = |side| prop::option::of(list(v1_metric(side)));
    let object = (object, metrics("target"), metrics("current")).prop_map(|(mut object, targets, currents)| {
        let written = |metrics: Option<Value>| metrics.map(|metrics| metrics.to_string());
        let annotations = json!({
            "autoscaling.alpha.kubernetes.io/metrics": written(targets),
            "autoscaling.alpha.kubernetes.io/current-metrics": written(currents),
        });
        let metadata = object.remove("metadata").unwrap_or_else(|| json!({}));
        object.insert("metadata".into(), merged(metadata, json!({"annotations": without_nulls(annotations)})));
        object
    });
    (group, version, kind, object.boxed())
}

fn without_nulls(mut object: Value) -> Value {
    if let Some(object) = object.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    object
}

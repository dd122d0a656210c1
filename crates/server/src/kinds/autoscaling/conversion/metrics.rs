//! Metrics of an autoscaler in its two versions.

use serde_json::{Value, json};

use super::super::super::check::selector_json;
use super::super::super::read::{child, text};
use super::UTILIZATION;
use super::members::Members;
use crate::strategy::Object;

/// The names of a metric's amounts in `v1`: of targets, or of what is current.
struct Names {
    value: &'static str,
    average: &'static str,
    utilization: &'static str,
    group: &'static str,
}

const TARGET: Names = Names {
    value: "targetValue",
    average: "targetAverageValue",
    utilization: "targetAverageUtilization",
    group: "target",
};
const CURRENT: Names = Names {
    value: "currentValue",
    average: "currentAverageValue",
    utilization: "currentAverageUtilization",
    group: "current",
};

pub(super) fn metric_to_v2(metric: &Object) -> Value {
    source_to_v2(metric, &TARGET)
}

pub(super) fn status_to_v2(metric: &Object) -> Value {
    source_to_v2(metric, &CURRENT)
}

fn source_to_v2(metric: &Object, names: &Names) -> Value {
    let mut out = Object::new();
    out.insert("type".to_owned(), text(metric, "type").into());
    let is_target = names.group == "target";
    for source in ["object", "pods", "resource", "containerResource", "external"] {
        let Some(old) = child(metric, source) else { continue };
        let mut amount = Object::new();
        let average = if source == "object" { "averageValue" } else { names.average };
        let mut value = old.get(names.value).cloned();
        if source == "object" && is_target && old.contains_key("averageValue") && value == Some(json!("0")) {
            value = None;
        }
        let moved = [
            ("value", value),
            ("averageValue", old.get(average).cloned()),
            (UTILIZATION, old.get(names.utilization).cloned()),
        ];
        for (name, moved) in moved {
            if let Some(moved) = moved.filter(|moved| !moved.is_null()) {
                amount.insert(name.to_owned(), moved);
            }
        }
        if is_target {
            let kind = match source {
                "resource" | "containerResource" if amount.contains_key(UTILIZATION) => "Utilization",
                "object" if !amount.contains_key("averageValue") => "Value",
                "external" if amount.contains_key("value") => "Value",
                _ => "AverageValue",
            };
            amount.insert("type".to_owned(), kind.into());
        }
        let mut new = Object::new();
        match source {
            "resource" | "containerResource" => {
                new.insert("name".to_owned(), text(old, "name").into());
                if source == "containerResource" {
                    new.insert("container".to_owned(), text(old, "container").into());
                }
            }
            _ => {
                let mut identifier = Object::new();
                identifier.insert("name".to_owned(), text(old, "metricName").into());
                let selector = if source == "external" { "metricSelector" } else { "selector" };
                if let Some(selector) = child(old, selector) {
                    identifier.insert("selector".to_owned(), Value::Object(selector.clone()));
                }
                new.insert("metric".to_owned(), identifier.into());
                if source == "object" {
                    let target = child(old, "target").cloned().unwrap_or_default();
                    new.insert("describedObject".to_owned(), target.into());
                }
            }
        }
        new.insert(names.group.to_owned(), amount.into());
        out.insert(source.to_owned(), new.into());
    }
    out.into()
}

pub(super) fn metric_to_v1(metric: &Object) -> String {
    source_to_v1(metric, &TARGET)
}

pub(super) fn status_to_v1(metric: &Object) -> String {
    source_to_v1(metric, &CURRENT)
}

fn source_to_v1(metric: &Object, names: &Names) -> String {
    let mut out = Members::default();
    out.text("type", text(metric, "type"));
    let is_target = names.group == "target";
    for source in ["object", "pods", "resource", "containerResource", "external"] {
        let Some(new) = child(metric, source) else { continue };
        let empty = Object::new();
        let amount = child(new, names.group).unwrap_or(&empty);
        let identifier = child(new, "metric").unwrap_or(&empty);
        let amount_of = |key: &str| amount.get(key).filter(|amount| !amount.is_null());
        let or_zero = |key: &str| amount_of(key).map_or_else(|| "\"0\"".to_owned(), Value::to_string);
        let selector = child(identifier, "selector").map(|selector| selector_json(Some(selector)));
        let mut old = Members::default();
        match source {
            "object" => {
                let described = child(new, "describedObject").unwrap_or(&empty);
                let mut target = Members::default();
                target.text("kind", text(described, "kind"));
                target.text("name", text(described, "name"));
                if !text(described, "apiVersion").is_empty() {
                    target.text("apiVersion", text(described, "apiVersion"));
                }
                old.raw("target", target.finish());
                old.text("metricName", text(identifier, "name"));
                old.raw(names.value, or_zero("value"));
                old.maybe("selector", selector);
                old.maybe("averageValue", amount_of("averageValue").map(Value::to_string));
            }
            "pods" => {
                old.text("metricName", text(identifier, "name"));
                old.raw(names.average, or_zero("averageValue"));
                old.maybe("selector", selector);
            }
            "external" => {
                old.text("metricName", text(identifier, "name"));
                old.maybe("metricSelector", selector);
                if is_target {
                    old.maybe(names.value, amount_of("value").map(Value::to_string));
                } else {
                    old.raw(names.value, or_zero("value"));
                }
                old.maybe(names.average, amount_of("averageValue").map(Value::to_string));
            }
            _ => {
                old.text("name", text(new, "name"));
                old.maybe(names.utilization, amount_of(UTILIZATION).map(Value::to_string));
                if is_target {
                    old.maybe(names.average, amount_of("averageValue").map(Value::to_string));
                } else {
                    old.raw(names.average, or_zero("averageValue"));
                }
                if source == "containerResource" {
                    old.text("container", text(new, "container"));
                }
            }
        }
        out.raw(source, old.finish());
    }
    out.finish()
}

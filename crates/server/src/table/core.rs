//! Kinds with little to show: those of the core group, leases and priority classes.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shown::{Node, Shown};
use super::{labels, row, workload};

/// A kind that shows its age only.
pub(super) fn aged(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.age()]
}

/// A kind without a printer.
pub(super) fn plain(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.created()]
}

pub(super) fn namespace(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.status("phase").text(), shown.age()]
}

pub(super) fn secret(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.get("type").text(), shown.get("data").count(), shown.age()]
}

pub(super) fn config_map(shown: Shown<'_>) -> Vec<Value> {
    let count = shown.get("data").count().saturating_add(shown.get("binaryData").count());
    row![shown.name(), count, shown.age()]
}

pub(super) fn lease(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.spec("holderIdentity").text(), shown.age()]
}

pub(super) fn priority_class(shown: Shown<'_>) -> Vec<Value> {
    row![
        shown.name(),
        shown.get("value").int(),
        shown.get("globalDefault").flag(),
        shown.age(),
        shown.get("preemptionPolicy").text(),
    ]
}

pub(super) fn pod_template(shown: Shown<'_>) -> Vec<Value> {
    let template = shown.get("template");
    let (names, images) = workload::containers(template);
    row![shown.name(), names, images, labels::labels(template.get("metadata").get("labels"))]
}

pub(super) fn component_status(shown: Shown<'_>) -> Vec<Value> {
    let health = shown.get("conditions").condition("Healthy");
    let status = match (health.is_set(), health.holds()) {
        (false, _) => "Unknown",
        (true, true) => "Healthy",
        (true, false) => "Unhealthy",
    };
    row![shown.name(), status, health.get("message").text(), health.get("error").text()]
}

pub(super) fn resource_quota(shown: Shown<'_>) -> Vec<Value> {
    let used = shown.status("used");
    let hard: BTreeMap<&str, Node<'_>> = shown.status("hard").members().collect();
    let part = |limits: bool| {
        let of_part = hard.iter().filter(|(resource, _)| resource.starts_with("limits.") == limits);
        let texts = of_part
            .map(|(resource, hard)| format!("{resource}: {}/{}", used.get(resource).quantity(), hard.quantity()));
        texts.collect::<Vec<_>>().join(", ")
    };
    row![shown.name(), part(false), part(true), shown.age()]
}

pub(super) fn api_service(shown: Shown<'_>) -> Vec<Value> {
    let service = shown.spec("service");
    let service = if service.is_set() {
        format!("{}/{}", service.get("namespace").text(), service.get("name").text())
    } else {
        "Local".to_owned()
    };
    let condition = shown.status("conditions").condition("Available");
    let status = condition.get("status").text();
    let available = match condition.get("reason").text() {
        _ if !condition.is_set() => "Unknown".to_owned(),
        "" => status.to_owned(),
        _ if condition.holds() => status.to_owned(),
        reason => format!("{status} ({reason})"),
    };
    row![shown.name(), service, available, shown.age()]
}

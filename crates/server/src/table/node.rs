//! Nodes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::row;
use super::shown::{Shown, list_or_none};

pub(super) fn node(shown: Shown<'_>) -> Vec<Value> {
    let info = shown.status("nodeInfo");
    let mut kernel = info.get("kernelVersion").text_or("<unknown>").to_owned();
    let architecture = info.get("architecture").text();
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    row![
        shown.name(),
        status(shown),
        roles(shown),
        shown.age(),
        info.get("kubeletVersion").text(),
        address(shown, "InternalIP"),
        address(shown, "ExternalIP"),
        info.get("osImage").text_or("<unknown>"),
        kernel,
        info.get("containerRuntimeVersion").text_or("<unknown>"),
    ]
}

fn status(shown: Shown<'_>) -> String {
    let mut conditions = shown.status("conditions").items().rev();
    let status = match conditions.find(|condition| condition.get("type").text() == "Ready") {
        Some(ready) if ready.holds() => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    if shown.spec("unschedulable").flag() { format!("{status},SchedulingDisabled") } else { status.to_owned() }
}

fn roles(shown: Shown<'_>) -> String {
    let roles = shown.metadata("labels").members().filter_map(|(key, value)| match key {
        "kubernetes.io/role" => Some(value.text()),
        _ => key.strip_prefix("node-role.kubernetes.io/"),
    });
    list_or_none(roles.filter(|role| !role.is_empty()).collect::<BTreeSet<_>>())
}

/// The first address of this type.
fn address<'a>(shown: Shown<'a>, kind: &str) -> &'a str {
    shown.status("addresses").condition(kind).set().map_or("<none>", |address| address.get("address").text())
}

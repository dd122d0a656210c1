//! What the server sets in pods, and which fields it does not know unless somebody turns them on.

use serde_json::{Value, json};

use super::super::read::{absent, below, below_mut, child, integer, items, items_mut, known_mut, list, text, texts};
use super::resources::qos_class;
use crate::strategy::Object;

pub(in super::super) fn create(pod: &mut Object) {
    let Some(spec) = child(pod, "spec") else { return };
    // Kubernetes takes over a class that is already there, and nothing else of the status.
    let given = child(pod, "status").map(|status| text(status, "qosClass")).filter(|class| !class.is_empty());
    let mut status = json!({"phase": "Pending", "qosClass": given.unwrap_or_else(|| qos_class(spec))});
    if !list(spec, "schedulingGates").is_empty() {
        let created = child(pod, "metadata").and_then(|metadata| metadata.get("creationTimestamp"));
        let conditions = json!([{
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": created,
        }]);
        if let Some(status) = status.as_object_mut() {
            status.insert("conditions".to_owned(), conditions);
        }
    }
    pod.insert("status".to_owned(), status);
    let labels = below(pod, &["metadata", "labels"]).cloned().unwrap_or_default();
    let Some(spec) = known_mut(pod, "spec") else { return };
    drop_unknown(spec, None);
    select_own_labels(spec, &labels);
}

pub(in super::super) fn update(pod: &mut Object, old: &Object) {
    if let Some(spec) = known_mut(pod, "spec") {
        drop_unknown(spec, child(old, "spec"));
    }
}

pub(in super::super) fn update_status(pod: &mut Object, old: &Object) {
    let (Some(status), Some(old)) = (known_mut(pod, "status"), child(old, "status")) else { return };
    if text(status, "qosClass").is_empty() && !text(old, "qosClass").is_empty() {
        status.insert("qosClass".to_owned(), text(old, "qosClass").into());
    }
    drop_unknown_status(status, old);
    keep_generation(status, integer(old, "observedGeneration"));
    let seen = |condition: &Object| (text(condition, "type").to_owned(), integer(condition, "observedGeneration"));
    let mut before: Vec<_> = items(old, "conditions").map(seen).collect();
    for condition in items_mut(status, "conditions") {
        let known = before.iter().position(|(kind, _)| kind == text(condition, "type"));
        keep_generation(condition, known.and_then(|at| before.remove(at).1));
    }
}

/// The same as [`drop_unknown`] for the status.
fn drop_unknown_status(status: &mut Object, old: &Object) {
    if list(old, "nodeAllocatableResourceClaimStatuses").is_empty() {
        status.remove("nodeAllocatableResourceClaimStatuses");
    }
    let kinds = ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"];
    let known = |mount: &Object| !absent(mount, "volumeStatus");
    let mut containers = kinds.iter().flat_map(|kind| items(old, kind));
    if containers.any(|container| items(container, "volumeMounts").any(known)) {
        return;
    }
    for kind in kinds {
        for container in items_mut(status, kind) {
            items_mut(container, "volumeMounts").for_each(|mount| {
                mount.remove("volumeStatus");
            });
        }
    }
}

fn keep_generation(object: &mut Object, before: Option<i64>) {
    let zero = integer(object, "observedGeneration").unwrap_or_default() == 0;
    if let Some(before) = before.filter(|before| zero && *before != 0) {
        object.insert("observedGeneration".to_owned(), before.into());
    }
}

/// The template at this path of a controller.
pub(in super::super) fn template(object: &mut Object, path: &[&str], old: Option<&Object>) {
    let old = old.and_then(|old| below(old, path)).and_then(|template| child(template, "spec"));
    if let Some(spec) = below_mut(object, path).and_then(|template| known_mut(template, "spec")) {
        drop_unknown(spec, old);
    }
}

/// Drops the fields of features that are off by default, unless the old object has them.
fn drop_unknown(spec: &mut Object, old: Option<&Object>) {
    if old.is_none_or(|old| absent(old, "schedulingGroup")) {
        spec.remove("schedulingGroup");
    }
    for source in ["clusterTrustBundle", "podCertificate"] {
        let used = old.into_iter().flat_map(|old| items(old, "volumes")).any(|volume| {
            let projected = child(volume, "projected");
            projected.into_iter().flat_map(|volume| items(volume, "sources")).any(|known| !absent(known, source))
        });
        if used {
            continue;
        }
        for volume in items_mut(spec, "volumes") {
            let projected = known_mut(volume, "projected");
            for known in projected.into_iter().flat_map(|volume| items_mut(volume, "sources")) {
                known.remove(source);
            }
        }
    }
    drop_stop_signals(spec, old);
}

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

fn drop_stop_signals(spec: &mut Object, old: Option<&Object>) {
    let stops = |container: &Object| child(container, "lifecycle").is_some_and(|cycle| !absent(cycle, "stopSignal"));
    if old.is_some_and(|old| CONTAINERS.iter().any(|kind| items(old, kind).any(stops))) {
        return;
    }
    for kind in CONTAINERS {
        for container in items_mut(spec, kind) {
            let Some(cycle) = known_mut(container, "lifecycle") else { continue };
            if cycle.remove("stopSignal").is_some_and(|signal| !signal.is_null()) && cycle.is_empty() {
                container.remove("lifecycle");
            }
        }
    }
}

/// Terms that name labels by key get the pod's own values of them.
fn select_own_labels(spec: &mut Object, labels: &Object) {
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = below_mut(spec, &["affinity", affinity]) else { continue };
        for preferred in items_mut(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
            if let Some(term) = known_mut(preferred, "podAffinityTerm") {
                add_expressions(term, labels);
            }
        }
        for term in items_mut(affinity, "requiredDuringSchedulingIgnoredDuringExecution") {
            add_expressions(term, labels);
        }
    }
    for constraint in items_mut(spec, "topologySpreadConstraints") {
        constraint.remove("mismatchLabelKeys");
        add_expressions(constraint, labels);
    }
}

fn add_expressions(term: &mut Object, labels: &Object) {
    let mut added = Vec::new();
    for (keys, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        for key in texts(term, keys) {
            if let Some(value) = labels.get(key) {
                added.push(json!({"key": key, "operator": operator, "values": [value]}));
            }
        }
    }
    let Some(selector) = known_mut(term, "labelSelector").filter(|_| !added.is_empty()) else { return };
    let expressions = selector.entry("matchExpressions").or_insert(Value::Null);
    match expressions {
        Value::Array(known) => known.extend(added),
        other => *other = added.into(),
    }
}

//! Requests that follow from limits, of containers and of whole pods.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::quantity::Quantity;
use super::super::read::{child, child_mut, items, items_mut, known_mut, text};
use crate::strategy::Object;

/// Containers request what they are limited to, unless told otherwise.
pub(super) fn requests_from_limits(spec: &mut Object) {
    for kind in ["containers", "initContainers"] {
        for container in items_mut(spec, kind) {
            let Some(resources) = known_mut(container, "resources") else { continue };
            let Some(limits) = child(resources, "limits").filter(|limits| !limits.is_empty()).cloned() else {
                continue;
            };
            let Some(requests) = child_mut(resources, "requests") else { continue };
            for (name, amount) in limits {
                requests.entry(name).or_insert(amount);
            }
        }
    }
}

/// Requests and huge page limits of a pod that says anything about its resources as a whole.
pub(super) fn pod_level(spec: &mut Object) {
    if child(spec, "resources").is_none_or(|resources| is_empty(resources, "limits") && is_empty(resources, "requests"))
    {
        return;
    }
    let limits = aggregated(spec, "limits");
    let requests = aggregated(spec, "requests");
    let Some(resources) = known_mut(spec, "resources") else { return };
    let requested = child(resources, "requests").cloned().unwrap_or_default();
    for (name, amount) in limits.into_iter().filter(|(name, _)| name.starts_with("hugepages-")) {
        if requested.contains_key(&name) {
            continue;
        }
        if let Some(limits) = child_mut(resources, "limits") {
            limits.entry(name).or_insert_with(|| amount.to_string().into());
        }
    }
    let Some(limits) = child(resources, "limits").filter(|limits| !limits.is_empty()).cloned() else { return };
    let mut filled = requested;
    for (name, amount) in requests.into_iter().filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory")) {
        filled.entry(name).or_insert_with(|| amount.to_string().into());
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-") {
            filled.entry(name).or_insert(amount);
        }
    }
    if !filled.is_empty() {
        resources.insert("requests".to_owned(), Value::Object(filled));
    }
}

fn is_empty(object: &Object, key: &str) -> bool {
    child(object, key).is_none_or(Object::is_empty)
}

type Amounts = BTreeMap<String, Quantity>;

/// What the containers need at most at one time: all of them together, or one init container with the sidecars
/// before it.
pub(super) fn aggregated(spec: &Object, of: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in items(spec, "containers") {
        add(&mut total, &amounts(container, of));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in items(spec, "initContainers") {
        let mut now = amounts(container, of);
        if text(container, "restartPolicy") == "Always" {
            add(&mut total, &now);
            add(&mut sidecars, &now);
            now.clone_from(&sidecars);
        } else {
            add(&mut now, &sidecars);
        }
        raise(&mut most, &now);
    }
    raise(&mut total, &most);
    total
}

fn amounts(container: &Object, of: &str) -> Amounts {
    let amounts = child(container, "resources").and_then(|resources| child(resources, of));
    let read = |(name, value): (&String, &Value)| Some((name.clone(), Quantity::parse(value.as_str()?)?));
    amounts.into_iter().flatten().filter_map(read).collect()
}

fn add(to: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        to.entry(name.clone()).and_modify(|sum| *sum = sum.plus(*amount)).or_insert(*amount);
    }
}

fn raise(to: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        to.entry(name.clone())
            .and_modify(|most| {
                if amount.compare(*most).is_gt() {
                    *most = *amount;
                }
            })
            .or_insert(*amount);
    }
}

/// How the pod is treated when its node runs short.
pub(super) fn qos_class(spec: &Object) -> &'static str {
    let counted = |mut amounts: Amounts| {
        amounts.retain(|name, amount| matches!(name.as_str(), "cpu" | "memory") && amount.sign().is_gt());
        amounts
    };
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut guaranteed = true;
    let has_both = |limits: &Amounts| limits.contains_key("cpu") && limits.contains_key("memory");
    if child(spec, "resources").is_some() {
        requests = counted(amounts(spec, "requests"));
        limits = counted(amounts(spec, "limits"));
        let given = child(spec, "resources").is_some_and(|resources| !is_empty(resources, "limits"));
        guaranteed = !given || has_both(&limits);
    } else {
        for container in ["containers", "initContainers"].into_iter().flat_map(|kind| items(spec, kind)) {
            add(&mut requests, &counted(amounts(container, "requests")));
            let own = counted(amounts(container, "limits"));
            guaranteed &= has_both(&own);
            add(&mut limits, &own);
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let met =
        |(name, request): (&String, &Quantity)| limits.get(name).is_some_and(|limit| limit.compare(*request).is_eq());
    if guaranteed && requests.len() == limits.len() && requests.iter().all(met) { "Guaranteed" } else { "Burstable" }
}

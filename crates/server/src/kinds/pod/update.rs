//! What is wrong with a change of a pod, or with its status.

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, each, each_item, formed, internal_error, ip, json, parse_ip, required};
use super::super::internal;
use super::super::read::{below, child, integer, items, items_mut, list, text};
use super::super::semantic;
use super::containers::check_image;
use super::scheduling::check_tolerations;
use super::validate::check_pod;
use crate::facts::{Ty, type_of};
use crate::strategy::Object;

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
    set to 1 if it was previously negative)";

pub(in super::super) fn validate_update(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let (Some(new), Some(old)) = (child(pod, "spec"), child(old, "spec")) else { return errors };
    let at = Path::field("spec");
    check_pod(&mut errors, pod, at);
    for kind in ["containers", "initContainers"] {
        if list(new, kind).len() != list(old, kind).len() {
            // Kubernetes has found out by then that the others are not the same either.
            let why = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(at.child(kind), why));
            return errors;
        }
        for (i, container) in items(new, kind).enumerate() {
            let containers = at.child(kind);
            let at = containers.index(i);
            required(&mut errors, container, "image", at);
            check_image(&mut errors, container, at);
        }
    }
    if !check_deadline(&mut errors, new, old, at) {
        return errors;
    }
    check_added_tolerations(&mut errors, new, old, at);
    check_removed_gates(&mut errors, new, old, at);
    let mut wanted = new.clone();
    for key in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        match old.get(key) {
            Some(value) => wanted.insert(key.to_owned(), value.clone()),
            None => wanted.remove(key),
        };
    }
    for kind in ["containers", "initContainers"] {
        let images: Vec<Option<Value>> = items(old, kind).map(|container| container.get("image").cloned()).collect();
        for (container, image) in items_mut(&mut wanted, kind).zip(images) {
            container.insert("image".to_owned(), image.unwrap_or_default());
        }
    }
    if integer(old, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && integer(new, "terminationGracePeriodSeconds") == Some(1)
    {
        wanted.extend(
            old.get_key_value("terminationGracePeriodSeconds").map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    if !list(old, "schedulingGates").is_empty() {
        check_gated(&mut errors, &mut wanted, old, at);
    }
    let spec = type_of("", "v1", "PodSpec").or_else(|| match type_of("", "v1", "Pod")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    });
    let changed: Vec<&str> = spec
        .into_iter()
        .flat_map(crate::facts::Type::fields)
        .map(|field| field.name)
        .filter(|key| spec.is_some_and(|spec| !semantic::same_at(spec, &wanted, old, key)))
        .collect();
    if !changed.is_empty() {
        let shown = |spec: &Object, key: &str| spec.get(key).unwrap_or(&Value::Null).to_string();
        let lines = changed.iter().map(|key| format!("-{key}: {}\n+{key}: {}\n", shown(old, key), shown(&wanted, key)));
        let why = format!("pod updates may not change fields other than {UPDATABLE}\n{}", lines.collect::<String>());
        errors.push(FieldError::forbidden(at, why));
    }
    errors
}

/// How long a pod may run can only become shorter. Whether it makes sense to look further.
fn check_deadline(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) -> bool {
    let at = at.child("activeDeadlineSeconds");
    let before = integer(old, "activeDeadlineSeconds");
    match integer(new, "activeDeadlineSeconds") {
        Some(now) if !(0..=i64::from(i32::MAX)).contains(&now) => {
            errors.push(FieldError::invalid(at, json(now), "must be between 0 and 2147483647, inclusive"));
            return false;
        }
        Some(now) if before.is_some_and(|before| before < now) => {
            errors.push(FieldError::invalid(at, json(now), "must be less than or equal to previous value"));
            return false;
        }
        None if before.is_some() => {
            let why = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(at, BadValue::null(), why));
        }
        _ => {}
    }
    true
}

fn check_added_tolerations(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let key = |toleration: &Object| ["key", "operator", "value", "effect"].map(|key| text(toleration, key).to_owned());
    let kept = |old: &Object| items(new, "tolerations").any(|new| key(new) == key(old));
    if items(old, "tolerations").all(kept) {
        check_tolerations(errors, new, at);
    } else {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden(at.child("tolerations"), why));
    }
}

fn check_removed_gates(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let known = |gate: &str| items(old, "schedulingGates").any(|old| text(old, "name") == gate);
    each_item(new, "schedulingGates", at, |gate, at| {
        let gate = text(gate, "name");
        if !known(gate) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{gate}'");
            errors.push(FieldError::forbidden(at.child("name"), why));
        }
    });
}

/// A pod that is not to be scheduled yet may still become more choosy about nodes.
fn check_gated(errors: &mut Errors, wanted: &mut Object, old: &Object, at: Path<'_>) {
    let labels = |spec: &Object| child(spec, "nodeSelector").cloned().unwrap_or_default();
    let (now, before) = (labels(wanted), labels(old));
    if now != before {
        let kept = before.iter().all(|(key, value)| now.get(key) == Some(value));
        if !kept {
            let shown = json(Value::Object(now));
            let why = "only additions are allowed (no mutations or deletions)";
            errors.push(FieldError::invalid(at.child("nodeSelector"), shown, why));
        }
        match old.get("nodeSelector") {
            Some(value) => wanted.insert("nodeSelector".to_owned(), value.clone()),
            None => wanted.remove("nodeSelector"),
        };
    }
}

pub(in super::super) fn validate_status(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (Some(status), old_status) = (child(pod, "status"), child(old, "status").unwrap_or(&empty)) else {
        return errors;
    };
    let at = Path::field("status");
    each_item(status, "conditions", at, |condition, at| {
        not_negative(&mut errors, condition, at);
        let kind = text(condition, "type");
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            each(&mut errors, at.child("Type"), kind, names::label_key(kind));
        }
    });
    let nominated = text(status, "nominatedNodeName");
    if !nominated.is_empty() && nominated != text(old_status, "nominatedNodeName") {
        each(&mut errors, at.child("nominatedNodeName"), nominated, names::dns_subdomain(nominated));
        if below(old, &["spec"]).is_some_and(|spec| !text(spec, "nodeName").is_empty()) {
            let why = "may not be set on pods that are already bound to a node";
            errors.push(FieldError::forbidden(at.child("nominatedNodeName"), why));
        }
    }
    not_negative(&mut errors, status, at);
    if text(status, "qosClass") != text(old_status, "qosClass") {
        let shown = BadValue::typed_text(text(status, "qosClass"));
        errors.push(FieldError::invalid(at.child("qosClass"), shown, IMMUTABLE));
    }
    let claims: Vec<&str> = child(pod, "spec")
        .into_iter()
        .flat_map(|spec| items(spec, "resourceClaims"))
        .map(|claim| text(claim, "name"))
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    each_item(status, "resourceClaimStatuses", at, |claim, at| {
        let name = text(claim, "name");
        if !claims.contains(&name) {
            let why = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(FieldError::invalid(at.child("name"), name, why));
        }
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
        formed(&mut errors, claim, "resourceClaimName", at, names::dns_subdomain);
    });
    check_ips(&mut errors, status, old_status, "podIPs", at);
    if let Some(first) = items(status, "hostIPs").next().map(|ip| text(ip, "ip"))
        && first != text(status, "hostIP")
    {
        let list = at.child("hostIPs");
        let first_at = list.index(0);
        errors.push(FieldError::invalid(first_at.child("ip"), first, "must be equal to `hostIP`"));
    }
    check_ips(&mut errors, status, old_status, "hostIPs", at);
    errors
}

fn not_negative(errors: &mut Errors, object: &Object, at: Path<'_>) {
    if let Some(generation) = integer(object, "observedGeneration").filter(|generation| *generation < 0) {
        let why = "must be a non-negative integer";
        errors.push(FieldError::invalid(at.child("observedGeneration"), json(generation), why));
    }
}

/// One address for each family at most.
fn check_ips(errors: &mut Errors, status: &Object, old: &Object, key: &str, at: Path<'_>) {
    let known: Vec<Value> = items(old, key).filter_map(|ip| ip.get("ip").cloned()).collect();
    let list_at = at.child(key);
    each_item(status, key, at, |address, at| {
        ip(errors, text(address, "ip"), at, &known);
    });
    let count = list(status, key).len();
    let families: Vec<bool> =
        items(status, key).filter_map(|ip| parse_ip(text(ip, "ip"))).map(|ip| ip.is_ipv6()).collect();
    if count < 2 {
        return;
    }
    let bad = |(_, ip): &(usize, &Object)| parse_ip(text(ip, "ip")).is_none();
    let bad = items(status, key).enumerate().find(bad);
    if let Some((i, ip)) = bad {
        let why = format!("failed to check for dual stack with error:invalid IP[{i}]: {}", text(ip, "ip"));
        errors.push(internal_error(list_at, why));
    }
    if bad.is_some() || count > 2 || families.iter().all(|v6| *v6) || !families.contains(&true) {
        let one = |address: &Value| internal::shown("", "Pod", &["status", key], Some(address));
        let all: Vec<String> = list(status, key).iter().map(one).collect();
        let why = "may specify no more than one IP for each IP family";
        errors.push(FieldError::invalid(list_at, json(format!("[{}]", all.join(","))), why));
    }
}

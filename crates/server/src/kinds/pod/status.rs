//! What is wrong with the status of a pod.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, each, each_item, formed, internal_error, ip, json, parse_ip};
use super::super::internal;
use super::super::read::{below, child, integer, items, list, text};
use crate::strategy::Object;

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
    let mut seen = BTreeSet::new();
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

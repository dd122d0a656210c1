//! What is wrong with the addresses of a service.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, each_text, endpoint_ip, json, parse_ip, supported};
use super::super::read::{list, text, texts};
use super::validate::is_headless;
use crate::strategy::Object;

pub(super) fn check_addresses(errors: &mut Errors, spec: &Object, old: Option<&Object>, at: Path<'_>) {
    let (ip, ips) = (text(spec, "clusterIP"), list(spec, "clusterIPs"));
    let shown = || json(Value::from(ips.to_vec()));
    match (ip, ips.first()) {
        ("", None) => {}
        ("", Some(_)) => errors.push(FieldError::invalid(
            at.child("clusterIPs"),
            shown(),
            "must be empty when `clusterIP` is not specified",
        )),
        (_, None) => errors.push(FieldError::required(at.child("clusterIPs"), "")),
        (ip, Some(first)) if first.as_str() != Some(ip) => {
            errors.push(FieldError::invalid(at.child("clusterIPs"), shown(), "first value must match `clusterIP`"));
        }
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for (i, family) in texts(spec, "ipFamilies").enumerate() {
        supported(errors, family, at.child("ipFamilies").index(i), &["IPv4", "IPv6"]);
        if !seen.insert(family) {
            errors.push(FieldError::duplicate(at.child("ipFamilies").index(i), BadValue::typed_text(family)));
        }
    }
    if let Some(policy) = spec.get("ipFamilyPolicy").and_then(Value::as_str) {
        supported(errors, policy, at.child("ipFamilyPolicy"), &["PreferDualStack", "RequireDualStack", "SingleStack"]);
    }
    let at = at.child("clusterIPs");
    let mut good = true;
    for (i, text) in texts(spec, "clusterIPs").enumerate() {
        if (i, text) == (0, "None") {
            if ips.len() > 1 {
                good = false;
                errors.push(FieldError::invalid(at, shown(), "'None' must be the first and only value"));
            }
            continue;
        }
        let known = old.map(|old| list(old, "clusterIPs")).unwrap_or_default();
        good &= super::super::check::ip(errors, text, at.index(i), known);
    }
    if ips.len() > 2 {
        errors.push(FieldError::invalid(at, shown(), "may only hold up to 2 values"));
    }
    if !good {
        return;
    }
    let is_v6: Vec<bool> = texts(spec, "clusterIPs").filter_map(parse_ip).map(|ip| ip.is_ipv6()).collect();
    if ips.len() > 1 && (is_v6.iter().all(|v6| *v6) || !is_v6.contains(&true)) {
        errors.push(FieldError::invalid(at, shown(), "may specify no more than one IP for each IP family"));
    }
    if is_headless(spec) {
        return;
    }
    for (i, ((ip, v6), family)) in texts(spec, "clusterIPs").zip(is_v6).zip(texts(spec, "ipFamilies")).enumerate() {
        let wanted = match family {
            "IPv4" if v6 => family,
            "IPv6" if !v6 => family,
            _ => continue,
        };
        let why = format!("expected an {wanted} value as indicated by `ipFamilies[{i}]`");
        errors.push(FieldError::invalid(at.index(i), ip, why));
    }
}

/// Addresses that lead to the service from outside.
pub(super) fn check_external_ips(errors: &mut Errors, spec: &Object, old: Option<&Object>, at: Path<'_>) {
    let known = old.map(|old| list(old, "externalIPs")).unwrap_or_default();
    each_text(spec, "externalIPs", at, |address, at| {
        if super::super::check::ip(errors, address, at, known) {
            endpoint_ip(errors, address, at);
        }
    });
}

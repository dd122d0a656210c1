//! What is wrong with a change of a service, or with its status.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, balancer_host, each_item, ip, json, list_json, supported_if};
use super::super::networking::ingress::balancer_ips;
use super::super::read::{absent, below, child, integer, list, text};
use super::validate::{balances, check, check_class, is_headless};
use crate::strategy::Object;

pub(in super::super) fn validate_update(service: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let (Some(new), Some(old)) = (child(service, "spec"), child(old, "spec")) else { return errors };
    let at = Path::field("spec");
    let external = |spec: &Object| text(spec, "type") == "ExternalName";
    let (ips, old_ips) = (list(new, "clusterIPs"), list(old, "clusterIPs"));
    let exempt = external(new) || external(old) || (is_headless(new) && is_headless(old));
    if !exempt {
        let spec = at;
        let at = at.child("clusterIPs");
        let shown = || if ips.is_empty() { BadValue::null() } else { json(Value::from(ips.to_vec())) };
        if ips.is_empty() && !old_ips.is_empty() {
            errors.push(FieldError::invalid(at.index(0), shown(), "primary clusterIP can not be unset"));
        }
        for (i, (ip, old)) in ips.iter().zip(old_ips).enumerate() {
            if ip != old && (i == 0 || ips.len() == old_ips.len()) {
                errors.push(FieldError::invalid(at.index(i), shown(), "may not change once set"));
            }
        }
        if ips.len() == 1 && old_ips.len() > 1 && text(new, "ipFamilyPolicy") != "SingleStack" {
            let shown = new.get("ipFamilyPolicy").filter(|policy| !policy.is_null()).map_or_else(BadValue::null, json);
            let why = "must be set to 'SingleStack' when releasing the secondary clusterIP";
            errors.push(FieldError::invalid(spec.child("ipFamilyPolicy"), shown, why));
        }
    }
    check_families(&mut errors, new, old, at);
    if balances(new) && balances(old) {
        let class = |spec: &Object| spec.get("loadBalancerClass").filter(|class| !class.is_null()).cloned();
        if class(new) != class(old) {
            let shown = class(new).map_or_else(BadValue::null, json);
            errors.push(FieldError::invalid(at.child("loadBalancerClass"), shown, "may not change once set"));
        }
    }
    check_class(&mut errors, new, at);
    let checked = |spec: &Object| balances(spec) && text(spec, "externalTrafficPolicy") == "Local";
    let health = |spec: &Object| integer(spec, "healthCheckNodePort").unwrap_or_default();
    if checked(new) && checked(old) && health(new) != health(old) {
        errors.push(FieldError::forbidden(at.child("healthCheckNodePort"), "field is immutable"));
    }
    check(&mut errors, new, Some(old), at);
    errors
}

/// The first family of addresses stays.
fn check_families(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let external = |spec: &Object| text(spec, "type") == "ExternalName";
    if external(new) || external(old) || is_headless(new) || is_headless(old) {
        return;
    }
    let (families, before) = (list(new, "ipFamilies"), list(old, "ipFamilies"));
    let at_first = at.child("ipFamilies");
    let mut fault = |shown: BadValue, why: &str| errors.push(FieldError::invalid(at_first.index(0), shown, why));
    let moved = families.first().zip(before.first()).is_some_and(|(new, old)| new != old);
    if families.len() == before.len() {
        for _ in families.iter().zip(before).filter(|(new, old)| new != old) {
            fault(list_json(new, "ipFamilies"), "may not change once set");
        }
        return;
    }
    if families.len() < before.len() && list(new, "clusterIPs").is_empty() {
        fault(list_json(new, "ipFamilies"), "primary ipFamily can not be unset");
    }
    if moved {
        fault(list_json(new, "clusterIPs"), "may not change once set");
    }
    if families.len() == 1 && before.len() > 1 && text(new, "ipFamilyPolicy") != "SingleStack" {
        let shown = new.get("ipFamilyPolicy").filter(|policy| !policy.is_null()).map_or_else(BadValue::null, json);
        let why = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        errors.push(FieldError::invalid(at.child("ipFamilyPolicy"), shown, why));
    }
}

pub(in super::super) fn validate_status(service: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let status = Path::field("status");
    let at = status.child("loadBalancer");
    let Some(balancer) = below(service, &["status", "loadBalancer"]) else { return errors };
    if !child(service, "spec").is_some_and(balances) {
        if !list(balancer, "ingress").is_empty() {
            let why = "may only be used when `spec.type` is 'LoadBalancer'";
            errors.push(FieldError::forbidden(at.child("ingress"), why));
        }
        return errors;
    }
    let known = balancer_ips(old);
    each_item(balancer, "ingress", at, |ingress, at| {
        let address = text(ingress, "ip");
        if !address.is_empty() {
            ip(&mut errors, address, at.child("ip"), &known);
        }
        match (absent(ingress, "ipMode"), address.is_empty()) {
            (true, false) => {
                errors.push(FieldError::required(at.child("ipMode"), "must be specified when `ip` is set"));
            }
            (false, true) => {
                errors.push(FieldError::forbidden(at.child("ipMode"), "may not be specified when `ip` is not set"));
            }
            _ => supported_if(&mut errors, ingress, "ipMode", at, &["Proxy", "VIP"]),
        }
        balancer_host(&mut errors, text(ingress, "hostname"), at.child("hostname"));
    });
    errors
}

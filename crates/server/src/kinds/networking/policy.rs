//! What is wrong with a network policy.

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, Range, cidr, each, each_text, json, port_name, port_number, selector, supported};
use super::super::read::{absent, child, integer, items, list, text, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn network_policy(object: &Object) -> Errors {
    check_policy(object, &[])
}

fn check_policy(object: &Object, known: &[Value]) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    selector(&mut errors, spec, "podSelector", SPEC);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let at = SPEC.child(rules);
        for (i, rule) in items(spec, rules).enumerate() {
            let at = at.index(i);
            let ports = at.child("ports");
            for (j, port) in items(rule, "ports").enumerate() {
                check_policy_port(&mut errors, port, ports.index(j));
            }
            let peers_at = at.child(peers);
            for (j, peer) in items(rule, peers).enumerate() {
                check_peer(&mut errors, peer, known, peers_at.index(j));
            }
        }
    }
    let types = SPEC.child("policyTypes");
    if list(spec, "policyTypes").len() > 2 {
        let shown = json(Value::from(list(spec, "policyTypes").to_vec()));
        errors.push(FieldError::invalid(types, shown, "may not specify more than two policyTypes"));
        return errors;
    }
    for (i, kind) in texts(spec, "policyTypes").enumerate() {
        supported(&mut errors, kind, types.index(i), &["Ingress", "Egress"]);
    }
    errors
}

/// Ranges that were accepted before may stay.
pub(in super::super) fn network_policy_update(object: &Object, old: &Object) -> Errors {
    let mut known = Vec::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let rules = child(old, "spec").into_iter().flat_map(|spec| items(spec, rules));
        for block in rules.flat_map(|rule| items(rule, peers)).filter_map(|peer| child(peer, "ipBlock")) {
            known.extend(block.get("cidr").cloned());
            known.extend(list(block, "except").iter().cloned());
        }
    }
    check_policy(object, &known)
}

fn check_policy_port(errors: &mut Errors, object: &Object, at: Path<'_>) {
    if let Some(protocol) = object.get("protocol").and_then(Value::as_str) {
        supported(errors, protocol, at.child("protocol"), &["TCP", "UDP", "SCTP"]);
    }
    let end = integer(object, "endPort");
    let invalid_end = |end: i64, why: &str| FieldError::invalid(at.child("endPort"), json(end), why);
    match object.get("port") {
        Some(Value::String(name)) => {
            errors.extend(end.map(|end| invalid_end(end, "may not be specified when `port` is non-numeric")));
            each(errors, at.child("port"), name, port_name(name));
        }
        Some(Value::Number(number)) => {
            let number = number.as_i64().unwrap_or_default();
            port_number(errors, number, at.child("port"));
            if let Some(end) = end {
                if end < number {
                    errors.push(invalid_end(number, "must be greater than or equal to `port`"));
                }
                port_number(errors, end, at.child("endPort"));
            }
        }
        _ => errors.extend(end.map(|end| invalid_end(end, "may not be specified when `port` is not specified"))),
    }
}

fn check_peer(errors: &mut Errors, peer: &Object, known: &[Value], at: Path<'_>) {
    let count = ["podSelector", "namespaceSelector", "ipBlock"].into_iter().filter(|key| !absent(peer, key)).count();
    selector(errors, peer, "podSelector", at);
    selector(errors, peer, "namespaceSelector", at);
    if let Some(block) = child(peer, "ipBlock") {
        check_block(errors, block, known, at.child("ipBlock"));
    }
    if count == 0 {
        errors.push(FieldError::required(at, "must specify a peer"));
    } else if count > 1 && !absent(peer, "ipBlock") {
        errors.push(FieldError::forbidden(at, "may not specify both ipBlock and another peer"));
    }
}

fn check_block(errors: &mut Errors, block: &Object, known: &[Value], at: Path<'_>) {
    let whole = text(block, "cidr");
    if whole.is_empty() {
        errors.push(FieldError::required(at.child("cidr"), ""));
        return;
    }
    cidr(errors, whole, at.child("cidr"), known);
    let Some(whole) = Range::parse(whole) else { return };
    each_text(block, "except", at, |text, at| {
        cidr(errors, text, at, known);
        if let Some(part) = Range::parse(text)
            && (!whole.contains(part) || whole.length >= part.length)
        {
            errors.push(FieldError::invalid(at, text, "must be a strict subset of `cidr`"));
        }
    });
}

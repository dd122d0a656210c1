//! What is wrong with endpoints and slices of them.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, labels, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, canonical_ip, each, each_item, each_text, endpoint_ip, formed, ip, name, named, one_of,
    parse_ip, port_number, read_labels, supported, too_many,
};
use super::super::read::{child, integer, list, text};
use crate::strategy::Object;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

pub(in super::super) fn endpoints(object: &Object) -> Errors {
    let mut errors = Errors::new();
    each_item(object, "subsets", Path::Root, |subset, at| {
        if list(subset, "addresses").is_empty() && list(subset, "notReadyAddresses").is_empty() {
            errors.push(FieldError::required(at, "must specify `addresses` or `notReadyAddresses`"));
        }
        for key in ["addresses", "notReadyAddresses"] {
            each_item(subset, key, at, |address, at| {
                ip(&mut errors, text(address, "ip"), at.child("ip"), &[]);
                name(&mut errors, address, "hostname", at, names::dns_label);
                formed(&mut errors, address, "nodeName", at, names::dns_subdomain);
                endpoint_ip(&mut errors, text(address, "ip"), at.child("ip"));
            });
        }
        let several = list(subset, "ports").len() > 1;
        each_item(subset, "ports", at, |port, at| {
            let check = if several { named } else { name };
            check(&mut errors, port, "name", at, names::dns_label);
            port_number(&mut errors, integer(port, "port").unwrap_or_default(), at.child("port"));
            one_of(&mut errors, port, "protocol", at, &PROTOCOLS);
            formed(&mut errors, port, "appProtocol", at, names::label_key);
        });
    });
    errors
}

/// What was accepted once may stay.
pub(in super::super) fn endpoints_update(object: &Object, old: &Object) -> Errors {
    if list(object, "subsets") == list(old, "subsets") { Errors::new() } else { endpoints(object) }
}

pub(in super::super) fn slice(object: &Object) -> Errors {
    check_slice(object, None)
}

pub(in super::super) fn slice_update(object: &Object, old: &Object) -> Errors {
    let mut errors = check_slice(object, Some(old));
    let kind = text(object, "addressType");
    if kind != text(old, "addressType") {
        let at = Path::field("addressType");
        errors.push(FieldError::invalid(at, BadValue::typed_text(kind), IMMUTABLE));
    }
    errors
}

fn check_slice(object: &Object, old: Option<&Object>) -> Errors {
    const MOST_PORTS: usize = 20_000;
    const MOST: usize = 1000;
    let mut errors = Errors::new();
    one_of(&mut errors, object, "addressType", Path::Root, &["FQDN", "IPv4", "IPv6"]);
    if list(object, "ports").len() > MOST_PORTS {
        errors.push(too_many(Path::field("ports"), list(object, "ports").len(), MOST_PORTS));
    } else {
        check_ports(&mut errors, object);
    }
    if old.is_some_and(|old| list(old, "endpoints") == list(object, "endpoints")) {
        return errors;
    }
    if list(object, "endpoints").len() > MOST {
        errors.push(too_many(Path::field("endpoints"), list(object, "endpoints").len(), MOST));
        return errors;
    }
    let kind = text(object, "addressType");
    each_item(object, "endpoints", Path::Root, |endpoint, at| check_endpoint(&mut errors, endpoint, kind, at));
    errors
}

fn check_ports(errors: &mut Errors, object: &Object) {
    let mut seen = BTreeSet::new();
    each_item(object, "ports", Path::Root, |port, at| {
        name(errors, port, "name", at, names::dns_label);
        let name = text(port, "name");
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
        match port.get("protocol").and_then(Value::as_str) {
            None => errors.push(FieldError::required(at.child("protocol"), "")),
            Some(protocol) => supported(errors, protocol, at.child("protocol"), &PROTOCOLS),
        }
        formed(errors, port, "appProtocol", at, names::label_key);
    });
}

fn check_endpoint(errors: &mut Errors, endpoint: &Object, kind: &str, at: Path<'_>) {
    const MOST_ADDRESSES: usize = 100;
    const MOST_LABELS: usize = 16;
    let addresses = at.child("addresses");
    match list(endpoint, "addresses").len() {
        0 => errors.push(FieldError::required(addresses, "must contain at least 1 address")),
        count if count > MOST_ADDRESSES => errors.push(too_many(addresses, count, MOST_ADDRESSES)),
        _ => {}
    }
    each_text(endpoint, "addresses", at, |address, at| match kind {
        "IPv4" | "IPv6" => {
            let v6 = kind == "IPv6";
            let good = if v6 { canonical_ip(errors, address, at) } else { ip(errors, address, at, &[]) };
            if good {
                if parse_ip(address).is_some_and(|ip| ip.is_ipv6() != v6) {
                    errors.push(FieldError::invalid(addresses, address, format!("must be an {kind} address")));
                }
                endpoint_ip(errors, address, at);
            }
        }
        "FQDN" => check_domain(errors, address, at),
        _ => {}
    });
    formed(errors, endpoint, "nodeName", at, names::dns_subdomain);
    let topology = at.child("deprecatedTopology");
    let map = child(endpoint, "deprecatedTopology");
    if let Some(count) = map.map(Object::len).filter(|count| *count > MOST_LABELS) {
        errors.push(too_many(topology, count, MOST_LABELS));
    }
    errors.extend(labels(&read_labels(map), topology));
    formed(errors, endpoint, "hostname", at, names::dns_label);
    if let Some(hints) = child(endpoint, "hints") {
        check_hints(errors, hints, at.child("hints"));
    }
}

fn check_domain(errors: &mut Errors, address: &str, at: Path<'_>) {
    let domain = address.strip_suffix('.').unwrap_or(address);
    let faults = names::dns_subdomain(domain);
    if address.is_empty() {
        errors.push(FieldError::required(at, ""));
    } else if !faults.is_empty() {
        errors.push(FieldError::invalid(at, domain, faults.join(",")));
    } else if !domain.contains('.') {
        let why = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(at, domain, why));
    } else if let Some(label) = domain.split('.').find(|label| !names::dns_label(label).is_empty()) {
        errors.push(FieldError::invalid(at, label, names::dns_label(label).join(",")));
    }
}

fn check_hints(errors: &mut Errors, hints: &Object, at: Path<'_>) {
    const MOST_HINTS: usize = 8;
    for (key, form) in [("forZones", names::label_value as fn(&str) -> Vec<String>), ("forNodes", names::dns_subdomain)]
    {
        let count = list(hints, key).len();
        if count > MOST_HINTS {
            errors.push(too_many(at.child(key), count, MOST_HINTS));
            return;
        }
        let mut seen = BTreeSet::new();
        each_item(hints, key, at, |hint, at| {
            let name = text(hint, "name");
            if !seen.insert(name) {
                errors.push(FieldError::duplicate(at.child("name"), name));
            }
            each(errors, at.child("name"), name, form(name));
        });
    }
}

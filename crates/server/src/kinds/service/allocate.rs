//! What a server with one IPv4 range gives to services: addresses, families and ports on nodes.

use rolewright_core::validate::{FieldError, Path};
use serde_json::json;

use super::super::read::{absent, child, fill, integer, items, items_mut, known_mut, list, text};
use crate::strategy::Object;

/// Fills in what a new service needs, or an updated one that has kept what it had; after its defaults, before it is
/// judged. `next_ip` and `next_port` hand out what is free. The errors are about families that there are none of.
pub fn allocate(
    service: &mut Object,
    mut next_ip: impl FnMut() -> String,
    mut next_port: impl FnMut() -> i64,
) -> Vec<FieldError> {
    let Some(spec) = known_mut(service, "spec") else { return Vec::new() };
    let kind = text(spec, "type").to_owned();
    if kind == "ExternalName" {
        return Vec::new();
    }
    if !text(spec, "clusterIP").is_empty() && list(spec, "clusterIPs").is_empty() {
        let ip = text(spec, "clusterIP").to_owned();
        spec.insert("clusterIPs".to_owned(), vec![ip].into());
    }
    let headless = text(spec, "clusterIP") == "None";
    let selects = child(spec, "selector").is_some_and(|selector| !selector.is_empty());
    fill(spec, "ipFamilyPolicy", if headless && !selects { "RequireDualStack" } else { "SingleStack" });
    if !headless || selects {
        let errors = missing_families(spec);
        if !errors.is_empty() {
            return errors;
        }
    }
    if list(spec, "ipFamilies").is_empty() {
        let both = headless && !selects && text(spec, "ipFamilyPolicy") != "SingleStack";
        spec.insert("ipFamilies".to_owned(), if both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) });
    }
    if text(spec, "clusterIP").is_empty() {
        let ip = next_ip();
        spec.insert("clusterIPs".to_owned(), vec![ip.clone()].into());
        spec.insert("clusterIP".to_owned(), ip.into());
    }
    let balanced = kind == "LoadBalancer";
    let skips_ports = spec.get("allocateLoadBalancerNodePorts") == Some(&json!(false));
    if kind == "NodePort" || (balanced && !skips_ports) {
        allocate_ports(spec, &mut next_port);
    }
    let local = text(spec, "externalTrafficPolicy") == "Local";
    if balanced && local && integer(spec, "healthCheckNodePort").unwrap_or_default() == 0 {
        spec.insert("healthCheckNodePort".to_owned(), next_port().into());
    }
    Vec::new()
}

/// What a service wants of families that are not there.
fn missing_families(spec: &Object) -> Vec<FieldError> {
    let at = Path::field("spec");
    let mut errors = Vec::new();
    let policy = text(spec, "ipFamilyPolicy");
    if policy == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(at.child("ipFamilyPolicy"), policy, why));
    }
    for (place, family) in list(spec, "ipFamilies").iter().enumerate() {
        let family = family.as_str().unwrap_or_default();
        if family != "IPv4" {
            let at = at.child("ipFamilies");
            errors.push(FieldError::invalid(at.index(place), family, "not configured on this cluster"));
        }
    }
    errors
}

/// The same port with another protocol has the same port on nodes.
fn allocate_ports(spec: &mut Object, next_port: &mut impl FnMut() -> i64) {
    let mut given: Vec<(i64, String, i64)> = Vec::new();
    for port in items_mut(spec, "ports") {
        let (number, protocol) = (integer(port, "port").unwrap_or_default(), text(port, "protocol").to_owned());
        let mut node_port = integer(port, "nodePort").unwrap_or_default();
        if node_port == 0 {
            let shared = given.iter().find(|(known, _, _)| *known == number).map(|(_, _, shared)| *shared);
            let taken = |shared: &i64| given.iter().any(|(_, used, at)| at == shared && *used == protocol);
            node_port = shared.filter(|shared| !taken(shared)).unwrap_or_else(&mut *next_port);
            port.insert("nodePort".to_owned(), node_port.into());
        }
        given.push((number, protocol, node_port));
    }
}

/// Takes over what `old` was given and a client left out; before [`allocate`] on updates.
pub fn keep_allocated(service: &mut Object, old: &Object) {
    let (Some(new), Some(old)) = (known_mut(service, "spec"), child(old, "spec")) else { return };
    let both = |new: &Object, has: fn(&Object) -> bool| has(new) && has(old);
    if both(new, |spec| text(spec, "type") != "ExternalName") {
        let given = text(new, "clusterIP").to_owned();
        if given.is_empty() && !text(old, "clusterIP").is_empty() {
            new.insert("clusterIP".to_owned(), text(old, "clusterIP").into());
        }
        let changed = text(new, "clusterIP") != text(old, "clusterIP");
        if list(new, "clusterIPs").is_empty() || (changed && list(new, "clusterIPs") == list(old, "clusterIPs")) {
            let ips = if changed { json!([text(new, "clusterIP")]) } else { list(old, "clusterIPs").to_vec().into() };
            new.insert("clusterIPs".to_owned(), ips);
        }
        if absent(new, "ipFamilyPolicy")
            && let Some(policy) = old.get("ipFamilyPolicy")
        {
            new.insert("ipFamilyPolicy".to_owned(), policy.clone());
        }
    }
    if both(new, |spec| matches!(text(spec, "type"), "NodePort" | "LoadBalancer")) {
        let ports =
            |spec: &Object| items(spec, "ports").filter_map(|port| integer(port, "nodePort")).collect::<Vec<_>>();
        let (used, known) = (ports(new), ports(old));
        for port in items_mut(new, "ports").filter(|port| integer(port, "nodePort").unwrap_or_default() == 0) {
            let before = items(old, "ports").filter(|known| text(known, "name") == text(port, "name")).last();
            let before = before.and_then(|port| integer(port, "nodePort")).filter(|port| *port != 0);
            if let Some(before) = before.filter(|before| !(used.contains(before) && known.contains(before))) {
                port.insert("nodePort".to_owned(), before.into());
            }
        }
    }
    let local = |spec: &Object| text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    let before = integer(old, "healthCheckNodePort").filter(|port| *port != 0);
    if both(new, local)
        && integer(new, "healthCheckNodePort").unwrap_or_default() == 0
        && let Some(before) = before
    {
        new.insert("healthCheckNodePort".to_owned(), before.into());
    }
}

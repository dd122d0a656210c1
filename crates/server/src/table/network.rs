//! Services and what leads to them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shown::{Node, Shown, comma_list, list_or_none, lower_case};
use super::{labels, row};

/// How many entries of a list are shown; the rest is counted.
const SHOWN_ENTRIES: usize = 3;

pub(super) fn service(shown: Shown<'_>) -> Vec<Value> {
    let ports: Vec<String> = shown.spec("ports").items().map(service_port).collect();
    row![
        shown.name(),
        shown.spec("type").text(),
        shown.spec("clusterIPs").items().next().map_or("<none>", Node::text),
        external_address(shown),
        list_or_none(ports.iter().map(String::as_str)),
        shown.age(),
        labels::labels(shown.spec("selector")),
    ]
}

fn service_port(port: Node<'_>) -> String {
    let (number, protocol) = (port.get("port").int(), port.get("protocol").text());
    match port.get("nodePort").int() {
        node_port @ 1.. => format!("{number}:{node_port}/{protocol}"),
        _ => format!("{number}/{protocol}"),
    }
}

fn external_address(shown: Shown<'_>) -> String {
    let external = shown.spec("externalIPs").items().map(Node::text);
    match shown.spec("type").text() {
        "ClusterIP" | "NodePort" if external.len() > 0 => comma_list(external),
        "ClusterIP" | "NodePort" => "<none>".to_owned(),
        "LoadBalancer" => {
            let all = comma_list(balancers(shown).into_iter().chain(external));
            if all.is_empty() { "<pending>".to_owned() } else { all }
        }
        "ExternalName" => shown.spec("externalName").text().to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// Addresses or names of the load balancers, each once.
fn balancers(shown: Shown<'_>) -> BTreeSet<&str> {
    let balancers = shown.status("loadBalancer").get("ingress").items();
    balancers.map(|at| at.get("ip").text_or(at.get("hostname").text())).filter(|at| !at.is_empty()).collect()
}

pub(super) fn endpoints(shown: Shown<'_>) -> Vec<Value> {
    let subsets = shown.get("subsets");
    let mut first = Vec::new();
    let mut count = 0_usize;
    for subset in subsets.items() {
        let addresses = subset.get("addresses").items().map(|address| address.get("ip").text());
        let ports = subset.get("ports").items();
        count = count.saturating_add(addresses.len().saturating_mul(ports.len().max(1)));
        let room = SHOWN_ENTRIES.saturating_sub(first.len());
        if ports.len() == 0 {
            first.extend(addresses.take(room).map(ToOwned::to_owned));
        } else {
            let all = ports.flat_map(|port| {
                let addresses = subset.get("addresses").items();
                addresses.map(move |address| host_and_port(address.get("ip").text(), port.get("port").int()))
            });
            first.extend(all.take(room));
        }
    }
    let cell = if subsets.count() == 0 { "<none>".to_owned() } else { and_more(&first.join(","), count) };
    row![shown.name(), cell, shown.age()]
}

fn host_and_port(host: &str, port: i64) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn and_more(list: &str, count: usize) -> String {
    match count.checked_sub(SHOWN_ENTRIES) {
        None | Some(0) => list.to_owned(),
        Some(more) => format!("{list} + {more} more..."),
    }
}

pub(super) fn endpoint_slice(shown: Shown<'_>) -> Vec<Value> {
    let ports = shown.get("ports").items().map(|port| match port.get("port").set_int() {
        Some(number) => number.to_string(),
        None => port.get("name").set_text_or("*").to_owned(),
    });
    let addresses = shown.get("endpoints").items().flat_map(|endpoint| endpoint.get("addresses").items());
    let addresses = addresses.map(|address| address.text().to_owned());
    row![shown.name(), shown.get("addressType").text(), first_or_unset(ports), first_or_unset(addresses), shown.age(),]
}

fn first_or_unset(mut texts: impl Iterator<Item = String>) -> String {
    let first: Vec<String> = texts.by_ref().take(SHOWN_ENTRIES).collect();
    let list = and_more(&first.join(","), first.len().saturating_add(texts.count()));
    if list.is_empty() { "<unset>".to_owned() } else { list }
}

pub(super) fn ingress(shown: Shown<'_>) -> Vec<Value> {
    row![
        shown.name(),
        shown.spec("ingressClassName").set_text_or("<none>"),
        hosts(shown.spec("rules")),
        comma_list(balancers(shown)),
        if shown.spec("tls").count() == 0 { "80" } else { "80, 443" },
        shown.age(),
    ]
}

/// The first hosts. Once there are enough of them, all other rules count as more, with a host or without.
fn hosts(rules: Node<'_>) -> String {
    let mut hosts = Vec::new();
    for rule in rules.items() {
        if hosts.len() == SHOWN_ENTRIES {
            return and_more(&hosts.join(","), rules.items().len());
        }
        hosts.extend(Some(rule.get("host").text()).filter(|host| !host.is_empty()));
    }
    if hosts.is_empty() { "*".to_owned() } else { hosts.join(",") }
}

pub(super) fn ingress_class(shown: Shown<'_>) -> Vec<Value> {
    let parameters = match shown.spec("parameters").set() {
        Some(parameters) => {
            let (kind, name) = (parameters.get("kind").text(), parameters.get("name").text());
            match parameters.get("apiGroup").set() {
                Some(group) => format!("{kind}.{}/{name}", group.text()),
                None => format!("{kind}/{name}"),
            }
        }
        None => "<none>".to_owned(),
    };
    let is_default = shown.annotation("ingressclass.kubernetes.io/is-default-class").text() == "true";
    row![with_default_mark(shown.name(), is_default), shown.spec("controller").text(), parameters, shown.age()]
}

/// The name of a class.
pub(super) fn with_default_mark(name: &str, is_default: bool) -> String {
    if is_default { format!("{name} (default)") } else { name.to_owned() }
}

pub(super) fn network_policy(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), labels::selector(shown.spec("podSelector")), shown.age()]
}

/// Kubernetes prints an age, too, though there is no column for it.
pub(super) fn ip_address(shown: Shown<'_>) -> Vec<Value> {
    let parent = match shown.spec("parentRef").set() {
        Some(parent) => {
            let text = |field: &str| parent.get(field).text();
            let resource = match text("group") {
                "" => lower_case(text("resource")),
                group => format!("{}.{}", lower_case(text("resource")), lower_case(group)),
            };
            match text("namespace") {
                "" => format!("{resource}/{}", text("name")),
                namespace => format!("{resource}/{namespace}/{}", text("name")),
            }
        }
        None => "<none>".to_owned(),
    };
    row![shown.name(), parent, shown.age()]
}

pub(super) fn service_cidr(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), comma_list(shown.spec("cidrs").items().map(Node::text)), shown.age()]
}

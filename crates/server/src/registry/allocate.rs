//! Addresses and ports that services get from the server, each for one service.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::net::Ipv4Addr;

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::{Call, meta};
use crate::cluster::{Page, Table};
use crate::kinds::service;
use crate::status::Failure;
use crate::strategy::Object;
use crate::uid;

/// How often something free is drawn; who fails that often lives in a full house.
const DRAWS: usize = 1_000;
const FIRST_PORT: u16 = 30_000;
const PORTS: u16 = 2_768;

impl Call<'_> {
    /// Gives a service what it needs, and keeps it from what others have.
    pub(super) fn allocate(&self, object: &mut Object, old: Option<&Object>, dry_run: bool) -> Result<(), Failure> {
        if self.served.plural != "services" || !self.served.group.is_empty() || !self.info.subresource.is_empty() {
            return Ok(());
        }
        if let Some(old) = old {
            service::keep_allocated(object, old);
        }
        let state = self.server.cluster().read();
        let (namespace, name) = (self.namespace(), meta(object, "name").to_owned());
        let table = state.table(self.served.collection);
        let others = Others { table, namespace, name: &name, taken: OnceCell::new() };
        let mut errors = others.clashes(object, old);
        if errors.is_empty() {
            // What is only tried out gets what nobody can have.
            let next_ip = || if dry_run { "10.96.0.0".to_owned() } else { others.free_address() };
            let mut beyond = 32_768;
            let next_port = || {
                beyond += 1;
                if dry_run { beyond } else { others.free_port() }
            };
            errors = service::allocate(object, next_ip, next_port);
        }
        if errors.is_empty() { Ok(()) } else { Err(Failure::invalid("", "Service", &name, &errors)) }
    }
}

/// All services but one.
struct Others<'a> {
    table: &'a Table,
    namespace: &'a str,
    name: &'a str,
    taken: OnceCell<Taken>,
}

/// What they have.
#[derive(Default)]
struct Taken {
    addresses: HashSet<String>,
    ports: HashSet<i64>,
}

impl Others<'_> {
    fn free_address(&self) -> String {
        let drawn = || format!("10.96.{}.{}", uid::random_below(256), 1 + uid::random_below(254));
        draw(drawn, |address| self.has_address(address))
    }

    fn free_port(&self) -> i64 {
        let drawn = || i64::from(u32::from(FIRST_PORT) + uid::random_below(u32::from(PORTS)));
        draw(drawn, |port| self.has_port(*port))
    }

    /// The first thing that a client asks for by name and cannot have.
    fn clashes(&self, object: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let at = Path::field("spec");
        let known = old.map(addresses).unwrap_or_default();
        let wanted = addresses(object);
        for address in wanted.iter().filter(|address| !known.contains(address)) {
            let Ok(ip) = address.parse::<Ipv4Addr>() else { continue };
            let why = match ip.octets() {
                [10, 96, ..] if self.has_address(address) => "provided IP is already allocated",
                [10, 96, ..] => continue,
                _ => "the provided network does not match the current range",
            };
            let value = BadValue::Json(Value::from(wanted.clone()).to_string());
            let why = format!("failed to allocate IP {ip}: {why}");
            return vec![FieldError::invalid(at.child("clusterIPs"), value, why)];
        }
        let known = old.map(ports).unwrap_or_default();
        for (i, port) in ports(object).into_iter().enumerate().filter(|(_, port)| *port != 0 && !known.contains(port)) {
            let range = i64::from(FIRST_PORT)..i64::from(FIRST_PORT + PORTS);
            let why = if !range.contains(&port) {
                "provided port is not in the valid range. The range of valid ports is 30000-32767"
            } else if self.has_port(port) {
                "provided port is already allocated"
            } else {
                continue;
            };
            let at = at.child("ports");
            let at = at.index(i);
            return vec![FieldError::invalid(at.child("nodePort"), BadValue::Json(port.to_string()), why)];
        }
        Vec::new()
    }

    fn has_address(&self, address: &str) -> bool {
        self.taken().addresses.contains(address)
    }

    fn has_port(&self, port: i64) -> bool {
        self.taken().ports.contains(&port)
    }

    /// WHY: stored bodies are compact JSON, in which quotes within texts are escaped. Reading them all would take a hundred
    /// times as long.
    fn taken(&self) -> &Taken {
        self.taken.get_or_init(|| {
            let mut taken = Taken::default();
            let all = Page::default();
            let others = self.table.entries(&all);
            let others =
                others.filter(|entry| (entry.namespace.as_str(), entry.name.as_str()) != (self.namespace, self.name));
            for body in others.filter_map(|entry| std::str::from_utf8(&entry.body).ok()) {
                let texts = body.split("\"10.96.").skip(1).filter_map(|rest| rest.split_once('"'));
                taken.addresses.extend(texts.map(|(rest, _)| format!("10.96.{rest}")));
                let numbers = body.split("\"nodePort\":").skip(1).filter_map(|rest| rest.split([',', '}']).next());
                taken.ports.extend(numbers.filter_map(|number| number.parse::<i64>().ok()));
            }
            taken
        })
    }
}

fn draw<T>(drawn: impl Fn() -> T, taken: impl Fn(&T) -> bool) -> T {
    let mut found = drawn();
    for _ in 0..DRAWS {
        if !taken(&found) {
            break;
        }
        found = drawn();
    }
    found
}

fn addresses(service: &Object) -> Vec<String> {
    let Some(spec) = service.get("spec") else { return Vec::new() };
    let list = spec.get("clusterIPs").and_then(Value::as_array).into_iter().flatten();
    let all: Vec<String> = list.filter_map(Value::as_str).map(str::to_owned).collect();
    let single = spec.get("clusterIP").and_then(Value::as_str).filter(|ip| !ip.is_empty());
    if all.is_empty() { single.map(str::to_owned).into_iter().collect() } else { all }
}

fn ports(service: &Object) -> Vec<i64> {
    let ports = service.get("spec").and_then(|spec| spec.get("ports")).and_then(Value::as_array);
    let number = |port: &Value| port.get("nodePort").and_then(Value::as_i64).unwrap_or_default();
    ports.into_iter().flatten().map(number).collect()
}

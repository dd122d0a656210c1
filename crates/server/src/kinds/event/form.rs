//! The two forms of an event. Most fields have the same name in both.

use serde_json::{Value, json};

use crate::strategy::Object;

/// Names in the core group and in events.k8s.io.
const RENAMED: &[(&str, &str)] = &[
    ("count", "deprecatedCount"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("involvedObject", "regarding"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
];

/// Fields that Go always writes, whatever they hold.
const ALWAYS_IN_BOTH: &[&str] = &["eventTime", "firstTimestamp", "involvedObject", "lastTimestamp", "source"];
const ALWAYS_IN_CORE: &[&str] = &["reportingComponent", "reportingInstance"];

/// The form of events.k8s.io/v1 of a stored event, or of one that has it already.
pub fn to_events_v1(event: &Object) -> Object {
    let rename = |name: &str| renamed(name, |(core, new)| (core, new));
    let mut out: Object = event.iter().map(|(name, value)| (rename(name), value.clone())).collect();
    out.insert("apiVersion".into(), "events.k8s.io/v1".into());
    for name in ALWAYS_IN_CORE.iter().map(|name| rename(name)) {
        if out.get(&name).is_some_and(|value| value == "") {
            out.remove(&name);
        }
    }
    for name in ALWAYS_IN_BOTH {
        out.entry(rename(name)).or_insert_with(|| zero(name));
    }
    out
}

/// The form in which events are stored, of an event of events.k8s.io/v1 or of one that has it already.
pub fn to_core(event: &Object) -> Object {
    let rename = |name: &str| renamed(name, |(core, new)| (new, core));
    let mut out: Object = event.iter().map(|(name, value)| (rename(name), value.clone())).collect();
    out.insert("apiVersion".into(), "v1".into());
    for name in ALWAYS_IN_BOTH.iter().chain(ALWAYS_IN_CORE) {
        out.entry(*name).or_insert_with(|| zero(name));
    }
    out
}

fn renamed(name: &str, way: impl Fn(&(&'static str, &'static str)) -> (&'static str, &'static str)) -> String {
    let to = RENAMED.iter().map(way).find(|(from, _)| *from == name);
    to.map_or(name, |(_, to)| to).to_owned()
}

fn zero(core_name: &str) -> Value {
    match core_name {
        "involvedObject" | "source" => json!({}),
        "reportingComponent" | "reportingInstance" => json!(""),
        _ => Value::Null,
    }
}

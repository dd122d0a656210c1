//! Events, whose fields have other names in each of their two groups.

use serde_json::Value;

use super::row;
use super::shown::{Shown, lower_case};

/// Where an event of a group keeps what is shown.
struct Names {
    first: &'static str,
    last: &'static str,
    count: &'static str,
    about: &'static str,
    source: &'static str,
    message: &'static str,
    reporter: &'static str,
}

const CORE: Names = Names {
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    about: "involvedObject",
    source: "source",
    message: "message",
    reporter: "reportingComponent",
};

const EVENTS: Names = Names {
    first: "deprecatedFirstTimestamp",
    last: "deprecatedLastTimestamp",
    count: "deprecatedCount",
    about: "regarding",
    source: "deprecatedSource",
    message: "note",
    reporter: "reportingController",
};

pub(super) fn core(shown: Shown<'_>) -> Vec<Value> {
    event(shown, &CORE)
}

pub(super) fn events(shown: Shown<'_>) -> Vec<Value> {
    event(shown, &EVENTS)
}

fn event(shown: Shown<'_>, names: &Names) -> Vec<Value> {
    let first = shown.get(names.first).time().or(shown.get("eventTime").time());
    let (last, count) = match shown.get("series").set() {
        Some(series) => (series.get("lastObservedTime").time(), series.get("count").int()),
        None => (shown.get(names.last).time().or(first), shown.get(names.count).int()),
    };
    // Newer clients do not count what happened once.
    let count = if count == 0 && !shown.get("series").is_set() { 1 } else { count };
    let about = shown.get(names.about);
    let mut object = lower_case(about.get("kind").text());
    let name = about.get("name").text();
    if !name.is_empty() {
        object = format!("{object}/{name}");
    }
    let source = shown.get(names.source);
    let component = source.get("component").text_or(shown.get(names.reporter).text());
    let host = source.get("host").text_or(shown.get("reportingInstance").text());
    row![
        shown.since(last),
        shown.get("type").text(),
        shown.get("reason").text(),
        object,
        about.get("fieldPath").text(),
        if host.is_empty() { component.to_owned() } else { format!("{component}, {host}") },
        shown.get(names.message).text().trim(),
        shown.since(first),
        count,
        shown.name(),
    ]
}

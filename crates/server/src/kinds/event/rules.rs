//! What is wrong with an event in the core group's form.

use rolewright_core::quote::JsonText;
use rolewright_core::validate::{BadValue, FieldError, Path, invalid, names};
use serde_json::Value;

use crate::strategy::{Object, fields};

const SHORT_MAX: usize = 128;
const MESSAGE_MAX: usize = 1024;
/// The fields of a reference: in JSON, and in Go, whose names Kubernetes shows.
const REFERENCE: [(&str, &str); 7] = [
    ("kind", "Kind"),
    ("namespace", "Namespace"),
    ("name", "Name"),
    ("uid", "UID"),
    ("apiVersion", "APIVersion"),
    ("resourceVersion", "ResourceVersion"),
    ("fieldPath", "FieldPath"),
];
const SOURCE: [(&str, &str); 2] = [("component", "Component"), ("host", "Host")];

/// What must hold for all events. `controller` is the name of the reporting controller's field in the client's form.
pub(super) fn common(event: &Object, controller: &str) -> Vec<FieldError> {
    let namespace = fields::text(event, &["metadata", "namespace"]);
    let about = fields::text(event, &["involvedObject", "namespace"]);
    let timed = is_set(event, "eventTime");
    let mut errors = Vec::new();
    let fits = match (about, timed) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (about, false) => about == namespace,
        (_, true) => true,
    };
    if !fits {
        let at = Path::field("involvedObject");
        errors.push(FieldError::invalid(at.child("namespace"), about, "does not match event.namespace"));
    }
    if timed {
        errors.extend(new_style(event, controller));
    }
    errors.extend(invalid(Path::field("namespace"), namespace, names::dns_subdomain(namespace)));
    errors
}

/// What events with a time of their own must have.
fn new_style(event: &Object, controller: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let reporter = fields::text(event, &["reportingComponent"]);
    if reporter.is_empty() {
        errors.push(FieldError::required(Path::field(controller), ""));
    }
    errors.extend(invalid(Path::field(controller), reporter, names::label_key(reporter)));
    for (field, required, most) in [
        ("reportingInstance", true, SHORT_MAX),
        ("action", true, SHORT_MAX),
        ("reason", true, SHORT_MAX),
        ("message", false, MESSAGE_MAX),
    ] {
        let at = Path::field(field);
        let text = fields::text(event, &[field]);
        if required && text.is_empty() {
            errors.push(FieldError::required(at, ""));
        }
        if text.len() > most {
            errors.push(FieldError::invalid(at, "", format!("can have at most {most} characters")));
        }
    }
    errors
}

/// What must hold for new events of events.k8s.io.
pub(super) fn strict(event: &Object) -> Vec<FieldError> {
    let mut errors = series(event);
    if !is_set(event, "eventTime") {
        errors.push(FieldError::required(Path::field("eventTime"), ""));
    }
    let kind = fields::text(event, &["type"]);
    if !["Normal", "Warning"].contains(&kind) {
        errors.push(FieldError::invalid(Path::field("type"), "", format!("has invalid value: {kind}")));
    }
    let counted = fields::number(event, &["count"]).is_some_and(|count| count != 0);
    let sourced = SOURCE.iter().any(|(field, _)| !fields::text(event, &["source", field]).is_empty());
    for (field, set) in [
        ("firstTimestamp", is_set(event, "firstTimestamp")),
        ("lastTimestamp", is_set(event, "lastTimestamp")),
        ("count", counted),
        ("source", sourced),
    ] {
        if set {
            errors.push(FieldError::invalid(Path::field(field), "", "needs to be unset"));
        }
    }
    errors
}

/// What must hold for changes of events through events.k8s.io.
pub(super) fn change(event: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if series_of(event) != series_of(old) {
        errors.extend(series(event));
    }
    // The reason comes twice in Kubernetes' list.
    for field in [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingController",
        "reportingInstance",
    ] {
        let (new, old) = (shown(event, field), shown(old, field));
        if new != old {
            errors.push(FieldError::invalid(Path::field(field), new, "field is immutable"));
        }
    }
    errors
}

/// A field as Kubernetes shows it; equal fields are shown equally.
fn shown(event: &Object, field: &str) -> BadValue {
    match field {
        "involvedObject" => structure(fields::object_at(event, &[field]), &REFERENCE),
        "source" => structure(fields::object_at(event, &[field]), &SOURCE),
        "related" => match fields::get(event, &[field]).and_then(Value::as_object) {
            None => BadValue::null(),
            Some(related) => structure(related, &REFERENCE),
        },
        "firstTimestamp" | "lastTimestamp" | "eventTime" => match fields::text(event, &[field]) {
            "" => BadValue::null(),
            time => BadValue::typed_text(time),
        },
        "count" => BadValue::number(fields::number(event, &[field]).unwrap_or_default()),
        "reportingController" => BadValue::from(fields::text(event, &["reportingComponent"])),
        field => BadValue::from(fields::text(event, &[field])),
    }
}

fn structure(object: &Object, members: &[(&str, &str)]) -> BadValue {
    let members = members.iter().map(|(json, go)| format!("\"{go}\":{}", JsonText(fields::text(object, &[json]))));
    BadValue::Json(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

fn series(event: &Object) -> Vec<FieldError> {
    let Some((count, time)) = series_of(event) else { return Vec::new() };
    let mut errors = Vec::new();
    if count < 2 {
        errors.push(FieldError::invalid(Path::field("series.count"), "", "should be at least 2"));
    }
    if time.is_empty() {
        errors.push(FieldError::required(Path::field("series.lastObservedTime"), ""));
    }
    errors
}

fn series_of(event: &Object) -> Option<(i64, &str)> {
    let series = fields::get(event, &["series"])?.as_object()?;
    let count = fields::number(series, &["count"]).unwrap_or_default();
    Some((count, fields::text(series, &["lastObservedTime"])))
}

fn is_set(event: &Object, time: &str) -> bool {
    !fields::text(event, &[time]).is_empty()
}

//! Checks that many kinds share, in Kubernetes' words.

use rolewright_core::validate::{BadValue, ErrorKind, FieldError, IllegalValues, Path, label_selector, labels, names};
use rolewright_core::{LabelSelector, Labels};
use serde_json::Value;

use super::read::{absent, child, integer, items, list, text};
use crate::strategy::Object;

pub(super) type Errors = Vec<FieldError>;

const NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";
const PORT: &str = "must be between 1 and 65535, inclusive";
const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
    regex used for validation is '[0-9]+%')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', \
     or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which \
    must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
    '*.example.com', regex used for validation is \
    '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// A number, or anything else that is shown as JSON.
pub(super) fn json(value: impl std::fmt::Display) -> BadValue {
    BadValue::Json(value.to_string())
}

/// The first of several texts with the same path is enough to name what is wrong with each.
pub(super) fn each(errors: &mut Errors, at: Path<'_>, value: &str, faults: Vec<String>) {
    errors.extend(faults.into_iter().map(|fault| FieldError::invalid(at, value, fault)));
}

pub(super) fn not_found(at: Path<'_>, value: &str) -> FieldError {
    FieldError {
        kind: ErrorKind::NotFound,
        field: at.to_string(),
        value: Some(BadValue::from(value)),
        detail: String::new(),
    }
}

/// A number that is there must not be negative.
pub(super) fn not_negative(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    if let Some(number) = integer(object, key).filter(|number| *number < 0) {
        errors.push(FieldError::invalid(at.child(key), json(number), NEGATIVE));
    }
}

/// A text that must be there and be one of these.
pub(super) fn one_of(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, known: &[&str]) {
    match text(object, key) {
        "" => errors.push(FieldError::required(at.child(key), "")),
        text => supported(errors, text, at.child(key), known),
    }
}

/// A text that must be one of these.
pub(super) fn supported(errors: &mut Errors, text: &str, at: Path<'_>, known: &[&str]) {
    if !known.contains(&text) {
        errors.push(FieldError::not_supported(at, BadValue::typed_text(text), known));
    }
}

/// A text that must be there.
pub(super) fn required(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    if text(object, key).is_empty() {
        errors.push(FieldError::required(at.child(key), ""));
    }
}

/// A name that is there must have the form of one.
pub(super) fn name(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, form: fn(&str) -> Vec<String>) {
    let name = text(object, key);
    if !name.is_empty() {
        each(errors, at.child(key), name, form(name));
    }
}

pub(super) fn port_number(errors: &mut Errors, number: i64, at: Path<'_>) {
    if !(1..=65535).contains(&number) {
        errors.push(FieldError::invalid(at, json(number), PORT));
    }
}

pub(super) fn port_name(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if name.len() > 15 {
        faults.push("must be no more than 15 characters".to_owned());
    }
    if name.is_empty() || !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        faults.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push("must not begin or end with a hyphen".to_owned());
    }
    faults
}

/// A port by number or by name.
pub(super) fn port(errors: &mut Errors, port: Option<&Value>, at: Path<'_>) {
    match port {
        Some(Value::String(name)) => each(errors, at, name, port_name(name)),
        port => port_number(errors, port.and_then(Value::as_i64).unwrap_or_default(), at),
    }
}

pub(super) fn config_key(key: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if key.len() > names::SUBDOMAIN_MAX {
        faults.push("must be no more than 253 characters".to_owned());
    }
    if !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')) {
        faults.push(CONFIG_KEY.to_owned());
    }
    match key {
        "." | ".." => faults.push(format!("must not be '{key}'")),
        key if key.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

/// A host, with a star as its first label perhaps.
pub(super) fn host(host: &str) -> Vec<String> {
    if !host.contains('*') {
        return names::dns_subdomain(host);
    }
    let fits = host.strip_prefix("*.").is_some_and(|rest| {
        !rest.contains('*') && names::dns_subdomain(rest).iter().all(|fault| fault.starts_with("must be no more"))
    });
    if fits { Vec::new() } else { vec![WILDCARD.to_owned()] }
}

/// What a number or percentage comes to; `None` for a text that is no percentage.
fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().unwrap_or(i64::MAX))
}

pub(super) fn amount(value: &Value) -> i64 {
    match value {
        Value::String(text) => percent(value).or_else(|| text.parse().ok()).unwrap_or_default(),
        number => number.as_i64().unwrap_or_default(),
    }
}

pub(super) fn number_or_percent(errors: &mut Errors, value: &Value, at: Path<'_>) {
    if value.is_string() {
        if percent(value).is_none() {
            errors.push(FieldError::invalid(at, json(value), PERCENT));
        }
    } else if let Some(number) = value.as_i64().filter(|number| *number < 0) {
        errors.push(FieldError::invalid(at, json(number), NEGATIVE));
    }
}

pub(super) fn at_most_all(errors: &mut Errors, value: &Value, at: Path<'_>) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.push(FieldError::invalid(at, json(value), "must not be greater than 100%"));
    }
}

pub(super) fn read_labels(object: Option<&Object>) -> Labels {
    let read = |(key, value): (&String, &Value)| Some((key.as_str().into(), value.as_str()?.into()));
    object.into_iter().flatten().filter_map(read).collect()
}

pub(super) fn check_labels(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    errors.extend(labels(&read_labels(child(object, key)), at.child(key)));
}

pub(super) fn read_selector(selector: &Object) -> LabelSelector {
    serde_json::from_value(Value::Object(selector.clone())).unwrap_or_default()
}

/// A selector that is there.
pub(super) fn selector(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    if let Some(selector) = child(object, key) {
        errors.extend(label_selector(&read_selector(selector), IllegalValues::Refuse, at.child(key)));
    }
}

/// A selector as Go writes it.
pub(super) fn selector_json(selector: Option<&Object>) -> String {
    let Some(selector) = selector else { return "null".to_owned() };
    let mut members = Vec::new();
    if let Some(labels) = child(selector, "matchLabels").filter(|labels| !labels.is_empty()) {
        members.push(format!("\"matchLabels\":{}", Value::Object(labels.clone())));
    }
    if !list(selector, "matchExpressions").is_empty() {
        // Key, operator and values are in the order of the alphabet already.
        let expressions: Vec<String> =
            items(selector, "matchExpressions").map(|object| Value::Object(object.clone()).to_string()).collect();
        members.push(format!("\"matchExpressions\":[{}]", expressions.join(",")));
    }
    format!("{{{}}}", members.join(","))
}

/// A map as Go writes it.
pub(super) fn map_json(map: Option<&Object>) -> BadValue {
    map.filter(|map| !map.is_empty()).map_or_else(BadValue::null, |map| json(Value::Object(map.clone())))
}

/// A selector that says which pods belong to a controller cannot change.
pub(super) fn immutable_selector(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let canonical = |object: &Object| selector_json(child(object, "selector"));
    if canonical(new) != canonical(old) {
        errors.push(FieldError::invalid(at.child("selector"), json(canonical(new)), IMMUTABLE));
    }
}

/// Whether a selector of a controller chooses the pods of its template; `None` where it cannot be used.
pub(super) fn chooses(selector: &Object, labels: Option<&Object>) -> Option<bool> {
    read_selector(selector).compile().ok().map(|selector| selector.matches(&read_labels(labels)))
}

/// A scalar that cannot change once it is there.
pub(super) fn immutable(errors: &mut Errors, new: &Object, old: &Object, key: &str, at: Path<'_>) {
    let same = (absent(new, key) && absent(old, key)) || new.get(key) == old.get(key);
    if !same {
        let value = new.get(key).filter(|value| !value.is_null()).map_or_else(BadValue::null, json);
        errors.push(FieldError::invalid(at.child(key), value, IMMUTABLE));
    }
}

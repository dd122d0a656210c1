//! Checks that many kinds share, in Kubernetes' words.

mod condition;
mod network;
mod nodes;
mod resources;

pub(super) use condition::{at_most, conditions, counts};
pub(super) use network::{
    Range, balancer_host, canonical_cidr, canonical_ip, cidr, endpoint_ip, host, ip, parse_ip, port, port_name,
    port_number,
};
pub(super) use nodes::{EFFECTS, node_selector, node_term};
pub(super) use resources::{
    amount, amounts, at_most_all, container_resource_name, is_huge, is_in_quota, is_native, not_negative_amount,
    number_or_percent, positive_amount, quota_resource_name, resource_amount, resource_name, shown,
};

use rolewright_core::validate::{BadValue, ErrorKind, FieldError, IllegalValues, Path, label_selector, labels, names};
use rolewright_core::{LabelSelector, Labels};
use serde_json::Value;

use super::read::{absent, child, integer, items, list, text, texts};
use crate::strategy::Object;

pub(super) type Errors = Vec<FieldError>;

pub(super) const NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const IMMUTABLE: &str = "field is immutable";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' \
    (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
/// A number, or anything else that is shown as JSON.
pub(super) fn json(value: impl std::fmt::Display) -> BadValue {
    BadValue::Json(value.to_string())
}

/// Looks at each object in a list, with its path.
pub(super) fn each_item<'a>(object: &'a Object, key: &str, at: Path<'_>, mut look: impl FnMut(&'a Object, Path<'_>)) {
    let list = at.child(key);
    for (i, item) in items(object, key).enumerate() {
        look(item, list.index(i));
    }
}

/// Looks at each text in a list, with its path.
pub(super) fn each_text<'a>(object: &'a Object, key: &str, at: Path<'_>, mut look: impl FnMut(&'a str, Path<'_>)) {
    let list = at.child(key);
    for (i, item) in texts(object, key).enumerate() {
        look(item, list.index(i));
    }
}

/// Looks at an object below that is there, with its path.
pub(super) fn within<'a>(object: &'a Object, key: &str, at: Path<'_>, look: impl FnOnce(&'a Object, Path<'_>)) {
    if let Some(below) = child(object, key) {
        look(below, at.child(key));
    }
}

/// A value that is there must not be.
pub(super) fn forbid(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, why: &str) {
    if !absent(object, key) {
        errors.push(FieldError::forbidden(at.child(key), why));
    }
}

/// A text that is there, of a type with few values.
pub(super) fn supported_if(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, known: &[&str]) {
    if let Some(text) = object.get(key).and_then(Value::as_str) {
        supported(errors, text, at.child(key), known);
    }
}

/// A number that is there must lie between two others.
pub(super) fn between(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, (low, high): (i64, i64)) {
    if let Some(number) = integer(object, key).filter(|number| !(low..=high).contains(number)) {
        let why = format!("must be between {low} and {high}, inclusive");
        errors.push(FieldError::invalid(at.child(key), json(number), why));
    }
}

/// A text that must be there and have the form of a name.
pub(super) fn named(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, form: fn(&str) -> Vec<String>) {
    required(errors, object, key, at);
    name(errors, object, key, at, form);
}

/// A name that has the form of one even where it is empty; `None` for a pointer that is nil.
pub(super) fn formed(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, form: fn(&str) -> Vec<String>) {
    if let Some(text) = object.get(key).and_then(Value::as_str) {
        each(errors, at.child(key), text, form(text));
    }
}

/// A list of texts as Go writes it.
pub(super) fn list_json(object: &Object, key: &str) -> BadValue {
    match list(object, key) {
        [] => BadValue::null(),
        texts => json(Value::from(texts.to_vec())),
    }
}

/// A check that failed itself.
pub(super) fn internal_error(at: Path<'_>, why: String) -> FieldError {
    FieldError { kind: ErrorKind::Internal, field: at.to_string(), value: None, detail: why }
}

/// A value that is wrong and not shown.
pub(super) fn unshown(at: Path<'_>, why: &str) -> FieldError {
    FieldError { kind: ErrorKind::Invalid, field: at.to_string(), value: None, detail: why.to_owned() }
}

pub(super) fn too_many(at: Path<'_>, count: usize, most: usize) -> FieldError {
    FieldError {
        kind: ErrorKind::TooMany,
        field: at.to_string(),
        value: Some(json(count)),
        detail: format!("must have at most {most} items"),
    }
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

/// A label as older kinds have it: it begins with a letter.
pub(super) fn label_1035(text: &str) -> Vec<String> {
    const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
        alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
        validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let mut faults = Vec::new();
    if text.len() > 63 {
        faults.push("must be no more than 63 characters".to_owned());
    }
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good = text.bytes().all(inner) && text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('-');
    if !good {
        faults.push(LABEL.to_owned());
    }
    faults
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

pub(super) fn read_labels(object: Option<&Object>) -> Labels {
    let read = |(key, value): (&String, &Value)| Some((key.as_str().into(), value.as_str()?.into()));
    object.into_iter().flatten().filter_map(read).collect()
}

pub(super) fn check_labels(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    errors.extend(labels(&read_labels(child(object, key)), at.child(key)));
}

pub(crate) fn read_selector(selector: &Object) -> LabelSelector {
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

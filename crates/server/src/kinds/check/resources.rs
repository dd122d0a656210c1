//! Numbers, percentages, and amounts of resources.

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::quantity::Quantity;
use super::super::read::child;
use super::{Errors, NEGATIVE, json};
use crate::strategy::Object;

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
    regex used for validation is '[0-9]+%')";

/// What a number or percentage comes to; `None` for a text that is no percentage.
fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().unwrap_or(i64::MAX))
}

pub(in crate::kinds) fn amount(value: &Value) -> i64 {
    match value {
        Value::String(text) => percent(value).or_else(|| text.parse().ok()).unwrap_or_default(),
        number => number.as_i64().unwrap_or_default(),
    }
}

pub(in crate::kinds) fn number_or_percent(errors: &mut Errors, value: &Value, at: Path<'_>) {
    if value.is_string() {
        if percent(value).is_none() {
            errors.push(FieldError::invalid(at, json(value), PERCENT));
        }
    } else if let Some(number) = value.as_i64().filter(|number| *number < 0) {
        errors.push(FieldError::invalid(at, json(number), NEGATIVE));
    }
}

pub(in crate::kinds) fn at_most_all(errors: &mut Errors, value: &Value, at: Path<'_>) {
    if percent(value).is_some_and(|percent| percent > 100) {
        errors.push(FieldError::invalid(at, json(value), "must not be greater than 100%"));
    }
}

/// The amounts in a map, by name.
pub(in crate::kinds) fn amounts<'a>(
    object: &'a Object,
    key: &str,
) -> impl Iterator<Item = (&'a str, Quantity)> + use<'a> {
    let read = |(name, value): (&'a String, &'a Value)| Some((name.as_str(), Quantity::parse(value.as_str()?)?));
    child(object, key).into_iter().flatten().filter_map(read)
}

/// An amount as Go writes it where it is shown as it is.
pub(in crate::kinds) fn shown(amount: Quantity) -> BadValue {
    BadValue::typed_text(&amount.to_string())
}

const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const MEASURED: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Resources of Kubernetes itself have no domain, or its own.
pub(in crate::kinds) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

pub(in crate::kinds) fn is_huge(name: &str) -> bool {
    name.starts_with("hugepages-")
}

fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && names::label_key(&format!("requests.{name}")).is_empty()
}

pub(in crate::kinds) fn is_measured(name: &str) -> bool {
    MEASURED.contains(&name) || is_huge(name)
}

/// What a quota can speak of, beside `storage`.
pub(in crate::kinds) fn is_in_quota(name: &str) -> bool {
    let of = |prefix| name.strip_prefix(prefix).is_some_and(|rest| MEASURED.contains(&rest));
    is_measured(name)
        || COUNTED.contains(&name)
        || name == "requests.storage"
        || name.strip_prefix("requests.").is_some_and(is_huge)
        || of("requests.")
        || of("limits.")
}

/// The name of a resource.
pub(in crate::kinds) fn resource_name(errors: &mut Errors, name: &str, at: Path<'_>) {
    let faults = names::label_key(name);
    if faults.is_empty() && !name.contains('/') && !is_in_quota(name) && name != "storage" {
        let why = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid(at, BadValue::typed_text(name), why));
    }
    for fault in faults {
        errors.push(FieldError::invalid(at, BadValue::typed_text(name), fault));
    }
}

/// The name of a resource that containers use.
pub(in crate::kinds) fn container_resource_name(errors: &mut Errors, name: &str, at: Path<'_>) {
    resource_name(errors, name, at);
    let why = if !name.contains('/') && !is_measured(name) {
        "must be a standard resource for containers"
    } else if !is_native(name) && !is_extended(name) {
        "doesn't follow extended resource name standard"
    } else {
        return;
    };
    errors.push(FieldError::invalid(at, BadValue::typed_text(name), why));
}

/// The name of a resource in a quota.
pub(in crate::kinds) fn quota_resource_name(errors: &mut Errors, name: &str, at: Path<'_>) {
    resource_name(errors, name, at);
    if !name.contains('/') && !is_in_quota(name) {
        let why = "must be a standard resource for quota";
        errors.push(FieldError::invalid(at, BadValue::typed_text(name), why));
    }
}

/// How much of a resource there is.
pub(in crate::kinds) fn resource_amount(errors: &mut Errors, name: &str, amount: Quantity, at: Path<'_>) {
    not_negative_amount(errors, amount, at);
    if (COUNTED.contains(&name) || is_extended(name)) && !amount.rounded_to_milli().is_whole() {
        errors.push(FieldError::invalid(at, shown(amount), "must be an integer"));
    }
}

pub(in crate::kinds) fn not_negative_amount(errors: &mut Errors, amount: Quantity, at: Path<'_>) {
    if amount.sign().is_lt() {
        errors.push(FieldError::invalid(at, amount.to_string().as_str(), NEGATIVE));
    }
}

/// An amount that must be there and more than nothing.
pub(in crate::kinds) fn positive_amount(errors: &mut Errors, amount: Quantity, at: Path<'_>) {
    if !amount.sign().is_gt() {
        errors.push(FieldError::invalid(at, amount.to_string().as_str(), "must be greater than zero"));
    }
}

//! How pods are replaced when their template changes.

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, amount, at_most_all, json, not_negative, number_or_percent};
use super::super::read::{child, integer, text};
use crate::strategy::Object;

pub(super) fn check_strategy(errors: &mut Errors, strategy: &Object, at: Path<'_>) {
    let rolling = child(strategy, "rollingUpdate");
    match (text(strategy, "type"), rolling) {
        ("Recreate", Some(_)) => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden(at.child("rollingUpdate"), why));
        }
        ("Recreate", None) => {}
        ("RollingUpdate", Some(rolling)) => {
            let at = at.child("rollingUpdate");
            let (unavailable, surge) = limits(rolling);
            number_or_percent(errors, unavailable, at.child("maxUnavailable"));
            number_or_percent(errors, surge, at.child("maxSurge"));
            if amount(unavailable) == 0 && amount(surge) == 0 {
                let why = "may not be 0 when `maxSurge` is 0";
                errors.push(FieldError::invalid(at.child("maxUnavailable"), json(unavailable), why));
            }
            at_most_all(errors, unavailable, at.child("maxUnavailable"));
        }
        (kind, rolling) => {
            let shown = json(strategy_json(kind, rolling));
            errors.push(FieldError::not_supported(at, shown, &["Recreate", "RollingUpdate"]));
        }
    }
}

const ZERO: &Value = &Value::Null;

fn limits(rolling: &Object) -> (&Value, &Value) {
    (rolling.get("maxUnavailable").unwrap_or(ZERO), rolling.get("maxSurge").unwrap_or(ZERO))
}

/// The internal type, with Go's names.
fn strategy_json(kind: &str, rolling: Option<&Object>) -> String {
    let rolling = rolling.map_or_else(
        || "null".to_owned(),
        |rolling| {
            let (unavailable, surge) = limits(rolling);
            format!("{{\"MaxUnavailable\":{unavailable},\"MaxSurge\":{surge}}}")
        },
    );
    format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", Value::from(kind))
}

pub(super) fn check_daemon_strategy(errors: &mut Errors, strategy: &Object, at: Path<'_>) {
    match (text(strategy, "type"), child(strategy, "rollingUpdate")) {
        ("OnDelete", _) => {}
        ("RollingUpdate", Some(rolling)) => {
            let at = at.child("rollingUpdate");
            let (unavailable, surge) = limits(rolling);
            number_or_percent(errors, unavailable, at.child("maxUnavailable"));
            number_or_percent(errors, surge, at.child("maxSurge"));
            at_most_all(errors, unavailable, at.child("maxUnavailable"));
            at_most_all(errors, surge, at.child("maxSurge"));
            match (amount(unavailable) != 0, amount(surge) != 0) {
                (true, true) => {
                    let why = "may not be set when maxUnavailable is non-zero";
                    errors.push(FieldError::invalid(at.child("maxSurge"), json(surge), why));
                }
                (false, false) => {
                    errors.push(FieldError::required(at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"));
                }
                _ => {}
            }
        }
        (kind, rolling) => {
            let shown = json(strategy_json(kind, rolling));
            errors.push(FieldError::not_supported(at, shown, &["RollingUpdate", "OnDelete"]));
        }
    }
}

pub(super) fn check_set_strategy(errors: &mut Errors, strategy: &Object, at: Path<'_>) {
    let rolling = child(strategy, "rollingUpdate");
    match (text(strategy, "type"), rolling) {
        ("OnDelete", Some(rolling)) => {
            let why = "only allowed for updateStrategy 'RollingUpdate'";
            errors.push(FieldError::invalid(at.child("rollingUpdate"), json(set_rolling_json(rolling)), why));
        }
        ("RollingUpdate", Some(rolling)) => {
            let at = at.child("rollingUpdate");
            not_negative(errors, rolling, "partition", at);
            if let Some(unavailable) = rolling.get("maxUnavailable").filter(|value| !value.is_null()) {
                let at = at.child("maxUnavailable");
                number_or_percent(errors, unavailable, at);
                if amount(unavailable) == 0 {
                    errors.push(FieldError::invalid(at, json(unavailable), "cannot be 0"));
                }
                at_most_all(errors, unavailable, at);
            }
        }
        ("OnDelete" | "RollingUpdate", None) => {}
        (kind, rolling) => {
            let rolling = rolling.map_or_else(|| "null".to_owned(), set_rolling_json);
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", Value::from(kind));
            errors.push(FieldError::invalid(at, json(shown), "must be 'RollingUpdate' or 'OnDelete'"));
        }
    }
}

/// The internal type, with Go's names.
fn set_rolling_json(rolling: &Object) -> String {
    let partition = integer(rolling, "partition").unwrap_or_default();
    let unavailable = rolling.get("maxUnavailable").unwrap_or(&Value::Null);
    format!("{{\"Partition\":{partition},\"MaxUnavailable\":{unavailable}}}")
}

//! Conditions of the common type, and counts in a status.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::read::{absent, integer, text};
use super::{Errors, each, each_item, json, not_negative, supported};
use crate::strategy::Object;

const REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or \
    'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
    '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const LONGEST_REASON: usize = 1024;
const LONGEST_MESSAGE: usize = 32 * 1024;

/// The conditions of a status.
pub(in crate::kinds) fn conditions(errors: &mut Errors, status: &Object, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    each_item(status, "conditions", at, |condition, at| {
        let kind = text(condition, "type");
        if !seen.insert(kind) {
            errors.push(FieldError::duplicate(at.child("type"), kind));
        }
        each(errors, at.child("type"), kind, names::label_key(kind));
        supported(errors, text(condition, "status"), at.child("status"), &["False", "True", "Unknown"]);
        if let Some(generation) = integer(condition, "observedGeneration").filter(|generation| *generation < 0) {
            let why = "must be greater than or equal to zero";
            errors.push(FieldError::invalid(at.child("observedGeneration"), json(generation), why));
        }
        if absent(condition, "lastTransitionTime") {
            errors.push(FieldError::required(at.child("lastTransitionTime"), ""));
        }
        let reason = text(condition, "reason");
        if reason.is_empty() {
            errors.push(FieldError::required(at.child("reason"), ""));
        } else {
            if !is_reason(reason) {
                errors.push(FieldError::invalid(at.child("reason"), reason, REASON));
            }
            if reason.len() > LONGEST_REASON {
                errors.push(FieldError::too_long(at.child("reason"), LONGEST_REASON));
            }
        }
        if text(condition, "message").len() > LONGEST_MESSAGE {
            errors.push(FieldError::too_long(at.child("message"), LONGEST_MESSAGE));
        }
    });
}

fn is_reason(reason: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':');
    reason.bytes().all(inner)
        && reason.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && reason.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Counts that must not be negative.
pub(in crate::kinds) fn counts(errors: &mut Errors, status: &Object, at: Path<'_>, keys: &[&str]) {
    for key in keys {
        not_negative(errors, status, key, at);
    }
}

/// A count that must not be more than another one, which the message names.
pub(in crate::kinds) fn at_most(
    errors: &mut Errors,
    status: &Object,
    at: Path<'_>,
    (key, most, called): (&str, &str, &str),
) {
    let count = |key| integer(status, key).unwrap_or_default();
    if count(key) > count(most) {
        let why = format!("cannot be greater than {called}");
        errors.push(FieldError::invalid(at.child(key), BadValue::number(count(key)), why));
    }
}

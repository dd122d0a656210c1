//! What is wrong with what a job makes of failures and successes of its pods.

use std::collections::BTreeSet;

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, each, each_item, json, list_json, not_negative, supported, too_many, unshown, within,
};
use super::super::read::{absent, below, child, integer, items, list, text};
use crate::strategy::Object;

const MOST_RULES: usize = 20;

/// A text that must be there and be one of these; what is missing is told with all that there is.
fn one_of(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>, known: &[&str]) {
    match text(object, key) {
        "" => {
            let known: Vec<String> = known.iter().map(|text| Quoted(text).to_string()).collect();
            errors.push(FieldError::required(at.child(key), format!("valid values: [{}]", known.join(" "))));
        }
        text => supported(errors, text, at.child(key), known),
    }
}

pub(super) fn check_failure_policy(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    within(spec, "podFailurePolicy", at, |policy, at| {
        let count = list(policy, "rules").len();
        if count > MOST_RULES {
            errors.push(too_many(at.child("rules"), count, MOST_RULES));
        }
        each_item(policy, "rules", at, |rule, at| check_failure_rule(errors, spec, rule, at));
    });
}

fn check_failure_rule(errors: &mut Errors, spec: &Object, rule: &Object, at: Path<'_>) {
    if text(rule, "action") == "FailIndex" {
        if absent(spec, "backoffLimitPerIndex") {
            let why = "requires the backoffLimitPerIndex to be set";
            errors.push(FieldError::invalid(at.child("action"), BadValue::typed_text("FailIndex"), why));
        }
    } else {
        one_of(errors, rule, "action", at, &["Count", "FailIndex", "FailJob", "Ignore"]);
    }
    within(rule, "onExitCodes", at, |codes, at| check_exit_codes(errors, spec, codes, at));
    let conditions = list(rule, "onPodConditions").len();
    if conditions > MOST_RULES {
        errors.push(too_many(at.child("onPodConditions"), conditions, MOST_RULES));
    }
    each_item(rule, "onPodConditions", at, |pattern, at| {
        let kind = text(pattern, "type");
        each(errors, at.child("type"), kind, names::label_key(kind));
        one_of(errors, pattern, "status", at, &["False", "True", "Unknown"]);
    });
    match (child(rule, "onExitCodes").is_some(), conditions > 0) {
        (true, true) => {
            errors.push(unshown(at, "specifying both OnExitCodes and OnPodConditions is not supported"));
        }
        (false, false) => {
            errors.push(unshown(at, "specifying one of OnExitCodes and OnPodConditions is required"));
        }
        _ => {}
    }
}

fn check_exit_codes(errors: &mut Errors, spec: &Object, codes: &Object, at: Path<'_>) {
    const MOST_CODES: usize = 255;
    one_of(errors, codes, "operator", at, &["In", "NotIn"]);
    if let Some(name) = codes.get("containerName").and_then(Value::as_str) {
        let pod = below(spec, &["template", "spec"]);
        let mut containers = ["containers", "initContainers"]
            .into_iter()
            .flat_map(|kind| pod.into_iter().flat_map(|pod| items(pod, kind)));
        if !containers.any(|container| text(container, "name") == name) {
            let why = "must be one of the container or initContainer names in the pod template";
            errors.push(FieldError::invalid(at.child("containerName"), name, why));
        }
    }
    let values_at = at.child("values");
    let values: Vec<i64> = list(codes, "values").iter().filter_map(Value::as_i64).collect();
    match values.len() {
        0 => errors.push(FieldError::invalid(values_at, list_json(codes, "values"), "at least one value is required")),
        count if count > MOST_CODES => errors.push(too_many(values_at, count, MOST_CODES)),
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for (i, value) in values.iter().enumerate() {
        if *value == 0 && text(codes, "operator") == "In" {
            errors.push(FieldError::invalid(values_at.index(i), json(0), "must not be 0 for the In operator"));
        }
        if !seen.insert(value) {
            errors.push(FieldError::duplicate(values_at.index(i), json(value)));
        }
    }
    if !values.is_sorted() {
        errors.push(FieldError::invalid(values_at, list_json(codes, "values"), "must be ordered"));
    }
}

pub(super) fn check_success_policy(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let Some(policy) = child(spec, "successPolicy") else { return };
    let at = at.child("successPolicy");
    if text(spec, "completionMode") != "Indexed" {
        let shown =
            super::super::internal::shown("batch", "Job", &["spec", "successPolicy"], spec.get("successPolicy"));
        errors.push(FieldError::invalid(at, json(shown), "requires indexed completion mode"));
        return;
    }
    // Kubernetes itself fails where a job has rules and no completions.
    let completions = integer(spec, "completions").unwrap_or_default();
    match list(policy, "rules").len() {
        0 => {
            let why = "at least one rules must be specified when the successPolicy is specified";
            errors.push(FieldError::required(at.child("rules"), why));
        }
        count if count > MOST_RULES => errors.push(too_many(at.child("rules"), count, MOST_RULES)),
        _ => {}
    }
    each_item(policy, "rules", at, |rule, at| check_success_rule(errors, rule, completions, at));
}

fn check_success_rule(errors: &mut Errors, rule: &Object, completions: i64, at: Path<'_>) {
    const LONGEST: usize = 64 * 1024;
    let indexes = rule.get("succeededIndexes").and_then(Value::as_str);
    let wanted = integer(rule, "succeededCount");
    if indexes.is_none() && wanted.is_none() {
        let why = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(at, why));
    }
    let mut total = 0;
    if let Some(text) = indexes {
        let at = at.child("succeededIndexes");
        if text.len() > LONGEST {
            errors.push(FieldError::too_long(at, LONGEST));
        }
        match count_indexes(text, completions) {
            Ok(count) => total = count,
            Err(why) => {
                errors.push(FieldError::invalid(at, text, format!("error parsing succeededIndexes: {why}")));
            }
        }
    }
    let Some(wanted) = wanted else { return };
    not_negative(errors, rule, "succeededCount", at);
    let mut at_most = |most: i64, what: &str| {
        if wanted > most {
            let why = format!("must be less than or equal to {most} ({what})");
            errors.push(FieldError::invalid(at.child("succeededCount"), json(wanted), why));
        }
    };
    at_most(completions, "the number of specified completions");
    if indexes.is_some() {
        at_most(total, "the number of indexes in the specified succeededIndexes field");
    }
}

/// How many indexes a text such as `1,3-5` names.
pub(super) fn count_indexes(text: &str, completions: i64) -> Result<i64, String> {
    let (mut last, mut total) = (None, 0_i64);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let (from, to) = interval_of(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= from) {
            return Err(format!("non-increasing order, previous: {last}, current: {from}"));
        }
        total = total.saturating_add(to - from + 1);
        last = Some(to);
    }
    Ok(total)
}

/// One index, or the first and last of several.
pub(super) fn interval_of(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let read = |text: &str| {
        // As Go reads numbers: a sign may come first.
        let number: i64 =
            text.parse().map_err(|_| format!("cannot convert string to integer for index: {}", Quoted(text)))?;
        if number >= completions { Err(format!("too large index: {}", Quoted(text))) } else { Ok(number) }
    };
    match text.split('-').collect::<Vec<_>>().as_slice() {
        [one] => read(one).map(|index| (index, index)),
        [from, to] => {
            let (from, to) = (read(from)?, read(to)?);
            if from >= to {
                return Err(format!("non-increasing order, previous: {from}, current: {to}"));
            }
            Ok((from, to))
        }
        _ => Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            Quoted(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted() {
        assert_eq!(count_indexes("", 5), Ok(0));
        assert_eq!(count_indexes("0,2-4", 5), Ok(4));
        for (text, why) in [
            ("5", "too large index: \"5\""),
            ("x", "cannot convert string to integer for index: \"x\""),
            ("2,1", "non-increasing order, previous: 2, current: 1"),
            ("3-3", "non-increasing order, previous: 3, current: 3"),
        ] {
            assert_eq!(count_indexes(text, 5), Err(why.to_owned()), "{text}");
        }
    }
}

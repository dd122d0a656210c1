//! What is wrong with the status of a job.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, counts, each_text, json, unshown, within};
use super::super::internal;
use super::super::read::{absent, child, flag, integer, items, list, text};
use super::policies::{count_indexes, interval_of};
use crate::strategy::Object;

const STATUS: Path<'static> = Path::Field(&Path::Root, "status");

/// Which conditions a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "any of them can be there")]
struct State {
    complete: bool,
    failed: bool,
    failing: bool,
    succeeding: bool,
}

fn is(status: &Object, kind: &str) -> bool {
    items(status, "conditions").any(|condition| text(condition, "type") == kind && text(condition, "status") == "True")
}

impl State {
    fn of(status: &Object) -> Self {
        Self {
            complete: is(status, "Complete"),
            failed: is(status, "Failed"),
            failing: is(status, "FailureTarget"),
            succeeding: is(status, "SuccessCriteriaMet"),
        }
    }

    fn finished(self) -> bool {
        self.complete || self.failed
    }
}

/// What was wrong before may stay wrong as long as it does not change.
pub(in super::super) fn job(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (spec, new) = (child(object, "spec").unwrap_or(&empty), child(object, "status").unwrap_or(&empty));
    let old = child(old, "status").unwrap_or(&empty);
    counts(&mut errors, new, STATUS, &["active", "succeeded", "failed", "ready", "terminating"]);
    check_uncounted(&mut errors, new);
    check_state(&mut errors, spec, new, old);
    check_indexes(&mut errors, spec, new, old);
    let (now, before) = (State::of(new), State::of(old));
    let changed = |key: &str| new.get(key).filter(|it| !it.is_null()) != old.get(key).filter(|it| !it.is_null());
    let number = |status: &Object, key| integer(status, key).unwrap_or_default();
    let ended = now.finished() != before.finished();
    if (ended || changed("terminating")) && now.finished() && number(new, "terminating") > 0 {
        let why = "terminating>0 is invalid for finished job";
        errors.push(FieldError::invalid(STATUS.child("terminating"), json(number(new, "terminating")), why));
    }
    if (changed("ready") || number(new, "active") != number(old, "active"))
        && integer(new, "ready").is_some_and(|ready| ready > number(new, "active"))
    {
        let why = "cannot set more ready pods than active";
        errors.push(FieldError::invalid(STATUS.child("ready"), json(number(new, "ready")), why));
    }
    let conditions = STATUS.child("conditions");
    if now.succeeding && now.failed {
        errors.push(unshown(conditions, "cannot set SuccessCriteriaMet=True and Failed=true conditions"));
    }
    if now.succeeding && now.failing {
        errors.push(unshown(conditions, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"));
    }
    if !absent(spec, "successPolicy") && !now.succeeding && now.complete {
        let why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        errors.push(unshown(conditions, why));
    }
    check_transition(&mut errors, spec, new, old);
    errors
}

fn check_uncounted(errors: &mut Errors, status: &Object) {
    let mut seen = BTreeSet::new();
    within(status, "uncountedTerminatedPods", STATUS, |pods, at| {
        for key in ["succeeded", "failed"] {
            each_text(pods, key, at, |uid, at| {
                if uid.is_empty() {
                    errors.push(FieldError::invalid(at, BadValue::typed_text(uid), "must not be empty"));
                } else if !seen.insert(uid) {
                    errors.push(FieldError::duplicate(at, BadValue::typed_text(uid)));
                }
            });
        }
    });
}

fn check_state(errors: &mut Errors, spec: &Object, new: &Object, old: &Object) {
    let (now, before) = (State::of(new), State::of(old));
    let changed = |key: &str| new.get(key).filter(|it| !it.is_null()) != old.get(key).filter(|it| !it.is_null());
    let completed = now.complete != before.complete;
    let conditions = STATUS.child("conditions");
    if (completed || now.failed != before.failed) && now.complete && now.failed {
        errors.push(unshown(conditions, "cannot set Complete=True and Failed=true conditions"));
    }
    if (completed || now.failing != before.failing) && now.complete && now.failing {
        errors.push(unshown(conditions, "cannot set Complete=True and FailureTarget=true conditions"));
    }
    let ends = STATUS.child("completionTime");
    let (start, end) = (text(new, "startTime"), text(new, "completionTime"));
    let shown = |text: &str| if text.is_empty() { BadValue::null() } else { json(Value::from(text)) };
    if completed || changed("completionTime") {
        if !end.is_empty() && !now.complete {
            let why = "cannot set completionTime when there is no Complete=True condition";
            errors.push(FieldError::invalid(ends, shown(end), why));
        }
        if end.is_empty() && now.complete {
            errors.push(FieldError::required(ends, "completionTime is required for Complete jobs"));
        }
    }
    // Both are times of the same form, of which the later one is the greater text.
    if (changed("startTime") || changed("completionTime")) && !start.is_empty() && !end.is_empty() && end < start {
        errors.push(FieldError::invalid(ends, shown(end), "must be equal to or after `startTime`"));
    }
    let failed_indexes = new.get("failedIndexes") != old.get("failedIndexes");
    if (now.failed != before.failed || failed_indexes) && now.failed && !now.failing {
        let why = "cannot set Failed=True condition without the FailureTarget=true condition";
        errors.push(unshown(conditions, why));
    }
    if (completed || now.succeeding != before.succeeding) && now.complete && !now.succeeding {
        let why = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        errors.push(unshown(conditions, why));
    }
    let ended = now.finished() != before.finished();
    let active = integer(new, "active").unwrap_or_default();
    if (ended || active != integer(old, "active").unwrap_or_default()) && active > 0 && now.finished() {
        errors.push(FieldError::invalid(STATUS.child("active"), json(active), "active>0 is invalid for finished job"));
    }
    let idle = flag(spec, "suspend") && integer(spec, "completions") == Some(0);
    if (ended || changed("startTime")) && !idle && start.is_empty() && now.finished() {
        errors.push(FieldError::required(STATUS.child("startTime"), "startTime is required for finished job"));
    }
    let uncounted = child(new, "uncountedTerminatedPods");
    let some = |pods: &Object| !list(pods, "succeeded").is_empty() || !list(pods, "failed").is_empty();
    if (ended || changed("uncountedTerminatedPods")) && now.finished() && uncounted.is_some_and(some) {
        let path = ["status", "uncountedTerminatedPods"];
        let shown = json(internal::shown("batch", "Job", &path, new.get("uncountedTerminatedPods")));
        let why = "must be empty for finished job";
        errors.push(FieldError::invalid(STATUS.child("uncountedTerminatedPods"), shown, why));
    }
}

fn check_indexes(errors: &mut Errors, spec: &Object, new: &Object, old: &Object) {
    let completions = integer(spec, "completions");
    let per_index = !absent(spec, "backoffLimitPerIndex");
    let done = text(new, "completedIndexes");
    let failed = new.get("failedIndexes").and_then(Value::as_str);
    let done_changed = done != text(old, "completedIndexes");
    let failed_changed = failed != old.get("failedIndexes").and_then(Value::as_str);
    let (done_at, failed_at) = (STATUS.child("completedIndexes"), STATUS.child("failedIndexes"));
    if let Some(Err(why)) = completions.filter(|_| done_changed).map(|most| count_indexes(done, most)) {
        errors.push(FieldError::invalid(done_at, done, format!("error parsing completedIndexes: {why}")));
    }
    if let (Some(most), Some(failed), true) = (completions, failed, failed_changed && per_index)
        && let Err(why) = count_indexes(failed, most)
    {
        errors.push(FieldError::invalid(failed_at, failed, format!("error parsing failedIndexes: {why}")));
    }
    if done_changed && !done.is_empty() && text(spec, "completionMode") != "Indexed" {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(FieldError::invalid(done_at, done, why));
    }
    if let Some(failed) = failed.filter(|_| failed_changed && !per_index) {
        let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(FieldError::invalid(failed_at, failed, why));
    }
    if let (Some(most), Some(failed), true) = (completions, failed, done_changed || failed_changed)
        && let Some(index) = overlap(done, failed, most)
    {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.push(FieldError::invalid(failed_at, failed, why));
    }
}

/// The first index that both name, as far as they can be read.
fn overlap(done: &str, failed: &str, completions: i64) -> Option<i64> {
    let read = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|interval| interval_of(interval, completions).ok()).collect()
    };
    let (done, failed) = (read(done), read(failed));
    let (mut done, mut failed) = (done.iter().peekable(), failed.iter().peekable());
    while let (Some(a), Some(b)) = (done.peek(), failed.peek()) {
        if a.0 <= b.1 && b.0 <= a.1 {
            return Some(a.0.max(b.0));
        }
        if a.0 <= b.0 {
            done.next()
        } else {
            failed.next()
        };
    }
    None
}

fn check_transition(errors: &mut Errors, spec: &Object, new: &Object, old: &Object) {
    let conditions = STATUS.child("conditions");
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if is(old, kind) && !is(new, kind) {
            errors.push(unshown(conditions, &format!("cannot disable the terminal {kind}=True condition")));
        }
    }
    let number = |status: &Object, key| integer(status, key).unwrap_or_default();
    let scalable =
        text(spec, "completionMode") == "Indexed" && integer(spec, "completions") == integer(spec, "parallelism");
    for (key, strict) in [("failed", true), ("succeeded", !scalable)] {
        if strict && number(new, key) < number(old, key) {
            let why = format!("cannot decrease the {key} counter");
            errors.push(FieldError::invalid(STATUS.child(key), json(number(new, key)), why));
        }
    }
    let time = |status: &Object, key: &str| status.get(key).filter(|time| !time.is_null()).cloned();
    let shown = |key| time(new, key).map_or_else(BadValue::null, json);
    let (end, end_before) = (time(new, "completionTime"), time(old, "completionTime"));
    if end.is_some() && end_before.is_some() && end != end_before {
        errors.push(FieldError::invalid(STATUS.child("completionTime"), shown("completionTime"), IMMUTABLE));
    }
    let suspended = |status: &Object, wanted: &str| {
        let is = |condition: &Object| text(condition, "type") == "Suspended" && text(condition, "status") == wanted;
        items(status, "conditions").any(is)
    };
    let resumes = suspended(old, "True") && suspended(new, "False");
    let (start, start_before) = (time(new, "startTime"), time(old, "startTime"));
    if start_before.is_some() && start != start_before && !resumes && !flag(spec, "suspend") {
        let why = "field is immutable for unsuspended job once set";
        errors.push(FieldError::invalid(STATUS.child("startTime"), shown("startTime"), why));
    }
    let (now, before) = (State::of(new), State::of(old));
    if before.succeeding && !now.succeeding {
        errors.push(unshown(conditions, "cannot disable the SuccessCriteriaMet=True condition"));
    }
    if before.complete && !before.succeeding && now.succeeding {
        let why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.push(unshown(conditions, why));
    }
}

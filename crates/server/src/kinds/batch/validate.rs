//! What is wrong with a job or cron job.

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{
    Errors, chooses, immutable, immutable_selector, json, map_json, not_negative, one_of, selector, supported,
};
use super::super::pod::validate::check_template;
use super::super::read::{absent, below, child, integer, text};
use super::super::semantic;
use super::schedule;
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn job(object: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(spec) = child(object, "spec") {
        check_selected_job(&mut errors, spec);
    }
    errors
}

fn check_selected_job(errors: &mut Errors, spec: &Object) {
    check_job(errors, spec, SPEC);
    if absent(spec, "selector") {
        errors.push(FieldError::required(SPEC.child("selector"), ""));
    }
    selector(errors, spec, "selector", SPEC);
    let labels = below(spec, &["template", "metadata", "labels"]);
    if child(spec, "selector").is_none_or(|selector| chooses(selector, labels) == Some(false)) {
        let template = SPEC.child("template");
        let metadata = template.child("metadata");
        let why = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(metadata.child("labels"), map_json(labels), why));
    }
}

pub(in super::super) fn job_update(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) else { return errors };
    check_selected_job(&mut errors, spec);
    if text(spec, "completionMode") != "Indexed" {
        immutable(&mut errors, spec, old, "completions", SPEC);
    }
    immutable_selector(&mut errors, spec, old, SPEC);
    // A suspended job may still be changed in part.
    let suspended = old.get("suspend") == Some(&Value::from(true));
    if let Some(ty) = spec_type().filter(|_| !suspended)
        && !semantic::same_at(ty, spec, old, "template")
    {
        let shown = json(spec.get("template").unwrap_or(&Value::Null));
        errors.push(FieldError::invalid(SPEC.child("template"), shown, super::super::check::IMMUTABLE));
    }
    immutable(&mut errors, spec, old, "completionMode", SPEC);
    immutable(&mut errors, spec, old, "backoffLimitPerIndex", SPEC);
    immutable(&mut errors, spec, old, "managedBy", SPEC);
    errors
}

fn spec_type() -> Option<&'static Type> {
    match type_of("batch", "v1", "Job")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    }
}

fn check_job(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    for key in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        not_negative(errors, spec, key, at);
    }
    if !absent(spec, "maxFailedIndexes") && absent(spec, "backoffLimitPerIndex") {
        errors.push(FieldError::required(at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
    }
    let mode = spec.get("completionMode").and_then(Value::as_str);
    if let Some(mode) = mode {
        supported(errors, mode, at.child("completionMode"), &["NonIndexed", "Indexed"]);
        if mode == "Indexed" && absent(spec, "completions") {
            errors.push(FieldError::required(at.child("completions"), "when completion mode is Indexed"));
        }
    }
    if matches!(mode, None | Some("NonIndexed")) {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(number) = integer(spec, key) {
                errors.push(FieldError::invalid(at.child(key), json(number), "requires indexed completion mode"));
            }
        }
    }
    if let Some(policy) = spec.get("podReplacementPolicy").and_then(Value::as_str) {
        let known: &[&str] =
            if absent(spec, "podFailurePolicy") { &["Failed", "TerminatingOrFailed"] } else { &["Failed"] };
        supported(errors, policy, at.child("podReplacementPolicy"), known);
    }
    let Some(template) = child(spec, "template") else { return };
    let template_at = at.child("template");
    check_template(errors, template, template_at);
    let pod = template_at.child("spec");
    let at = pod.child("restartPolicy");
    match child(template, "spec").map(|spec| text(spec, "restartPolicy")).unwrap_or_default() {
        "" | "Always" => errors.push(FieldError::required(at, "valid values: \"OnFailure\", \"Never\"")),
        "Never" => {}
        "OnFailure" if absent(spec, "podFailurePolicy") => {}
        "OnFailure" => {
            let why = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(FieldError::invalid(at, rolewright_core::validate::BadValue::typed_text("OnFailure"), why));
        }
        policy => supported(errors, policy, at, &["OnFailure", "Never"]),
    }
}

pub(in super::super) fn cron_job(object: &Object) -> Errors {
    let mut errors = check_cron_job(object, None);
    let name = child(object, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    if name.len() > 52 {
        let metadata = Path::field("metadata");
        errors.push(FieldError::invalid(metadata.child("name"), name, "must be no more than 52 characters"));
    }
    errors
}

pub(in super::super) fn cron_job_update(object: &Object, old: &Object) -> Errors {
    check_cron_job(object, child(old, "spec"))
}

fn check_cron_job(object: &Object, old: Option<&Object>) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    let at = SPEC.child("schedule");
    match text(spec, "schedule") {
        "" => errors.push(FieldError::required(at, "")),
        schedule => {
            errors.extend(schedule::fault(schedule).map(|why| FieldError::invalid(at, schedule, why)));
            let had_zone = old.is_some_and(|old| text(old, "schedule").contains("TZ"));
            let why = match schedule.contains("TZ") {
                true if !had_zone => Some("cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
                true if !absent(spec, "timeZone") => {
                    Some("cannot use both timeZone field and TZ or CRON_TZ in schedule")
                }
                _ => None,
            };
            errors.extend(why.map(|why| FieldError::invalid(at, schedule, why)));
        }
    }
    not_negative(&mut errors, spec, "startingDeadlineSeconds", SPEC);
    one_of(&mut errors, spec, "concurrencyPolicy", SPEC, &["Allow", "Forbid", "Replace"]);
    let template = SPEC.child("jobTemplate");
    if let Some(job) = below(spec, &["jobTemplate", "spec"]) {
        check_job(&mut errors, job, template.child("spec"));
    }
    not_negative(&mut errors, spec, "successfulJobsHistoryLimit", SPEC);
    not_negative(&mut errors, spec, "failedJobsHistoryLimit", SPEC);
    errors
}

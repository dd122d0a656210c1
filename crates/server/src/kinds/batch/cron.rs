//! What is wrong with a cron job.

use rolewright_core::validate::{FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, json, not_negative, one_of, selector_json};
use super::super::read::{absent, below, child, flag, text};
use super::schedule;
use super::validate::check_job;
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

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
    let zone = |spec: &Object| spec.get("timeZone").and_then(Value::as_str).map(str::to_owned);
    if let Some(zone) = zone(spec).filter(|_| old.is_none_or(|old| zone(old) != zone(spec))) {
        check_zone(&mut errors, &zone, SPEC.child("timeZone"));
    }
    one_of(&mut errors, spec, "concurrencyPolicy", SPEC, &["Allow", "Forbid", "Replace"]);
    let template = SPEC.child("jobTemplate");
    if let Some(job) = below(spec, &["jobTemplate", "spec"]) {
        let at = template.child("spec");
        check_job(&mut errors, job, at);
        if let Some(selector) = child(job, "selector") {
            let shown = json(selector_json(Some(selector)));
            errors.push(FieldError::invalid(at.child("selector"), shown, "`selector` will be auto-generated"));
        }
        if flag(job, "manualSelector") {
            errors.push(FieldError::not_supported(at.child("manualSelector"), json(true), &["nil", "false"]));
        }
    }
    not_negative(&mut errors, spec, "successfulJobsHistoryLimit", SPEC);
    not_negative(&mut errors, spec, "failedJobsHistoryLimit", SPEC);
    errors
}

/// The name of a time zone. Which of them exist is up to the database of the machine that Kubernetes runs on; here any
/// that could be the name of one does.
fn check_zone(errors: &mut Errors, zone: &str, at: Path<'_>) {
    let is_part = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
        !matches!(part, "." | "..")
            && !part.starts_with('-')
            && (1..=14).contains(&part.len())
            && part.bytes().all(inner)
    };
    let why = if zone.is_empty() {
        "timeZone must be nil or non-empty string".to_owned()
    } else if !zone.split('/').all(is_part) {
        format!("unknown time zone {zone}")
    } else if zone.eq_ignore_ascii_case("Local") {
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones".to_owned()
    } else {
        return;
    };
    errors.push(FieldError::invalid(at, zone, why));
}

//! What is wrong with a job.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, chooses, json, map_json, not_negative, selector, selector_json, supported, supported_if,
};
use super::super::networking::ingress::check_domain_path;
use super::super::pod::validate::check_template;
use super::super::read::{absent, below, child, flag, integer, text};
use super::policies::{check_failure_policy, check_success_policy};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn job(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_generated(&mut errors, object, spec, true);
    check_selected_job(&mut errors, spec);
    let name = child(object, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    let completions = integer(spec, "completions").filter(|completions| *completions > 0);
    if let (Some(completions), "Indexed") = (completions, text(spec, "completionMode")) {
        let longest = format!("{name}-{}", completions - 1);
        if !names::dns_label(&longest).is_empty() {
            let metadata = Path::field("metadata");
            let why = format!("will not able to create pod with invalid DNS label: {longest}");
            errors.push(FieldError::invalid(metadata.child("name"), name, why));
        }
    }
    errors
}

/// Labels and selector that the server makes; `prefixed` where those with a domain must be there too.
pub(super) fn check_generated(errors: &mut Errors, object: &Object, spec: &Object, prefixed: bool) {
    let Some(selector) = child(spec, "selector").filter(|_| !flag(spec, "manualSelector")) else { return };
    let metadata = child(object, "metadata");
    let of = |key| metadata.map(|metadata| text(metadata, key)).unwrap_or_default();
    let wanted = [
        ("controller-uid", of("uid")),
        ("job-name", of("name")),
        ("batch.kubernetes.io/controller-uid", of("uid")),
        ("batch.kubernetes.io/job-name", of("name")),
    ];
    let wanted = wanted.get(..if prefixed { 4 } else { 2 }).unwrap_or_default();
    let labels = below(spec, &["template", "metadata", "labels"]);
    let template = SPEC.child("template");
    let at = template.child("metadata");
    let at = at.child("labels");
    for (key, value) in wanted {
        let why = format!("must be '{value}'");
        match labels.and_then(|labels| labels.get(*key)).and_then(Value::as_str) {
            None => errors.push(FieldError::required(at.key(key), why)),
            Some(given) if given != *value => errors.push(FieldError::invalid(at.key(key), map_json(labels), why)),
            Some(_) => {}
        }
    }
    let expected = wanted.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
    if chooses(selector, Some(&expected)) == Some(false) {
        let shown = json(selector_json(Some(selector)));
        errors.push(FieldError::invalid(SPEC.child("selector"), shown, "`selector` not auto-generated"));
    }
}

pub(super) fn check_selected_job(errors: &mut Errors, spec: &Object) {
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

pub(super) fn check_job(errors: &mut Errors, spec: &Object, at: Path<'_>) {
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
    if let Some(manager) = spec.get("managedBy").and_then(Value::as_str) {
        check_domain_path(errors, manager, at.child("managedBy"));
        if manager.len() > names::LABEL_MAX {
            errors.push(FieldError::too_long(at.child("managedBy"), names::LABEL_MAX));
        }
    }
    let mode = spec.get("completionMode").and_then(Value::as_str);
    if let Some(mode) = mode {
        supported(errors, mode, at.child("completionMode"), &["NonIndexed", "Indexed"]);
        if mode == "Indexed" {
            check_indexed(errors, spec, at);
        }
    }
    if matches!(mode, None | Some("NonIndexed")) {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(number) = integer(spec, key) {
                errors.push(FieldError::invalid(at.child(key), json(number), "requires indexed completion mode"));
            }
        }
    }
    check_failure_policy(errors, spec, at);
    check_success_policy(errors, spec, at);
    let known: &[&str] =
        if absent(spec, "podFailurePolicy") { &["Failed", "TerminatingOrFailed"] } else { &["Failed"] };
    supported_if(errors, spec, "podReplacementPolicy", at, known);
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

/// A job whose pods have numbers.
fn check_indexed(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    const MOST: i64 = 100_000;
    const MOST_OF_MANY: i64 = 10_000;
    let (parallelism, failed) = (integer(spec, "parallelism"), integer(spec, "maxFailedIndexes"));
    let completions = integer(spec, "completions");
    if completions.is_none() {
        errors.push(FieldError::required(at.child("completions"), "when completion mode is Indexed"));
    }
    let mut at_most = |key, number: Option<i64>, most: i64, why: String| {
        if let Some(number) = number.filter(|number| *number > most) {
            errors.push(FieldError::invalid(at.child(key), json(number), why));
        }
    };
    let why = format!("must be less than or equal to {MOST}");
    at_most("parallelism", parallelism, MOST, format!("{why} when completion mode is Indexed"));
    if let Some(completions) = completions {
        at_most("maxFailedIndexes", failed, completions, "must be less than or equal to completions".to_owned());
    }
    at_most("maxFailedIndexes", failed, MOST, why);
    if completions.is_some_and(|completions| completions > MOST) && !absent(spec, "backoffLimitPerIndex") {
        let why = format!(
            "must be less than or equal to {MOST_OF_MANY} when completions are above {MOST} and used with backoff limit \
             per index"
        );
        if failed.is_none() {
            let why = format!("must be specified when completions is above {MOST}");
            errors.push(FieldError::required(at.child("maxFailedIndexes"), why));
        }
        for (key, number) in [("parallelism", parallelism), ("maxFailedIndexes", failed)] {
            if let Some(number) = number.filter(|number| *number > MOST_OF_MANY) {
                errors.push(FieldError::invalid(at.child(key), json(number), why.clone()));
            }
        }
    }
}

//! What is wrong with a change of a job.

use rolewright_core::validate::{FieldError, Path};

use super::super::check::{Errors, IMMUTABLE, immutable, immutable_selector, json};
use super::super::internal;
use super::super::read::{below, child, child_mut, flag, integer, items, items_mut, known_mut, list, text};
use super::super::semantic;
use super::validate::{check_generated, check_selected_job, job};
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn job_update(object: &Object, old_object: &Object) -> Errors {
    let (Some(spec), Some(old)) = (child(object, "spec"), child(old_object, "spec")) else { return Errors::new() };
    let mut errors = job(object);
    let had = |label: &str| below(old, &["template", "metadata", "labels"]).is_some_and(|all| all.contains_key(label));
    if !had("batch.kubernetes.io/job-name") || !had("batch.kubernetes.io/controller-uid") {
        // Such a job is older than these labels.
        errors.clear();
        check_generated(&mut errors, object, spec, false);
        check_selected_job(&mut errors, spec);
    }
    if text(spec, "completionMode") != "Indexed" {
        immutable(&mut errors, spec, old, "completions", SPEC);
    } else if let Some(completions) = integer(spec, "completions")
        && integer(old, "completions") != Some(completions)
        && integer(spec, "parallelism") != Some(completions)
    {
        let why = "can only be modified in tandem with spec.parallelism";
        errors.push(FieldError::invalid(SPEC.child("completions"), json(completions), why));
    }
    immutable_selector(&mut errors, spec, old, SPEC);
    check_template_change(&mut errors, spec, old, old_object);
    immutable(&mut errors, spec, old, "completionMode", SPEC);
    immutable_part(&mut errors, spec, old, "podFailurePolicy");
    immutable(&mut errors, spec, old, "backoffLimitPerIndex", SPEC);
    immutable(&mut errors, spec, old, "managedBy", SPEC);
    immutable_part(&mut errors, spec, old, "successPolicy");
    errors
}

fn spec_type() -> Option<&'static Type> {
    match type_of("batch", "v1", "Job")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    }
}

fn immutable_part(errors: &mut Errors, spec: &Object, old: &Object, key: &str) {
    if spec_type().is_some_and(|ty| !semantic::same_at(ty, spec, old, key)) {
        let shown = match spec.get(key) {
            Some(value) if !value.is_null() => internal::shown("batch", "Job", &["spec", key], Some(value)),
            _ => "null".to_owned(),
        };
        errors.push(FieldError::invalid(SPEC.child(key), json(shown), IMMUTABLE));
    }
}

/// While a job is suspended and none of its pods runs, it may be said anew where they run and how much they need.
fn check_template_change(errors: &mut Errors, spec: &Object, old: &Object, old_object: &Object) {
    let status = child(old_object, "status");
    let started = status.is_some_and(|status| !text(status, "startTime").is_empty());
    let condition = |condition: &Object| text(condition, "type") == "Suspended" && text(condition, "status") == "True";
    let paused = status.is_some_and(|status| items(status, "conditions").any(condition));
    let active = status.and_then(|status| integer(status, "active")).unwrap_or_default();
    let free = flag(old, "suspend") && (!started || paused) && active == 0;
    let mut before = old.clone();
    if free && let (Some(new), Some(old)) = (child(spec, "template"), known_mut(&mut before, "template")) {
        take_directives(old, new);
    }
    let Some(ty) = spec_type() else { return };
    if semantic::same_at(ty, spec, &before, "template") {
        return;
    }
    let template = SPEC.child("template");
    let shown = |path: &[&str], value| json(internal::shown("batch", "Job", path, value));
    if free {
        let value = child(spec, "template").and_then(|template| template.get("spec"));
        let at = Path::field("spec.template.spec");
        errors.push(FieldError::invalid(at, shown(&["spec", "template", "spec"], value), IMMUTABLE));
    } else {
        let shown = shown(&["spec", "template"], spec.get("template"));
        errors.push(FieldError::invalid(template, shown, IMMUTABLE));
    }
}

/// Takes over what may change, so that only the rest is compared.
fn take_directives(old: &mut Object, new: &Object) {
    let take = |old: &mut Object, new: Option<&Object>, keys: &[&str]| {
        for key in keys {
            match new.and_then(|new| new.get(*key)) {
                Some(value) => old.insert((*key).to_owned(), value.clone()),
                None => old.remove(*key),
            };
        }
    };
    if let Some(metadata) = child_mut(old, "metadata") {
        take(metadata, child(new, "metadata"), &["annotations", "labels"]);
    }
    let (Some(old), Some(new)) = (known_mut(old, "spec"), child(new, "spec")) else { return };
    take(old, Some(new), &["nodeSelector", "tolerations", "schedulingGates"]);
    let affinity = child(new, "affinity");
    if affinity.is_some() || child(old, "affinity").is_some() {
        if let Some(old) = child_mut(old, "affinity") {
            take(old, affinity, &["nodeAffinity"]);
        }
        if affinity.is_none() && child(old, "affinity").is_some_and(Object::is_empty) {
            old.remove("affinity");
        }
    }
    for kind in ["containers", "initContainers"] {
        if list(new, kind).len() != list(old, kind).len() {
            continue;
        }
        for (old, new) in items_mut(old, kind).zip(items(new, kind)) {
            if text(old, "name") == text(new, "name") {
                take(old, Some(new), &["resources"]);
            }
        }
    }
}

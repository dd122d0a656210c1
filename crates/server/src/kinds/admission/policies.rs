//! What is wrong with an admission policy. Expressions in CEL are not compiled here.

use std::collections::BTreeSet;

use rolewright_cel::is_identifier;
use rolewright_core::validate::{FieldError, Path, names};

use super::super::check::{Errors, conditions, each, each_item, label_1035, one_of, supported_if, within};
use super::super::read::{absent, child, list, text};
use super::matching::{MUTABLE, check_operations, check_resources};
use super::rules::check_conditions;
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const BLANK: &str = "must be non-empty if specified";

pub(in super::super) fn validating(object: &Object) -> Errors {
    check_validating(object, None)
}

pub(in super::super) fn validating_update(object: &Object, old: &Object) -> Errors {
    check_validating(object, Some(old))
}

fn check_validating(object: &Object, old: Option<&Object>) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_common(&mut errors, spec, old, &[]);
    let (validations, annotations) = (list(spec, "validations"), list(spec, "auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        for key in ["validations", "auditAnnotations"] {
            let why = "validations or auditAnnotations must contain at least one item";
            errors.push(FieldError::required(SPEC.child(key), why));
        }
        return errors;
    }
    each_item(spec, "validations", SPEC, |validation, at| check_validation(&mut errors, validation, at));
    if annotations.len() > 20 {
        let shown = super::super::check::json(serde_json::Value::from(annotations.to_vec()));
        let why = "must not have more than 20 auditAnnotations";
        errors.push(FieldError::invalid(SPEC.child("auditAnnotations"), shown, why));
    }
    let policy = child(object, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    let mut seen = BTreeSet::new();
    each_item(spec, "auditAnnotations", SPEC, |annotation, at| {
        let key = text(annotation, "key");
        if policy.is_empty() {
            errors.push(FieldError::invalid(at.child("key"), key, "requires metadata.name be non-empty"));
        } else {
            let whole = format!("{policy}/{key}");
            each(&mut errors, at.child("key"), &whole, names::label_key(&whole));
        }
        match text(annotation, "valueExpression").trim().len() {
            0 => errors.push(FieldError::required(at.child("valueExpression"), "valueExpression is not specified")),
            1..=5120 => {}
            _ => errors.push(FieldError::required(at.child("valueExpression"), "must not exceed 5120 bytes in length")),
        }
        if !seen.insert(key) {
            errors.push(FieldError::duplicate(at.child("key"), key));
        }
    });
    errors
}

fn check_validation(errors: &mut Errors, validation: &Object, at: Path<'_>) {
    let blank = |key| !text(validation, key).is_empty() && text(validation, key).trim().is_empty();
    if text(validation, "expression").trim().is_empty() {
        errors.push(FieldError::required(at.child("expression"), "expression is not specified"));
    }
    if blank("messageExpression") {
        errors.push(FieldError::invalid(at.child("messageExpression"), text(validation, "messageExpression"), BLANK));
    }
    let message = text(validation, "message");
    if blank("message") {
        errors.push(FieldError::invalid(at.child("message"), message, BLANK));
    } else if message.trim().contains(['\n', '\r']) {
        errors.push(FieldError::invalid(at.child("message"), message, "must not contain line breaks"));
    }
    let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    supported_if(errors, validation, "reason", at, &reasons);
}

/// What both kinds of policies have; `operations` are all that a policy may be asked about, if not any.
fn check_common(errors: &mut Errors, spec: &Object, old: Option<&Object>, operations: &[&str]) {
    if absent(spec, "failurePolicy") {
        errors.push(FieldError::required(SPEC.child("failurePolicy"), ""));
    }
    supported_if(errors, spec, "failurePolicy", SPEC, &["Fail", "Ignore"]);
    within(spec, "paramKind", SPEC, |kind, at| check_param_kind(errors, kind, at));
    match child(spec, "matchConstraints") {
        None => errors.push(FieldError::required(SPEC.child("matchConstraints"), "")),
        Some(resources) => {
            let at = SPEC.child("matchConstraints");
            check_resources(errors, resources, at);
            if list(resources, "resourceRules").is_empty() {
                errors.push(FieldError::required(at.child("resourceRules"), ""));
            }
            check_operations(errors, resources, operations, at);
        }
    }
    let same = |key| {
        let old = old.and_then(|old| child(old, "spec"));
        old.is_some_and(|old| old.get(key) == spec.get(key))
    };
    if !(same("paramKind") && same("matchConditions")) {
        check_conditions(errors, spec, SPEC);
    }
    each_item(spec, "variables", SPEC, |variable, at| {
        let name = text(variable, "name");
        if name.trim().is_empty() {
            errors.push(FieldError::required(at.child("name"), "name is not specified"));
        } else if !is_identifier(name) {
            errors.push(FieldError::invalid(at.child("name"), name, "must be a valid CEL identifier"));
        }
        if text(variable, "expression").trim().is_empty() {
            errors.push(FieldError::required(at.child("expression"), "expression is not specified"));
        }
    });
}

fn check_param_kind(errors: &mut Errors, param: &Object, at: Path<'_>) {
    let version = text(param, "apiVersion");
    let version_at = at.child("apiVersion");
    let parts: Vec<&str> = version.split('/').collect();
    let (group, number) = match (version, parts.as_slice()) {
        ("", _) => {
            errors.push(FieldError::required(version_at, ""));
            ("", None)
        }
        ("/", _) => ("", Some("")),
        (_, [number]) => ("", Some(*number)),
        (_, [group, number]) => (*group, Some(*number)),
        _ => {
            let why = format!("unexpected GroupVersion string: {version}");
            errors.push(FieldError::invalid(version_at, version, why));
            ("", None)
        }
    };
    let mut joined = |text: &str, faults: Vec<String>| {
        if !faults.is_empty() {
            errors.push(FieldError::invalid(version_at, text, faults.join(",")));
        }
    };
    if !group.is_empty() {
        joined(group, names::dns_subdomain(group));
    }
    match number {
        Some("") => joined(version, vec!["version must be specified".to_owned()]),
        Some(number) => joined(number, label_1035(number)),
        None => {}
    }
    let kind = text(param, "kind");
    let faults = label_1035(&kind.to_lowercase());
    if kind.is_empty() {
        errors.push(FieldError::required(at.child("kind"), ""));
    } else if !faults.is_empty() {
        let why = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
        errors.push(FieldError::invalid(at.child("kind"), kind, why));
    }
}

pub(in super::super) fn mutating(object: &Object) -> Errors {
    check_mutating(object, None)
}

pub(in super::super) fn mutating_update(object: &Object, old: &Object) -> Errors {
    check_mutating(object, Some(old))
}

fn check_mutating(object: &Object, old: Option<&Object>) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_common(&mut errors, spec, old, &MUTABLE);
    if list(spec, "mutations").is_empty() {
        errors.push(FieldError::required(SPEC.child("mutations"), "mutations must contain at least one item"));
    }
    each_item(spec, "mutations", SPEC, |mutation, at| {
        let (own, other) = match text(mutation, "patchType") {
            "JSONPatch" => ("jsonPatch", "applyConfiguration"),
            "ApplyConfiguration" => ("applyConfiguration", "jsonPatch"),
            _ => return one_of(&mut errors, mutation, "patchType", at, &["ApplyConfiguration", "JSONPatch"]),
        };
        let kind = text(mutation, "patchType");
        match child(mutation, own) {
            None => {
                errors.push(FieldError::required(at.child(own), format!("must be specified when patchType is {kind}")));
            }
            Some(patch) if text(patch, "expression").trim().is_empty() => {
                let at = at.child(own);
                errors.push(FieldError::required(at.child("expression"), ""));
            }
            Some(_) => {}
        }
        if !absent(mutation, other) {
            let why = format!("must not be specified when patchType is {kind}");
            errors.push(FieldError::invalid(at.child(other), format!("{{{other}}}").as_str(), why));
        }
    });
    one_of(&mut errors, spec, "reinvocationPolicy", SPEC, &["IfNeeded", "Never"]);
    errors
}

pub(in super::super) fn status(object: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(status) = child(object, "status") else { return errors };
    let at = Path::field("status");
    within(status, "typeChecking", at, |checking, at| {
        each_item(checking, "expressionWarnings", at, |warning, at| {
            if text(warning, "warning").is_empty() {
                errors.push(FieldError::required(at.child("warning"), ""));
            }
            if text(warning, "fieldRef").trim().is_empty() {
                errors.push(FieldError::required(at.child("fieldRef"), ""));
            }
        });
    });
    conditions(&mut errors, status, at);
    errors
}

//! What is wrong with what binds an admission policy.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::check::{Errors, each_text, list_json, name, named, one_of, selector, supported, within};
use super::super::read::{child, text, texts};
use super::matching::{MUTABLE, check_operations, check_resources};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn validating_binding(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_binding(&mut errors, spec);
    let actions: Vec<&str> = texts(spec, "validationActions").collect();
    let mut seen = BTreeSet::new();
    each_text(spec, "validationActions", SPEC, |action, at| {
        supported(&mut errors, action, at, &["Audit", "Deny", "Warn"]);
        if !seen.insert(action) {
            errors.push(FieldError::duplicate(at, BadValue::typed_text(action)));
        }
    });
    let at = SPEC.child("validationActions");
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        let why = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
            response and headers serves no purpose)";
        errors.push(FieldError::invalid(at, list_json(spec, "validationActions"), why));
    }
    if actions.is_empty() {
        errors.push(FieldError::required(at, "at least one validation action is required"));
    }
    errors
}

pub(in super::super) fn mutating_binding(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_binding(&mut errors, spec);
    within(spec, "matchResources", SPEC, |resources, at| check_operations(&mut errors, resources, &MUTABLE, at));
    errors
}

fn check_binding(errors: &mut Errors, spec: &Object) {
    const ONE: &str = "name and selector are mutually exclusive";
    named(errors, spec, "policyName", SPEC, names::dns_subdomain);
    within(spec, "paramRef", SPEC, |param, at| {
        let (has_name, chosen) = (!text(param, "name").is_empty(), child(param, "selector"));
        name(errors, param, "name", at, names::path_segment);
        if has_name && chosen.is_some() {
            errors.push(FieldError::forbidden(at.child("name"), ONE));
        }
        selector(errors, param, "selector", at);
        if has_name && chosen.is_some() {
            errors.push(FieldError::forbidden(at.child("selector"), ONE));
        }
        if !has_name && chosen.is_none() {
            errors.push(FieldError::required(at, "one of name or selector must be specified"));
        }
        one_of(errors, param, "parameterNotFoundAction", at, &["Deny", "Allow"]);
    });
    within(spec, "matchResources", SPEC, |resources, at| check_resources(errors, resources, at));
}

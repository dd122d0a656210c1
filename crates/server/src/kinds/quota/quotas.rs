//! What is wrong with a resource quota.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path};

use super::super::check::{
    Errors, IMMUTABLE, amounts, is_in_quota, json, list_json, quota_resource_name, resource_amount,
};
use super::super::internal;
use super::super::read::{child, items, list, text, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const STATUS: Path<'static> = Path::Field(&Path::Root, "status");

pub(in super::super) fn quota(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_amounts(&mut errors, spec, "hard", SPEC);
    let scopes: Vec<&str> = texts(spec, "scopes").collect();
    let shown = || list_json(spec, "scopes");
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            errors.push(FieldError::invalid(SPEC.child("scopes"), shown(), "unsupported scope"));
        }
        for _ in unfit(spec, scope) {
            let why = "unsupported scope applied to resource";
            errors.push(FieldError::invalid(SPEC.child("scopes"), shown(), why));
        }
    }
    check_conflicts(&mut errors, &scopes, spec, SPEC.child("scopes"));
    if let Some(selector) = child(spec, "scopeSelector") {
        check_scope_selector(&mut errors, spec, selector, SPEC.child("scopeSelector"));
    }
    errors
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// The resources of a quota that a scope cannot be applied to.
fn unfit<'a>(spec: &'a Object, scope: &'a str) -> impl Iterator<Item = &'a String> + use<'a> {
    let fits = move |name: &str| match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        scope if SCOPES.contains(&scope) => {
            let measured = name.strip_prefix("limits.").or(name.strip_prefix("requests.")).unwrap_or(name);
            name == "pods" || matches!(measured, "cpu" | "memory")
        }
        _ => true,
    };
    child(spec, "hard").into_iter().flat_map(Object::keys).filter(move |name| is_in_quota(name) && !fits(name))
}

fn check_conflicts(errors: &mut Errors, scopes: &[&str], spec: &Object, at: Path<'_>) {
    for (a, b) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if scopes.contains(&a) && scopes.contains(&b) {
            errors.push(FieldError::invalid(at, list_json(spec, "scopes"), "conflicting scopes"));
        }
    }
}

fn check_scope_selector(errors: &mut Errors, spec: &Object, selector: &Object, at: Path<'_>) {
    let at = at.child("matchExpressions");
    for rule in items(selector, "matchExpressions") {
        let (scope, operator) = (text(rule, "scopeName"), text(rule, "operator"));
        let invalid = |key, why| FieldError::invalid(at.child(key), BadValue::typed_text(text(rule, key)), why);
        if !SCOPES.contains(&scope) {
            errors.push(invalid("scopeName", "unsupported scope"));
        }
        for _ in unfit(spec, scope) {
            let why = "unsupported scope applied to resource";
            errors.push(FieldError::invalid(
                at,
                json(internal::shown("", "ResourceQuota", &["spec", "scopeSelector"], spec.get("scopeSelector"))),
                why,
            ));
        }
        if SCOPES.contains(&scope)
            && !matches!(scope, "PriorityClass" | "VolumeAttributesClass")
            && operator != "Exists"
        {
            errors.push(invalid(
                "operator",
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, \
                 ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
                 ResourceQuotaScopeCrossNamespacePodAffinity",
            ));
        }
        let given = !list(rule, "values").is_empty();
        match operator {
            "In" | "NotIn" if !given => errors.push(FieldError::required(
                at.child("values"),
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            )),
            "Exists" | "DoesNotExist" if given => errors.push(FieldError::invalid(
                at.child("values"),
                list_json(rule, "values"),
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.push(invalid("operator", "not a valid selector operator")),
        }
    }
    let scopes: Vec<&str> = items(selector, "matchExpressions").map(|rule| text(rule, "scopeName")).collect();
    check_conflicts(errors, &scopes, spec, at);
}

fn check_amounts(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    for (name, amount) in amounts(object, key) {
        quota_resource_name(errors, name, at.child(key).key(name));
        resource_amount(errors, name, amount, at.child(key).key(name));
    }
}

pub(in super::super) fn quota_update(object: &Object, old: &Object) -> Errors {
    let mut errors = quota(object);
    let scopes = |object: &Object| -> BTreeSet<String> {
        child(object, "spec").into_iter().flat_map(|spec| texts(spec, "scopes")).map(str::to_owned).collect()
    };
    if scopes(object) != scopes(old) {
        let given = child(object, "spec").map_or_else(BadValue::null, |spec| list_json(spec, "scopes"));
        errors.push(FieldError::invalid(SPEC.child("scopes"), given, IMMUTABLE));
    }
    errors
}

pub(in super::super) fn quota_status(object: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(status) = child(object, "status") {
        check_amounts(&mut errors, status, "hard", STATUS);
        check_amounts(&mut errors, status, "used", STATUS);
    }
    errors
}

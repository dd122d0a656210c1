//! What is wrong with the configuration of webhooks.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, IllegalValues, Path, label_selector, names};
use rolewright_crd::definition::webhook;
use serde_json::Value;

use super::super::check::{
    Errors, each_item, each_text, json, label_1035, list_json, read_selector, supported_if, within,
};
use super::super::read::{absent, child, integer, items, list, text, texts};
use super::rules::{check_conditions, check_rule};
use crate::strategy::Object;

const VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const NO_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];

/// What old configurations had wrong may stay wrong.
#[derive(Clone, Copy, Debug)]
struct Strictness<'a> {
    old: Option<&'a Object>,
    effects: bool,
    versions: bool,
    unique: bool,
    values: IllegalValues,
}

pub(in super::super) fn configuration(object: &Object) -> Errors {
    let strict = Strictness { old: None, effects: true, versions: true, unique: true, values: IllegalValues::Refuse };
    check(object, strict)
}

pub(in super::super) fn configuration_update(object: &Object, old: &Object) -> Errors {
    let hooks = || items(old, "webhooks");
    let accepted = |hook: &Object| texts(hook, "admissionReviewVersions").any(|version| VERSIONS.contains(&version));
    let bad_selector = |hook: &Object| {
        ["namespaceSelector", "objectSelector"]
            .iter()
            .filter_map(|key| child(hook, key))
            .any(|selector| !label_selector(&read_selector(selector), IllegalValues::Refuse, Path::Root).is_empty())
    };
    let mut seen = BTreeSet::new();
    let strict = Strictness {
        old: Some(old),
        effects: hooks().all(|hook| NO_EFFECTS.contains(&text(hook, "sideEffects"))),
        versions: hooks().all(|hook| accepted(hook) || list(hook, "admissionReviewVersions").is_empty()),
        unique: hooks().all(|hook| seen.insert(text(hook, "name"))),
        values: if hooks().any(bad_selector) { IllegalValues::Tolerate } else { IllegalValues::Refuse },
    };
    check(object, strict)
}

fn check(object: &Object, strict: Strictness<'_>) -> Errors {
    let mut errors = Errors::new();
    let conditions = |object: &Object| -> Vec<Vec<Value>> {
        items(object, "webhooks").map(|hook| list(hook, "matchConditions").to_vec()).collect()
    };
    let same_conditions = strict.old.is_some_and(|old| conditions(old) == conditions(object));
    let mut seen = BTreeSet::new();
    each_item(object, "webhooks", Path::Root, |hook, at| {
        check_hook(&mut errors, hook, strict, at);
        if !same_conditions {
            check_conditions(&mut errors, hook, at);
        }
        check_versions(&mut errors, hook, strict.versions, at);
        let name = text(hook, "name");
        if strict.unique && !name.is_empty() && !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
    });
    errors
}

fn check_hook(errors: &mut Errors, hook: &Object, strict: Strictness<'_>, at: Path<'_>) {
    check_name(errors, text(hook, "name"), at.child("name"));
    each_item(hook, "rules", at, |rule, at| check_rule(errors, rule, at));
    supported_if(errors, hook, "failurePolicy", at, &["Fail", "Ignore"]);
    supported_if(errors, hook, "matchPolicy", at, &["Equivalent", "Exact"]);
    let effects: &[&str] = if strict.effects { &NO_EFFECTS } else { &EFFECTS };
    if absent(hook, "sideEffects") {
        let why = format!("must specify one of {}", effects.join(", "));
        errors.push(FieldError::required(at.child("sideEffects"), why));
    }
    supported_if(errors, hook, "sideEffects", at, effects);
    if let Some(seconds) = integer(hook, "timeoutSeconds").filter(|seconds| !(1..=30).contains(seconds)) {
        let why = "the timeout value must be between 1 and 30 seconds";
        errors.push(FieldError::invalid(at.child("timeoutSeconds"), json(seconds), why));
    }
    for key in ["namespaceSelector", "objectSelector"] {
        within(hook, key, at, |selector, at| {
            errors.extend(label_selector(&read_selector(selector), strict.values, at));
        });
    }
    supported_if(errors, hook, "reinvocationPolicy", at, &["IfNeeded", "Never"]);
    let empty = Object::new();
    let client = child(hook, "clientConfig").unwrap_or(&empty);
    let at = at.child("clientConfig");
    match (client.get("url").and_then(Value::as_str), child(client, "service")) {
        (Some(url), None) => errors.extend(webhook::url_faults(url, at.child("url"))),
        (None, Some(service)) => errors.extend(webhook::service_faults(service, at.child("service"))),
        _ => errors.push(FieldError::required(at, "exactly one of url or service is required")),
    }
}

/// A domain of at least three labels.
fn check_name(errors: &mut Errors, name: &str, at: Path<'_>) {
    let faults = names::dns_subdomain(name);
    if name.is_empty() {
        errors.push(FieldError::required(at, ""));
    } else if !faults.is_empty() {
        errors.push(FieldError::invalid(at, name, faults.join(",")));
    } else if name.split('.').count() < 3 {
        let why = "should be a domain with at least three segments separated by dots";
        errors.push(FieldError::invalid(at, name, why));
    }
}

fn check_versions(errors: &mut Errors, hook: &Object, strict: bool, at: Path<'_>) {
    let versions: Vec<&str> = texts(hook, "admissionReviewVersions").collect();
    let known = VERSIONS.join(", ");
    let list_at = at.child("admissionReviewVersions");
    if versions.is_empty() {
        errors.push(FieldError::required(list_at, format!("must specify one of {known}")));
        return;
    }
    let mut seen = BTreeSet::new();
    each_text(hook, "admissionReviewVersions", at, |version, at| {
        if seen.insert(version) {
            super::super::check::each(errors, at, version, label_1035(version));
        } else {
            errors.push(FieldError::invalid(at, version, "duplicate version"));
        }
    });
    if strict && !versions.iter().any(|version| VERSIONS.contains(version)) {
        let why = format!("must include at least one of {known}");
        errors.push(FieldError::invalid(list_at, list_json(hook, "admissionReviewVersions"), why));
    }
}

//! What webhooks and policies are asked about.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path, names};

use super::super::check::{Errors, each_item, each_text, list_json, named, supported, supported_if, too_many};
use super::super::read::{list, text, texts};
use crate::strategy::Object;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// Operations on resources.
pub(super) fn check_rule(errors: &mut Errors, rule: &Object, at: Path<'_>) {
    check_listed(errors, rule, "operations", "operations", at);
    each_text(rule, "operations", at, |operation, at| supported(errors, operation, at, &OPERATIONS));
    check_listed(errors, rule, "apiGroups", "API groups", at);
    check_listed(errors, rule, "apiVersions", "API versions", at);
    each_text(rule, "apiVersions", at, |version, at| {
        if version.is_empty() {
            errors.push(FieldError::required(at, ""));
        }
    });
    check_resources(errors, rule, at);
    supported_if(errors, rule, "scope", at, &["*", "Cluster", "Namespaced"]);
}

/// A list with something in it, of which a star would be all.
fn check_listed(errors: &mut Errors, rule: &Object, key: &str, called: &str, at: Path<'_>) {
    if list(rule, key).is_empty() {
        errors.push(FieldError::required(at.child(key), ""));
    }
    if list(rule, key).len() > 1 && texts(rule, key).any(|text| text == "*") {
        let why = format!("if '*' is present, must not specify other {called}");
        errors.push(FieldError::invalid(at.child(key), list_json(rule, key), why));
    }
}

fn check_resources(errors: &mut Errors, rule: &Object, at: Path<'_>) {
    let list_at = at.child("resources");
    if list(rule, "resources").is_empty() {
        errors.push(FieldError::required(list_at, ""));
    }
    let (mut all_of, mut of_all) = (BTreeSet::new(), BTreeSet::new());
    // Only the last resource without a subresource counts in the last check, as in Kubernetes.
    let mut plain = false;
    each_text(rule, "resources", at, |resource, at| {
        if resource.is_empty() {
            errors.push(FieldError::required(at, ""));
            return;
        }
        let Some((name, sub)) = resource.split_once('/') else {
            plain = resource != "*";
            return;
        };
        if all_of.contains(name) {
            let why = format!("if '{name}/*' is present, must not specify {resource}");
            errors.push(FieldError::invalid(at, resource, why));
        }
        if of_all.contains(sub) {
            let why = format!("if '*/{sub}' is present, must not specify {resource}");
            errors.push(FieldError::invalid(at, resource, why));
        }
        if sub == "*" {
            all_of.insert(name);
        }
        if name == "*" {
            of_all.insert(sub);
        }
    });
    let has = |wanted| texts(rule, "resources").any(|resource| resource == wanted);
    if list(rule, "resources").len() > 1 && has("*/*") {
        let why = "if '*/*' is present, must not specify other resources";
        errors.push(FieldError::invalid(list_at, list_json(rule, "resources"), why));
    }
    if has("*") && plain {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.push(FieldError::invalid(list_at, list_json(rule, "resources"), why));
    }
}

/// Conditions in CEL. The expressions themselves are not compiled here.
pub(super) fn check_conditions(errors: &mut Errors, object: &Object, at: Path<'_>) {
    const MOST: usize = 64;
    let count = list(object, "matchConditions").len();
    if count > MOST {
        errors.push(too_many(at.child("matchConditions"), count, MOST));
    }
    let mut seen = BTreeSet::new();
    each_item(object, "matchConditions", at, |condition, at| {
        if text(condition, "expression").trim().is_empty() {
            errors.push(FieldError::required(at.child("expression"), ""));
        }
        named(errors, condition, "name", at, names::label_key);
        let name = text(condition, "name");
        if !name.is_empty() && !seen.insert(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
    });
}

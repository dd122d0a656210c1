//! Which resources a policy, or what binds it, is about.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, IllegalValues, Path, label_selector, names};

use super::super::check::{Errors, each, each_item, each_text, read_selector, supported, supported_if};
use super::super::read::{absent, child, items, texts};
use super::rules::check_rule;
use crate::strategy::Object;

/// The operations in which an object can be changed.
pub(super) const MUTABLE: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

pub(super) fn check_operations(errors: &mut Errors, resources: &Object, operations: &[&str], at: Path<'_>) {
    if operations.is_empty() {
        return;
    }
    let at = at.child("resourceRules");
    for operation in items(resources, "resourceRules").flat_map(|rule| texts(rule, "operations")) {
        supported(errors, operation, at.child("operations"), operations);
    }
}

pub(super) fn check_resources(errors: &mut Errors, resources: &Object, at: Path<'_>) {
    if absent(resources, "matchPolicy") {
        errors.push(FieldError::required(at.child("matchPolicy"), ""));
    }
    supported_if(errors, resources, "matchPolicy", at, &["Equivalent", "Exact"]);
    for key in ["namespaceSelector", "objectSelector"] {
        match child(resources, key) {
            None => errors.push(FieldError::required(at.child(key), "")),
            Some(selector) => {
                errors.extend(label_selector(&read_selector(selector), IllegalValues::Refuse, at.child(key)));
            }
        }
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        each_item(resources, key, at, |rule, at| {
            let mut seen = BTreeSet::new();
            each_text(rule, "resourceNames", at, |name, at| {
                each(errors, at, name, names::path_segment(name));
                if !seen.insert(name) {
                    errors.push(FieldError::duplicate(at, name));
                }
            });
            check_rule(errors, rule, at);
        });
    }
}

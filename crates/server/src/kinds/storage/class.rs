//! What is wrong with a storage class.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, each, each_item, each_text, immutable, map_json, supported};
use super::super::read::{child, list, text};
use crate::strategy::Object;

pub(in super::super) fn class(class: &Object) -> Errors {
    let mut errors = Errors::new();
    check_driver(&mut errors, class, "provisioner");
    check_parameters(&mut errors, class);
    let policy = text(class, "reclaimPolicy");
    if !policy.is_empty() {
        supported(&mut errors, policy, Path::field("reclaimPolicy"), &["Delete", "Retain"]);
    }
    let known = ["Immediate", "WaitForFirstConsumer"];
    supported(&mut errors, text(class, "volumeBindingMode"), Path::field("volumeBindingMode"), &known);
    check_topologies(&mut errors, class);
    errors
}

pub(in super::super) fn class_update(class: &Object, old: &Object) -> Errors {
    let mut errors = self::class(class);
    let parameters = |class: &Object| child(class, "parameters").filter(|map| !map.is_empty()).cloned();
    if parameters(class) != parameters(old) {
        let shown = map_json(child(class, "parameters"));
        errors.push(FieldError::invalid(Path::field("parameters"), shown, IMMUTABLE));
    }
    let provisioner = text(class, "provisioner");
    if provisioner != text(old, "provisioner") {
        errors.push(FieldError::invalid(Path::field("provisioner"), provisioner, IMMUTABLE));
    }
    immutable(&mut errors, class, old, "reclaimPolicy", Path::Root);
    immutable(&mut errors, class, old, "volumeBindingMode", Path::Root);
    errors
}

/// Who makes the volumes.
fn check_driver(errors: &mut Errors, class: &Object, key: &str) {
    match text(class, key) {
        "" => errors.push(FieldError::required(Path::field(key), "")),
        driver => {
            let lower = driver.to_lowercase();
            each(errors, Path::field(key), &lower, names::label_key(&lower));
        }
    }
}

pub(in super::super) fn attributes(class: &Object) -> Errors {
    let mut errors = Errors::new();
    check_driver(&mut errors, class, "driverName");
    check_parameters(&mut errors, class);
    if child(class, "parameters").is_none_or(Object::is_empty) {
        errors.push(FieldError::required(Path::field("parameters"), "must contain at least one key/value pair"));
    }
    errors
}

pub(in super::super) fn attributes_update(class: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    if text(class, "driverName") != text(old, "driverName") {
        errors.push(FieldError::forbidden(Path::field("driverName"), "updates to driverName are forbidden."));
    }
    if child(class, "parameters") != child(old, "parameters") {
        errors.push(FieldError::forbidden(Path::field("parameters"), "updates to parameters are forbidden."));
    }
    errors.extend(attributes(class));
    errors
}

fn check_parameters(errors: &mut Errors, class: &Object) {
    const MOST: usize = 512;
    const LONGEST: usize = 256 * 1024;
    let at = Path::field("parameters");
    let Some(parameters) = child(class, "parameters") else { return };
    if parameters.len() > MOST {
        errors.push(FieldError::too_long(at, MOST));
        return;
    }
    if parameters.contains_key("") {
        errors.push(FieldError::invalid(at, "", "field can not be empty."));
    }
    let size = |(key, value): (&String, &Value)| key.len() + value.as_str().unwrap_or_default().len();
    if parameters.iter().map(size).sum::<usize>() > LONGEST {
        errors.push(FieldError::too_long(at, LONGEST));
    }
}

fn check_topologies(errors: &mut Errors, class: &Object) {
    let mut seen = Vec::new();
    each_item(class, "allowedTopologies", Path::Root, |term, at| {
        let mut wanted = BTreeMap::new();
        each_item(term, "matchLabelExpressions", at, |rule, at| {
            let mut values = BTreeSet::new();
            if list(rule, "values").is_empty() {
                errors.push(FieldError::required(at.child("values"), ""));
            }
            each_text(rule, "values", at, |value, at| {
                if !values.insert(value) {
                    errors.push(FieldError::duplicate(at, value));
                }
            });
            let key = text(rule, "key");
            each(errors, at.child("key"), key, names::label_key(key));
            if wanted.insert(key, values).is_some() {
                errors.push(FieldError::duplicate(at.child("key"), key));
            }
        });
        // A term that asks for nothing is like those that are yet to come.
        if wanted.is_empty() || seen.contains(&wanted) {
            errors.push(FieldError::duplicate(at.child("matchLabelExpressions"), ""));
        }
        seen.push(wanted);
    });
}

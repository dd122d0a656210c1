//! Terms that choose nodes, and what keeps pods off them.

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::read::{list, text};
use super::{Errors, each, each_item, each_text};
use crate::strategy::Object;

const OPERATOR: &str = "not a valid selector operator";

/// Some terms, any of which a node must meet.
pub(in crate::kinds) fn node_selector(errors: &mut Errors, selector: &Object, at: Path<'_>) {
    if list(selector, "nodeSelectorTerms").is_empty() {
        let why = "must have at least one node selector term";
        errors.push(FieldError::required(at.child("nodeSelectorTerms"), why));
    }
    each_item(selector, "nodeSelectorTerms", at, |term, at| node_term(errors, term, true, at));
}

/// One term; values of labels are looked at where the term is required.
pub(in crate::kinds) fn node_term(errors: &mut Errors, term: &Object, values: bool, at: Path<'_>) {
    each_item(term, "matchExpressions", at, |rule, at| {
        let given = list(rule, "values").len();
        match text(rule, "operator") {
            "In" | "NotIn" if given == 0 => errors
                .push(FieldError::required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'")),
            "Exists" | "DoesNotExist" if given > 0 => errors.push(FieldError::forbidden(
                at.child("values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "Gt" | "Lt" if given != 1 => errors.push(FieldError::required(
                at.child("values"),
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            operator => {
                errors.push(FieldError::invalid(at.child("operator"), BadValue::typed_text(operator), OPERATOR));
            }
        }
        let key = text(rule, "key");
        each(errors, at.child("key"), key, names::label_key(key));
        if values {
            each_text(rule, "values", at, |value, at| each(errors, at, value, names::label_value(value)));
        }
    });
    each_item(term, "matchFields", at, |rule, at| {
        match text(rule, "operator") {
            "In" | "NotIn" if list(rule, "values").len() != 1 => errors.push(FieldError::required(
                at.child("values"),
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            )),
            "In" | "NotIn" => {}
            operator => {
                errors.push(FieldError::invalid(at.child("operator"), BadValue::typed_text(operator), OPERATOR));
            }
        }
        match text(rule, "key") {
            "metadata.name" => {
                each_text(rule, "values", at, |value, at| each(errors, at, value, names::dns_subdomain(value)));
            }
            key => errors.push(FieldError::invalid(at.child("key"), key, "not a valid field selector key")),
        }
    });
}

pub(in crate::kinds) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

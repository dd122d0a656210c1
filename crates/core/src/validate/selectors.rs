//! Label selectors as admission judges them. Whether a selector can be used is decided by
//! [`LabelSelector::compile`](crate::LabelSelector::compile), in other words and with other field paths.

use super::error::{BadValue, FieldError};
use super::metadata::{invalid, labels};
use super::names;
use super::path::Path;
use crate::LabelSelector;
use crate::selector::{Operator, Requirement};

/// What to say of an illegal value in a selector's expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IllegalValues {
    /// Report it.
    Refuse,
    /// Pass over it, because the stored object is at fault already. Illegal keys, and illegal values in `matchLabels`,
    /// are reported all the same.
    Tolerate,
}

/// Faults of a selector.
///
/// With [`IllegalValues::Refuse`] there are some exactly when the selector does not compile.
pub fn label_selector(selector: &LabelSelector, values: IllegalValues, at: Path<'_>) -> Vec<FieldError> {
    let mut errors = labels(&selector.match_labels, at.child("matchLabels"));
    let at = at.child("matchExpressions");
    for (i, expression) in selector.match_expressions.iter().enumerate() {
        errors.extend(requirement(expression, values, at.index(i)));
    }
    errors
}

fn requirement(requirement: &Requirement, values: IllegalValues, at: Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let none = requirement.values.is_empty();
    match requirement.parsed_operator() {
        Some(Operator::In | Operator::NotIn) if none => errors
            .push(FieldError::required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'")),
        Some(Operator::Exists | Operator::DoesNotExist) if !none => errors.push(FieldError::forbidden(
            at.child("values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )),
        Some(_) => {}
        None => errors.push(FieldError::invalid(
            at.child("operator"),
            BadValue::typed_text(&requirement.operator),
            "not a valid selector operator",
        )),
    }
    errors.extend(invalid(at.child("key"), &requirement.key, names::label_key(&requirement.key)));
    if values == IllegalValues::Refuse {
        let at = at.child("values");
        for (i, value) in requirement.values.iter().enumerate() {
            errors.extend(invalid(at.index(i), value, names::label_value(value)));
        }
    }
    errors
}

//! From a selector as written to one that can be matched.

use std::slice;

use super::{Clause, LabelSelector, Requirement, Selector};
use crate::Name;
use crate::quote::Quoted;
use crate::validate::{BadValue, FieldError, Path, names, summary};

/// What a requirement does with its key and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// Why a selector cannot be used, in Kubernetes' words.
///
/// Only the first requirement at fault is told, though all of its faults; validation of the object that holds the
/// selector tells them all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// None of the four operators.
    #[error("{} is not a valid label selector operator", Quoted(.0))]
    UnknownOperator(Name),
    /// A key, the number of values or a value is wrong. Paths start at the requirement.
    #[error("{}", summary(.0))]
    Requirement(Vec<FieldError>),
}

impl Requirement {
    pub(crate) fn parsed_operator(&self) -> Option<Operator> {
        match self.operator.as_str() {
            "In" => Some(Operator::In),
            "NotIn" => Some(Operator::NotIn),
            "Exists" => Some(Operator::Exists),
            "DoesNotExist" => Some(Operator::DoesNotExist),
            _ => None,
        }
    }
}

impl LabelSelector {
    /// Checks the selector and makes it ready to match.
    ///
    /// Conditions come in the order of their keys, those with the same key as written, `matchLabels` first.
    pub fn compile(&self) -> Result<Selector, SelectorError> {
        let mut clauses = Vec::with_capacity(self.match_labels.len() + self.match_expressions.len());
        for (key, value) in &self.match_labels {
            clauses.push(clause(key, Operator::In, slice::from_ref(value))?);
        }
        for requirement in &self.match_expressions {
            let operator = requirement
                .parsed_operator()
                .ok_or_else(|| SelectorError::UnknownOperator(requirement.operator.clone()))?;
            clauses.push(clause(&requirement.key, operator, &requirement.values)?);
        }
        clauses.sort_by(|a, b| a.key().cmp(b.key()));
        Ok(Selector { clauses })
    }
}

fn clause(key: &Name, operator: Operator, values: &[Name]) -> Result<Clause, SelectorError> {
    let errors = faults(key, operator, values);
    if !errors.is_empty() {
        return Err(SelectorError::Requirement(errors));
    }
    Ok(match operator {
        Operator::In => Clause::In(key.clone(), values.to_vec()),
        Operator::NotIn => Clause::NotIn(key.clone(), values.to_vec()),
        Operator::Exists => Clause::Exists(key.clone()),
        Operator::DoesNotExist => Clause::DoesNotExist(key.clone()),
    })
}

/// The same faults that validation finds, but told as the conversion tells them: one error for each text, and the
/// number of values under another kind.
fn faults(key: &str, operator: Operator, values: &[Name]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(together(Path::field("key"), key, &names::label_key(key)));
    let at = Path::field("values");
    let miscounted = match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            Some("for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            Some("values set must be empty for exists and does not exist")
        }
        _ => None,
    };
    errors.extend(miscounted.map(|detail| FieldError::invalid(at, BadValue::list(values), detail)));
    for (i, value) in values.iter().enumerate() {
        errors.extend(together(at.index(i).key(key), value, &names::label_value(value)));
    }
    errors
}

fn together(at: Path<'_>, text: &str, faults: &[String]) -> Option<FieldError> {
    (!faults.is_empty()).then(|| FieldError::invalid(at, text, faults.join("; ")))
}

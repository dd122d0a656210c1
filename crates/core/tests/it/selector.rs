//! Label selectors: what they match, when they do not compile, and the laws they obey.

mod cases;
mod laws;

use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Labels};

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

fn requirement(key: &str, operator: &str, values: &[&str]) -> Requirement {
    Requirement {
        key: key.into(),
        operator: operator.into(),
        values: values.iter().map(|value| (*value).into()).collect(),
    }
}

fn selector(match_labels: &[(&str, &str)], match_expressions: &[(&str, &str, &[&str])]) -> LabelSelector {
    LabelSelector {
        match_labels: labels(match_labels),
        match_expressions: match_expressions.iter().map(|(key, op, values)| requirement(key, op, values)).collect(),
    }
}

//! Label selectors against a reading straight from what was written.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rolewright_core::selector::Requirement;
use rolewright_core::{LabelSelector, Labels};
use rolewright_fuzz::{Word, names};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    source: Source<'a>,
    labels: Vec<(Word<'a>, Word<'a>)>,
}

#[derive(Debug, Arbitrary)]
enum Source<'a> {
    /// Hostile text.
    Json(&'a [u8]),
    /// A selector as one would write it, right or wrong.
    Parts { match_labels: Vec<(Word<'a>, Word<'a>)>, match_expressions: Vec<Expression<'a>> },
}

#[derive(Debug, Arbitrary)]
struct Expression<'a> {
    key: Word<'a>,
    operator: Operator<'a>,
    values: Vec<Word<'a>>,
}

#[derive(Debug, Arbitrary)]
enum Operator<'a> {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Free(&'a str),
}

fuzz_target!(|input: Input<'_>| {
    let Some(selector) = selector(&input.source) else { return };
    let Ok(compiled) = selector.compile() else { return };
    let labels = labels(&input.labels);
    assert_eq!(compiled.matches(&labels), as_written(&selector, &labels), "{selector:?} {labels:?}");
});

fn selector(source: &Source<'_>) -> Option<LabelSelector> {
    match source {
        Source::Json(bytes) => serde_json::from_slice(bytes).ok(),
        Source::Parts { match_labels, match_expressions } => Some(LabelSelector {
            match_labels: labels(match_labels),
            match_expressions: match_expressions.iter().map(requirement).collect(),
        }),
    }
}

fn requirement(expression: &Expression<'_>) -> Requirement {
    let operator = match expression.operator {
        Operator::In => "In",
        Operator::NotIn => "NotIn",
        Operator::Exists => "Exists",
        Operator::DoesNotExist => "DoesNotExist",
        Operator::Free(text) => text,
    };
    Requirement { key: expression.key.text().into(), operator: operator.into(), values: names(&expression.values) }
}

fn labels(pairs: &[(Word<'_>, Word<'_>)]) -> Labels {
    pairs.iter().map(|(key, value)| (key.text().into(), value.text().into())).collect()
}

fn as_written(selector: &LabelSelector, labels: &Labels) -> bool {
    let by_label = selector.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
    let by_expression = selector.match_expressions.iter().all(|requirement| {
        let value = labels.get(&requirement.key);
        let listed = value.is_some_and(|value| requirement.values.iter().any(|other| other == value));
        match requirement.operator.as_str() {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            other => panic!("the operator `{other}` was compiled"),
        }
    });
    by_label && by_expression
}

//! Matching and compiling, by tables.

use rolewright_core::LabelSelector;
use rolewright_core::selector::{Clause, SelectorError};

use super::{labels, selector};

const BAD_KEY: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const BAD_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
    and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// `matches` tells for no labels, `a=x`, `a=y`, `a=` and `a=x,b=y` whether the selector matches.
#[track_caller]
fn expect(case: &str, selector: &LabelSelector, matches: [bool; 5]) {
    let sets = [&[][..], &[("a", "x")], &[("a", "y")], &[("a", "")], &[("a", "x"), ("b", "y")]];
    let found = selector.compile().map(|compiled| sets.map(|set| compiled.matches(&labels(set))));
    assert_eq!(found, Ok(matches), "{case}");
}

#[test]
fn what_is_matched() {
    let (yes, no) = (true, false);
    expect("the empty selector matches all", &LabelSelector::default(), [yes; 5]);
    expect("label", &selector(&[("a", "x")], &[]), [no, yes, no, no, yes]);
    expect("empty label", &selector(&[("a", "")], &[]), [no, no, no, yes, no]);
    expect("labels are united by and", &selector(&[("a", "x"), ("b", "y")], &[]), [no, no, no, no, yes]);
    expect("In", &selector(&[], &[("a", "In", &["x", "z"])]), [no, yes, no, no, yes]);
    expect("In with the empty value", &selector(&[], &[("a", "In", &[""])]), [no, no, no, yes, no]);
    expect("NotIn matches what lacks the key", &selector(&[], &[("a", "NotIn", &["x", "z"])]), [yes, no, yes, yes, no]);
    expect("NotIn with the empty value", &selector(&[], &[("a", "NotIn", &[""])]), [yes, yes, yes, no, yes]);
    expect("Exists", &selector(&[], &[("a", "Exists", &[])]), [no, yes, yes, yes, yes]);
    expect("DoesNotExist", &selector(&[], &[("a", "DoesNotExist", &[])]), [yes, no, no, no, no]);
    let both = selector(&[("a", "x")], &[("b", "Exists", &[])]);
    expect("labels and expressions are united by and", &both, [no, no, no, no, yes]);
    let twice = selector(&[], &[("a", "Exists", &[]), ("a", "NotIn", &["x"])]);
    expect("one key may come several times", &twice, [no, no, yes, yes, no]);
    expect("contradiction", &selector(&[("a", "x")], &[("a", "DoesNotExist", &[])]), [no; 5]);
}

#[test]
fn clauses_are_ordered_by_key() {
    let compiled = selector(
        &[("b", "1"), ("a", "2")],
        &[("c", "Exists", &[]), ("a", "DoesNotExist", &[]), ("a", "NotIn", &["z", "y"])],
    );
    let expected = [
        Clause::In("a".into(), vec!["2".into()]),
        Clause::DoesNotExist("a".into()),
        Clause::NotIn("a".into(), vec!["z".into(), "y".into()]),
        Clause::In("b".into(), vec!["1".into()]),
        Clause::Exists("c".into()),
    ];
    assert_eq!(compiled.compile().unwrap().clauses(), expected);
}

#[test]
fn what_does_not_compile() {
    let long = "v".repeat(64);
    let cases: [(LabelSelector, String); 14] = [
        (selector(&[], &[("a", "Gt", &["1"])]), "\"Gt\" is not a valid label selector operator".into()),
        (selector(&[], &[("a", "Lt", &["1"])]), "\"Lt\" is not a valid label selector operator".into()),
        (selector(&[], &[("a", "", &[])]), "\"\" is not a valid label selector operator".into()),
        (selector(&[], &[("", "exists\n<", &[])]), "\"exists\\n<\" is not a valid label selector operator".into()),
        (
            selector(&[], &[("a", "In", &[])]),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty".into(),
        ),
        (
            selector(&[], &[("a", "NotIn", &[])]),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty".into(),
        ),
        (
            selector(&[], &[("a", "Exists", &["x", "y"])]),
            "values: Invalid value: [\"x\",\"y\"]: values set must be empty for exists and does not exist".into(),
        ),
        (
            selector(&[], &[("a", "DoesNotExist", &[""])]),
            "values: Invalid value: [\"\"]: values set must be empty for exists and does not exist".into(),
        ),
        (
            selector(&[], &[("", "Exists", &[])]),
            format!("key: Invalid value: \"\": name part must be non-empty; {BAD_KEY}"),
        ),
        (
            selector(&[], &[("x.y/a", "NotIn", &["ok", "b c"])]),
            format!("values[1][x.y/a]: Invalid value: \"b c\": {BAD_VALUE}"),
        ),
        (
            selector(&[], &[("a", "In", &[&long])]),
            format!("values[0][a]: Invalid value: \"{long}\": must be no more than 63 bytes"),
        ),
        (selector(&[("a", "b c")], &[]), format!("values[0][a]: Invalid value: \"b c\": {BAD_VALUE}")),
        (
            selector(&[("-", "-")], &[]),
            format!("[key: Invalid value: \"-\": {BAD_KEY}, values[0][-]: Invalid value: \"-\": {BAD_VALUE}]"),
        ),
        (
            selector(&[], &[("-", "Exists", &["<", "ok"])]),
            format!(
                "[key: Invalid value: \"-\": {BAD_KEY}, values: Invalid value: [\"\\u003c\",\"ok\"]: values set must be \
                 empty for exists and does not exist, values[0][-]: Invalid value: \"<\": {BAD_VALUE}]"
            ),
        ),
    ];
    for (selector, text) in cases {
        assert_eq!(selector.compile().unwrap_err().to_string(), text, "{selector:?}");
    }
}

#[test]
fn the_first_requirement_at_fault_is_told() {
    let text = |s: &LabelSelector| s.compile().unwrap_err().to_string();
    let labels_first = selector(&[("b", "-"), ("a", ".")], &[("a", "Gt", &[])]);
    assert_eq!(text(&labels_first), format!("values[0][a]: Invalid value: \".\": {BAD_VALUE}"));
    let in_order = selector(&[], &[("a", "Exists", &[]), ("a", "Gt", &[]), ("", "In", &[])]);
    assert_eq!(in_order.compile(), Err(SelectorError::UnknownOperator("Gt".into())));
}

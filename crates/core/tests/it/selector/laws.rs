//! What holds for every selector.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use rolewright_core::selector::Requirement;
use rolewright_core::validate::{IllegalValues, Path, label_selector, names};
use rolewright_core::{LabelSelector, Labels, Name, Role, validate};

const KEYS: &[&str] = &["a", "b", "x.y/a"];
const VALUES: &[&str] = &["", "u", "v"];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = Name> {
    select(texts).prop_map(Name::from)
}

fn legal() -> impl Strategy<Value = LabelSelector> {
    let operator = prop_oneof![
        (one_of(&["In", "NotIn"]), vec(one_of(VALUES), 1..3)),
        (one_of(&["Exists", "DoesNotExist"]), Just(Vec::new())),
    ];
    let requirement =
        (one_of(KEYS), operator).prop_map(|(key, (operator, values))| Requirement { key, operator, values });
    (btree_map(one_of(KEYS), one_of(VALUES), 0..3).prop_map(Labels::from_iter), vec(requirement, 0..4))
        .prop_map(|(match_labels, match_expressions)| LabelSelector { match_labels, match_expressions })
}

/// Mostly in order, so that each fault also comes alone.
fn any() -> impl Strategy<Value = LabelSelector> {
    let key = || one_of(&["a", "a", "b", "b", "x.y/a", "", "/", "a b", "X/a", "a/b/c"]);
    let value = || one_of(&["", "u", "u", "v", "v", "-", "a b", "a/b"]);
    let operator = one_of(&["In", "NotIn", "Exists", "DoesNotExist", "Gt", "in", ""]);
    let requirement =
        (key(), operator, vec(value(), 0..3)).prop_map(|(key, operator, values)| Requirement { key, operator, values });
    (btree_map(key(), value(), 0..2).prop_map(Labels::from_iter), vec(requirement, 0..3))
        .prop_map(|(match_labels, match_expressions)| LabelSelector { match_labels, match_expressions })
}

fn set() -> impl Strategy<Value = Labels> {
    btree_map(one_of(KEYS), one_of(VALUES), 0..4).prop_map(Labels::from_iter)
}

/// The selector read off its definition, pair by pair.
fn reads(selector: &LabelSelector, labels: &Labels) -> bool {
    let holds = |r: &Requirement| {
        let with_key = labels.iter().filter(|(key, _)| **key == r.key).count();
        let listed = labels.iter().filter(|(key, value)| **key == r.key && r.values.contains(value)).count();
        match r.operator.as_str() {
            "In" => listed == 1,
            "NotIn" => listed == 0,
            "Exists" => with_key == 1,
            _ => with_key == 0,
        }
    };
    selector.match_labels.iter().all(|(key, value)| labels.iter().any(|pair| pair == (key, value)))
        && selector.match_expressions.iter().all(holds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    // linkerd2#9433 had NotIn the wrong way round.
    #[test]
    fn a_compiled_selector_means_what_is_written(selector in legal(), sets in vec(set(), 1..8)) {
        let compiled = selector.compile().unwrap();
        for labels in sets {
            prop_assert_eq!(compiled.matches(&labels), reads(&selector, &labels), "{:?}", labels);
        }
    }

    #[test]
    fn exactly_what_validation_accepts_compiles(selector in any()) {
        let errors = label_selector(&selector, IllegalValues::Refuse, Path::Root);
        prop_assert_eq!(errors.is_empty(), selector.compile().is_ok(), "{:?}", errors);
    }

    // Where the two part: what a stored fault excuses in validation does not compile all the same, so the role as a
    // whole is refused either way.
    #[test]
    fn tolerance_hides_illegal_values_of_expressions_and_nothing_else(selector in any()) {
        let tolerant = label_selector(&selector, IllegalValues::Tolerate, Path::Root);
        let mended = without_illegal_values(&selector);
        prop_assert_eq!(&tolerant, &label_selector(&mended, IllegalValues::Refuse, Path::Root));

        let role = Role::aggregated("r", [selector.clone()]);
        let accepted = validate::role_update(&role, &role).is_empty();
        prop_assert_eq!(accepted, selector.compile().is_ok());
    }
}

fn without_illegal_values(selector: &LabelSelector) -> LabelSelector {
    let mut selector = selector.clone();
    for requirement in &mut selector.match_expressions {
        for value in &mut requirement.values {
            if !names::label_value(value).is_empty() {
                *value = Name::default();
            }
        }
    }
    selector
}

//! Validation and selectors, word for word.

use proptest::prelude::*;
use rolewright_core::validate::{self, IllegalValues, Path, strategy};
use rolewright_core::{Binding, LabelSelector, Labels, Role};
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::strategy::{any_binding, any_label_selector, any_role, labels};
use rolewright_testkit::wire::{BindingObject, RoleObject};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An object to create, or to store over an old one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item<T> {
    kind: String,
    object: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<T>,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Verdict>,
}

#[derive(Deserialize)]
struct Verdict {
    errors: Option<Vec<Fault>>,
}

#[derive(Deserialize)]
struct Fault {
    text: String,
}

/// Kubernetes walks maps in random order, so errors of one map stand in any order: sort runs of them.
fn in_one_order(mut texts: Vec<String>) -> Vec<String> {
    let map_of = |text: &String| {
        let field = text.split(':').next().unwrap_or_default().to_owned();
        (field.ends_with("labels") || field.ends_with("matchLabels")).then_some(field)
    };
    texts.chunk_by_mut(|a, b| map_of(a).is_some() && map_of(a) == map_of(b)).for_each(<[String]>::sort);
    texts
}

fn differs<T: Serialize>(items: &[Item<T>], theirs: Answer, ours: impl Fn(&Item<T>) -> Vec<String>) -> Option<String> {
    items.iter().zip(theirs.results).find_map(|(item, verdict)| {
        let theirs = in_one_order(verdict.errors.unwrap_or_default().into_iter().map(|fault| fault.text).collect());
        let ours = in_one_order(ours(item));
        let object = serde_json::to_string(item).expect("an item is JSON");
        (ours != theirs).then(|| format!("{object}\nours       {ours:#?}\nKubernetes {theirs:#?}"))
    })
}

fn texts(errors: &[validate::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn roles_are_judged_as_by_kubernetes() {
    let item = (any_role(), prop::option::weighted(0.3, any_role())).prop_map(|(role, old)| Item {
        kind: role.key.kind().to_owned(),
        object: RoleObject::from(&role),
        old: old.map(|old| RoleObject::from(&Role { key: role.key.clone(), ..old })),
    });
    compare("validate_roles", decisions() / 100, prop::collection::vec(item, 1..20), |oracle, items| {
        let answer: Answer = oracle.ask("validate", json!({"items": items}))?;
        Ok(differs(items, answer, |item| {
            let role = Role::from(item.object.clone());
            texts(&match &item.old {
                None => strategy::role(&role),
                Some(old) => strategy::role_update(&role, &Role::from(old.clone())),
            })
        }))
    });
}

#[test]
fn bindings_are_judged_as_by_kubernetes() {
    let item = (any_binding(), prop::option::weighted(0.3, any_binding())).prop_map(|(binding, old)| Item {
        kind: binding.key.kind().to_owned(),
        object: BindingObject::from(&binding),
        old: old.map(|old| BindingObject::from(&Binding { key: binding.key.clone(), ..old })),
    });
    compare("validate_bindings", decisions() / 100, prop::collection::vec(item, 1..20), |oracle, items| {
        let answer: Answer = oracle.ask("validate", json!({"items": items}))?;
        Ok(differs(items, answer, |item| {
            let read = |object: &BindingObject| validate::defaulted(Binding::from(object.clone()));
            let binding = read(&item.object);
            texts(&match &item.old {
                None => strategy::binding(&binding),
                Some(old) => strategy::binding_update(&binding, &read(old)),
            })
        }))
    });
}

#[test]
fn selectors_match_and_fail_as_in_kubernetes() {
    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct Asked {
        selector: LabelSelector,
        labels: Vec<Labels>,
    }
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Matched>,
    }
    #[derive(Deserialize)]
    struct Matched {
        error: Option<String>,
        errors: Option<Vec<String>>,
        matches: Option<Vec<bool>>,
    }
    let asked = (any_label_selector(), prop::collection::vec(labels(), 1..6))
        .prop_map(|(selector, labels)| Asked { selector, labels });
    compare("selector", decisions() / 50, prop::collection::vec(asked, 1..20), |oracle, items| {
        let answer: Answer = oracle.ask("selector", json!({"items": items}))?;
        for (item, theirs) in items.iter().zip(answer.results) {
            let errors = texts(&validate::label_selector(&item.selector, IllegalValues::Refuse, Path::Root));
            let their_errors = theirs.errors.unwrap_or_default();
            if in_one_order(errors.clone()) != in_one_order(their_errors.clone()) {
                return Ok(Some(format!("{item:?}: ours {errors:?}, Kubernetes {their_errors:?}")));
            }
            let ours = item.selector.compile();
            let their_error = theirs.error.filter(|error| !error.is_empty());
            let same = match (&ours, &their_error) {
                (Ok(selector), None) => {
                    let matches: Vec<bool> = item.labels.iter().map(|labels| selector.matches(labels)).collect();
                    Some(matches) == theirs.matches
                }
                // With several bad labels, Kubernetes names whichever its map yields first.
                (Err(error), Some(theirs)) => item.selector.match_labels.len() > 1 || error.to_string() == *theirs,
                _ => false,
            };
            if !same {
                let theirs = json!({"error": their_error, "matches": theirs.matches});
                return Ok(Some(format!("{item:?}: ours {ours:?}, Kubernetes {theirs}")));
            }
        }
        Ok(None)
    });
}

#[test]
fn the_oracle_survives_bad_input() {
    let Some(mut oracle) = rolewright_testkit::oracle::Oracle::start("bad input").expect("the oracle starts") else {
        return;
    };
    oracle.ask::<Value>("no such op", json!({})).expect_err("an unknown op is an error");
    oracle.ask::<Value>("covers", json!({"pairs": 7})).expect_err("a wrong shape is an error");
    oracle.ask::<Value>("version", json!({})).expect("and the next question is answered");
}

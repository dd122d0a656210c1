//! Selectors in a query: the same texts are understood, in the same way, and the others are refused with the same words.

use proptest::prelude::*;
use rolewright_server::facts;
use rolewright_server::selector::field::FieldSelector;
use rolewright_server::selector::label::LabelSelector;
use rolewright_testkit::compare::{compare, decisions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Asked {
    text: String,
    sets: Vec<BTreeMap<String, String>>,
    /// For field selectors: which resource.
    resource: usize,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Theirs>,
}

#[derive(Debug, Deserialize)]
struct Theirs {
    ok: bool,
    error: String,
    canonical: String,
    matches: Vec<bool>,
}

fn texts(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    let long = "x".repeat(64);
    let word = prop_oneof![
        60 => prop::sample::select(words).prop_map(str::to_owned),
        1 => Just(long),
        1 => prop::sample::select(vec!["é", "\u{7f}", "日", "\u{a0}", "\r", "\u{1}", "'"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 0..9).prop_map(|words| words.concat())
}

fn sets(keys: &'static [&'static str]) -> impl Strategy<Value = Vec<BTreeMap<String, String>>> {
    let value = prop::sample::select(vec!["", "a", "b", "3", "10", "x", "Running"]).prop_map(str::to_owned);
    let key = prop::sample::select(keys).prop_map(str::to_owned);
    prop::collection::vec(prop::collection::btree_map(key, value, 0..4), 1..4)
}

const LABEL_WORDS: &[&str] = &[
    "a",
    "b",
    "app",
    "k8s.io/x",
    "in",
    "notin",
    " in ",
    " notin ",
    "(",
    ")",
    ",",
    "=",
    "==",
    "!=",
    "!",
    ">",
    "<",
    " ",
    "\t",
    "3",
    "-1",
    "10",
    "a=b",
    "a in (a,b)",
    "!a",
    "app notin (x)",
    "a>3",
    "_",
    "/",
    "\0",
    "ü",
    "\"",
    ",b=",
    "a,b",
];
const FIELD_WORDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "spec.host",
    "status.phase",
    "type",
    "reason",
    "regarding.name",
    "involvedObject.name",
    "status.successful",
    "spec.unschedulable",
    "spec.type",
    "=",
    "==",
    "!=",
    "!",
    ",",
    "\\",
    "\\,",
    "\\=",
    "\\\\",
    "a",
    "b",
    "Running",
    "x",
    " ",
    "ü",
    "=a",
    "=Running",
];

fn ours(selector: &Result<(String, Vec<bool>), String>, theirs: &Theirs) -> Option<String> {
    let same = match selector {
        Ok((canonical, matches)) => theirs.ok && *canonical == theirs.canonical && *matches == theirs.matches,
        Err(error) => !theirs.ok && *error == theirs.error,
    };
    (!same).then(|| format!("ours       {selector:?}\nKubernetes {theirs:?}"))
}

#[test]
fn label_selectors_are_read_as_by_kubernetes() {
    let asked = (texts(LABEL_WORDS), sets(&["a", "b", "app", "k8s.io/x", "in"])).prop_map(|(text, sets)| Asked {
        text,
        sets,
        resource: 0,
    });
    compare("selector_label", decisions() / 20, prop::collection::vec(asked, 1..20), |oracle, items| {
        let asked: Vec<Value> = items.iter().map(|item| json!({"label": item.text, "sets": item.sets})).collect();
        let answer: Answer = oracle.ask("selector_parse", json!({"items": asked}))?;
        Ok(items.iter().zip(&answer.results).find_map(|(item, theirs)| {
            let selector = LabelSelector::parse(&item.text).map(|selector| {
                let matches = |set: &BTreeMap<String, String>| selector.matches(|key| set.get(key).map(String::as_str));
                (selector.to_string(), item.sets.iter().map(matches).collect())
            });
            ours(&selector, theirs).map(|difference| format!("{item:?}\n{difference}"))
        }))
    });
}

#[test]
fn field_selectors_are_read_as_by_kubernetes() {
    let keys = &["metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "type", "involvedObject.name"];
    let asked = (texts(FIELD_WORDS), sets(keys), any::<usize>()).prop_map(|(text, sets, resource)| Asked {
        text,
        sets,
        resource,
    });
    compare("selector_field", decisions() / 20, prop::collection::vec(asked, 1..20), |oracle, items| {
        let resources = facts::resources();
        let of = |item: &Asked| &resources[item.resource % resources.len()];
        let question = |item: &Asked| {
            let resource = of(item);
            json!({
                "field": item.text, "sets": item.sets,
                "group": resource.group, "version": resource.version, "kind": resource.kind,
            })
        };
        let asked: Vec<Value> = items.iter().map(question).collect();
        let answer: Answer = oracle.ask("selector_parse", json!({"items": asked}))?;
        Ok(items.iter().zip(&answer.results).find_map(|(item, theirs)| {
            let resource = of(item);
            let selector = FieldSelector::parse(&item.text)
                .and_then(|selector| selector.for_kind(resource.group, resource.version, resource.kind))
                .map(|selector| {
                    let lookup = |set: &BTreeMap<String, String>, key: &str| set.get(key).cloned().unwrap_or_default();
                    let matches = |set: &BTreeMap<String, String>| selector.matches(|key| lookup(set, key));
                    (selector.to_string(), item.sets.iter().map(matches).collect())
                });
            ours(&selector, theirs).map(|difference| format!("{} {item:?}\n{difference}", resource.kind))
        }))
    });
}

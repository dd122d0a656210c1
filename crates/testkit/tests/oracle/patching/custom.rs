//! Patches of objects that are nothing but JSON to the server.

use std::cell::RefCell;

use proptest::prelude::*;
use rolewright_server::patch::{self, PatchType};
use rolewright_testkit::features::Features;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Object, UID, answered, draw, validation};
use crate::random::Random;
use rolewright_testkit::compare::{compare, decisions};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    seed: u64,
    choices: Vec<u8>,
    validation: String,
}

fn cases() -> impl Strategy<Value = Vec<Case>> {
    let validation = prop::sample::select(vec!["", "", "Warn", "Ignore", "Strict"]);
    let case = (any::<u64>().no_shrink(), prop::collection::vec(any::<u8>(), 0..300), validation)
        .prop_map(|(seed, choices, validation)| Case { seed, choices, validation: validation.to_owned() });
    prop::collection::vec(case, 1..20)
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 3 { 7 } else { 10 }) {
        0 => json!(null),
        1 => json!(random.one_in(2)),
        2 => json!(*random.of(&[0_i64, 1, -7, 9_007_199_254_740_993])),
        3 => json!(*random.of(&[0.5, -1.25, 1e21, 1e-7])),
        4 | 5 => json!(*random.of(&["", "a", "<é\">", "a/b~c"])),
        6 => json!(*random.of(&["x", "y"])),
        7 => (0..random.below(4)).map(|_| value(random, depth + 1)).collect(),
        _ => Value::Object(members(random, depth)),
    }
}

fn members(random: &mut Random, depth: usize) -> Map<String, Value> {
    let mut out = Map::new();
    for name in ["a", "b", "c", "a/b", "<é>"] {
        if random.one_in(2) {
            out.insert(name.to_owned(), value(random, depth + 1));
        }
    }
    out
}

fn object(random: &mut Random) -> Object {
    let mut object = Object::new();
    object.insert("apiVersion".to_owned(), json!("example.com/v1"));
    object.insert("kind".to_owned(), json!("Thing"));
    let metadata = json!({"name": "x", "uid": UID, "labels": {"a": random.of(&["a", "b"])}, "generation": 1});
    object.insert("metadata".to_owned(), metadata);
    for name in ["spec", "status", "data"] {
        if random.one_in(2) {
            object.insert(name.to_owned(), value(random, 0));
        }
    }
    object
}

pub(super) fn run(name: &str, kind: PatchType) {
    let features = RefCell::new(Features::default());
    let suite = format!("patch_custom_{name}");
    compare(&suite, decisions() / 100, cases(), |oracle, cases| {
        let mut items = Vec::new();
        let mut mine = Vec::new();
        for case in cases {
            let mut random = Random::new(case.seed);
            let (original, other) = (object(&mut random), object(&mut random));
            let patch = draw::patch(kind, &original, &other, &case.choices);
            mine.push(patch::apply(kind, None, &original, patch.as_bytes(), validation(&case.validation)));
            items.push(json!({
                "type": name, "group": "example.com", "version": "v1", "kind": "Thing", "custom": true,
                "original": original, "patch": patch, "fieldValidation": case.validation,
            }));
        }
        answered(oracle, &mut features.borrow_mut(), &items, &mine)
    });
    println!("{suite}\n{}", features.borrow());
}

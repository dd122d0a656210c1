//! Objects that are made to make the server work.

use std::time::{Duration, Instant};

use rolewright_server::facts::resources;
use rolewright_server::strategy::{Object, before_create};
use serde_json::{Value, json};

/// A twelfth of what a request may have: enough to see a square.
const SIZE: usize = 1 << 18;

#[test]
fn large_faulty_objects_are_answered_in_time() {
    let maps = resources().iter().find(|resource| resource.plural == "configmaps").unwrap();
    let many = |one: Value| vec![one.clone(); SIZE / one.to_string().len()];
    let keys = || (0..SIZE / 24).map(|i| (format!("-{i}"), json!("-"))).collect::<Object>();
    for (what, metadata) in [
        ("controllers", json!({"ownerReferences": many(json!({"controller": true}))})),
        ("manager", json!({"managedFields": [{"manager": "\u{7}".repeat(SIZE)}]})),
        ("managers", json!({"managedFields": many(json!({"manager": "\u{7}\u{7}"}))})),
        ("labels", json!({"labels": keys()})),
        ("annotations", json!({"annotations": keys()})),
        ("finalizers", json!({"finalizers": many(json!("-"))})),
        ("name", json!({"name": "/".repeat(SIZE)})),
        ("prefix", json!({"generateName": "-".repeat(SIZE)})),
    ] {
        let started = Instant::now();
        let mut object = json!({"metadata": metadata}).as_object().unwrap().clone();
        let failure = before_create(maps, &mut object, "default").unwrap_err();
        let answer = failure.to_json().to_string().len();
        assert!(answer < 100 * SIZE, "{what}: {answer} bytes");
        assert!(started.elapsed() < Duration::from_secs(30), "{what}: {:?}", started.elapsed());
    }
}

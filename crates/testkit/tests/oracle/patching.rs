//! Patches change objects as in Kubernetes, and fail with the same words.

mod custom;
mod draw;

use std::cell::RefCell;

use proptest::prelude::*;
use rolewright_server::facts;
use rolewright_server::patch::{self, PatchType, Patched};
use rolewright_server::query::FieldValidation;
use rolewright_server::status::Failure;
use rolewright_server::strategy::Object;
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::features::Features;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::document::{Document, pair};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Two objects of a kind, and how a patch is drawn from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    original: Document,
    other: Document,
    choices: Vec<u8>,
    validation: String,
}

#[derive(Deserialize)]
struct Read {
    results: Vec<ReadObject>,
}

#[derive(Deserialize)]
struct ReadObject {
    object: Option<Object>,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Theirs>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Theirs {
    patched: Option<Value>,
    result: Option<Value>,
    error: String,
    strict_errors: Vec<String>,
    status: Option<Value>,
}

const UID: &str = "00000000-0000-0000-0000-000000000000";

fn cases() -> impl Strategy<Value = Vec<Case>> {
    let validation = prop::sample::select(vec!["", "", "Warn", "Ignore", "Strict"]);
    let case = (pair(), prop::collection::vec(any::<u8>(), 0..300), validation).prop_map(
        |((original, other), choices, validation)| Case { original, other, choices, validation: validation.to_owned() },
    );
    prop::collection::vec(case, 1..20)
}

/// The objects as the server has them: decoded, with defaults. Some defaults follow from the name, which may be new.
fn read<'a>(oracle: &mut Oracle, documents: impl Iterator<Item = &'a Document>) -> anyhow::Result<Vec<Option<Object>>> {
    let documents: Vec<&Document> = documents.collect();
    let bodies: Vec<String> = documents.iter().map(|document| document.body.clone()).collect();
    let named = decoded(oracle, &documents, &bodies)?;
    let bodies: Vec<String> = named.into_iter().map(|object| json!(object).to_string()).collect();
    decoded(oracle, &documents, &bodies)
}

fn decoded(oracle: &mut Oracle, documents: &[&Document], bodies: &[String]) -> anyhow::Result<Vec<Option<Object>>> {
    let item = |(Document { group, version, kind, .. }, body): (&&Document, &String)| {
        json!({
            "contentType": "application/json", "body": body, "defaulting": true,
            "group": group, "version": version, "kind": kind,
        })
    };
    let items: Vec<Value> = documents.iter().zip(bodies).map(item).collect();
    let answer: Read = oracle.ask("decode", json!({"items": items}))?;
    Ok(answer.results.into_iter().map(|read| read.object.map(prepared)).collect())
}

/// What the oracle does to an object before it patches it, and a name.
fn prepared(mut object: Object) -> Object {
    if let Some(metadata) = object.entry("metadata").or_insert_with(|| json!({})).as_object_mut() {
        metadata.remove("managedFields");
        metadata.entry("uid").or_insert_with(|| json!(UID));
        // Nothing without a name can be patched.
        metadata.entry("name").or_insert_with(|| json!("name"));
    }
    object
}

/// Numbers in one form: Go writes `1.0` as `1` where it has read it.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => json!(format!("number {}", float + 0.0)),
            _ => json!(format!("number {:?}", number.as_f64())),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

fn differs(ours: &Result<Patched, Failure>, theirs: &Theirs) -> Option<String> {
    let difference = |ours: &dyn std::fmt::Display| Some(format!("ours       {ours}\nKubernetes {theirs:?}"));
    match (ours, &theirs.patched) {
        (Ok(ours), Some(patched)) => {
            let mine = Value::Object(ours.object.clone());
            if plain(&mine) != plain(patched) {
                return difference(&mine);
            }
            if let Some(text) = ours.text()
                && serde_json::from_str::<Value>(&text).ok().map(|value| plain(&value)) != Some(plain(patched))
            {
                return difference(&text);
            }
            if theirs.result.is_some() && !theirs.strict_errors.starts_with(&ours.strict) {
                return difference(&format!("{:?}", ours.strict));
            }
            let message = theirs.status.as_ref().and_then(|status| status["message"].as_str()).unwrap_or_default();
            let mine = ours.refused("").message;
            let shows = message.starts_with(" \"\" is invalid: patch: Invalid value: ");
            if shows && !message.starts_with(mine.as_str()) { difference(&mine) } else { None }
        }
        (Err(ours), None) if theirs.error.starts_with("panic: ") => {
            if ours.code == 500 {
                None
            } else {
                difference(&ours.to_json())
            }
        }
        // A list has no kind.
        (Err(ours), Some(Value::Array(_)) | None) => {
            let mine = ours.to_json();
            let theirs = theirs.status.clone().unwrap_or_default();
            if mine == theirs { None } else { Some(format!("ours       {mine}\nKubernetes {theirs}")) }
        }
        (Err(ours), Some(_)) => difference(&ours.to_json()),
        (Ok(ours), None) => difference(&Value::Object(ours.object.clone())),
    }
}

fn run(name: &str, kind: PatchType) {
    let features = RefCell::new(Features::default());
    let suite = format!("patch_{name}");
    compare(&suite, decisions() / 100, cases(), |oracle, cases| {
        let originals = read(oracle, cases.iter().map(|case| &case.original))?;
        let others = read(oracle, cases.iter().map(|case| &case.other))?;
        let mut items = Vec::new();
        let mut mine = Vec::new();
        for ((case, original), other) in cases.iter().zip(originals).zip(others) {
            let (Some(original), Some(other)) = (original, other) else { continue };
            let patch = draw::patch(kind, &original, &other, &case.choices);
            let Document { group, version, kind: of, .. } = &case.original;
            let ty = facts::type_of(group, version, of).expect("every resource has a type");
            mine.push(patch::apply(kind, Some(ty), &original, patch.as_bytes(), validation(&case.validation)));
            items.push(json!({
                "type": name, "group": group, "version": version, "kind": of,
                "original": original, "patch": patch, "fieldValidation": case.validation,
            }));
        }
        answered(oracle, &mut features.borrow_mut(), &items, &mine)
    });
    println!("{suite}\n{}", features.borrow());
}

/// How strictly fields are looked at.
fn validation(name: &str) -> FieldValidation {
    match name {
        "Ignore" => FieldValidation::Ignore,
        "Strict" => FieldValidation::Strict,
        _ => FieldValidation::Warn,
    }
}

/// Asks for patches, and says what differs from ours.
fn answered(
    oracle: &mut Oracle,
    features: &mut Features,
    items: &[Value],
    mine: &[Result<Patched, Failure>],
) -> anyhow::Result<Option<String>> {
    let answer: Answer = oracle.ask("patch", json!({"items": items}))?;
    for ((item, ours), theirs) in items.iter().zip(mine).zip(&answer.results) {
        features.count("patches", true);
        features.count("applied", ours.is_ok());
        features.count("changed", ours.as_ref().is_ok_and(|o| Value::Object(o.object.clone()) != item["original"]));
        features.count("strict errors", ours.as_ref().is_ok_and(|ours| !ours.strict.is_empty()));
        for (feature, code) in [("malformed: 400", 400), ("refused: 422", 422), ("failed: 500", 500)] {
            features.count(feature, ours.as_ref().is_err_and(|failure| failure.code == code));
        }
        let Some(difference) = differs(ours, theirs) else { continue };
        // Kubernetes walks over maps in random order: of several faults it names any.
        let again: Answer = oracle.ask("patch", json!({"items": vec![item; 150]}))?;
        if again.results.iter().all(|theirs| differs(ours, theirs).is_some()) {
            return Ok(Some(format!("{item}\n{difference}")));
        }
    }
    Ok(None)
}

#[test]
fn json_patches_apply_as_in_kubernetes() {
    run("json", PatchType::Json);
}

#[test]
fn merge_patches_apply_as_in_kubernetes() {
    run("merge", PatchType::Merge);
}

#[test]
fn strategic_merge_patches_apply_as_in_kubernetes() {
    run("strategic", PatchType::Strategic);
}

#[test]
fn json_patches_apply_to_custom_objects_as_in_kubernetes() {
    custom::run("json", PatchType::Json);
}

#[test]
fn merge_patches_apply_to_custom_objects_as_in_kubernetes() {
    custom::run("merge", PatchType::Merge);
}

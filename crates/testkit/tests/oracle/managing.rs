//! managedFields and server-side apply, through the lives of random objects.

use proptest::prelude::*;
use rolewright_server::facts::{self, Resource};
use rolewright_server::managed::{self, Request};
use rolewright_testkit::oracle::Oracle;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::compare::{compare, decisions};
use crate::random::{Random, mutated, random_object};

type Object = Map<String, Value>;

/// The life of one object.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Life {
    group: String,
    version: String,
    kind: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Step {
    operation: String,
    manager: String,
    subresource: String,
    force: bool,
    object: Value,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Theirs>,
}

#[derive(Deserialize)]
struct Theirs {
    steps: Vec<TheirStep>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct TheirStep {
    object: Option<Value>,
    error: String,
    status: Option<Value>,
}

fn resource_of(life: &Life) -> &'static Resource {
    let is = |resource: &&Resource| {
        (resource.group, resource.version, resource.kind) == (&life.group, &life.version, &life.kind)
    };
    facts::resources().iter().find(is).expect("lives are those of known kinds")
}

fn api_version(resource: &Resource) -> String {
    if resource.group.is_empty() {
        resource.version.to_owned()
    } else {
        format!("{}/{}", resource.group, resource.version)
    }
}

/// What clients say about managedFields, sensible or not.
fn wish(random: &mut Random, version: &str) -> Value {
    let fields = |random: &mut Random| {
        let all = [
            json!({"f:data": {".": {}, "f:a": {}}}),
            json!({"f:spec": {"f:selector": {"f:a": {}}, "f:replicas": {}}}),
            json!({"f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}, "f:annotations": {}, "f:name": {}}}),
            json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}, "v:1.50": {}, "i:3": {}}}}),
            json!({"f:spec": {"f:ports": {"k:{\"protocol\":\"TCP\",\"port\":80}": {".": {}, "f:port": {}}}}}),
            json!({"f:kind": {}, "x:new": {}, "f:rules": {"f:x": {}}}),
            json!({"f:a": 1}),
            json!({"a": {}}),
            json!({}),
        ];
        random.of(&all).clone()
    };
    let entry = |random: &mut Random| {
        let version = if random.one_in(6) { *random.of(&["nonsense/v9", "v9", "a/b/c", ""]) } else { version };
        let mut entry = json!({
            "manager": random.of(&["a", "b", "z", ""]),
            "operation": if random.one_in(10) { "Merge" } else { *random.of(&["Apply", "Update"]) },
            "apiVersion": version,
            "fieldsType": if random.one_in(20) { "FieldsV2" } else { "FieldsV1" },
            "fieldsV1": fields(random),
        });
        if !random.one_in(3) {
            entry["time"] = json!(random.of(&["1999-01-01T00:00:00Z", "1960-01-01T00:00:00Z", "1999-06-01T00:00:00Z"]));
        }
        if random.one_in(4) {
            entry["subresource"] = json!("status");
        }
        entry
    };
    match random.below(8) {
        0 => json!([]),
        1 => json!([{}]),
        2 => json!([{}, {}]),
        // More than are kept apart.
        3 => (0..13)
            .map(|at| {
                let mut entry = entry(random);
                entry["manager"] = json!(format!("m{at}"));
                entry["operation"] = json!("Update");
                entry["fieldsV1"] = json!({"f:metadata": {"f:labels": {"f:a": {}, format!("f:{at}"): {}}}});
                if at == 7 && random.one_in(2) {
                    entry["manager"] = json!("ancient-changes");
                }
                entry
            })
            .collect(),
        _ => {
            let count = 1 + random.below(3);
            (0..count).map(|_| entry(random)).collect()
        }
    }
}

fn life(seed: u64, applies: bool) -> Life {
    let mut random = Random::new(seed);
    let stored: Vec<&Resource> =
        facts::resources().iter().filter(|resource| resource.verbs.contains(&"update")).collect();
    let resource = *random.of(&stored);
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types");
    let version = api_version(resource);
    let mut steps: Vec<Step> = Vec::new();
    let mut last = Value::Null;
    for at in 0..2 + random.below(4) {
        let apply = applies && random.one_in(2);
        let mut object = if last.is_null() { random_object(&mut random, ty) } else { mutated(&mut random, ty, &last) };
        object["apiVersion"] = json!(version);
        object["kind"] = json!(resource.kind);
        object["metadata"]["name"] = json!("x");
        last = object.clone();
        if !apply && random.one_in(8) {
            object["metadata"]["managedFields"] = wish(&mut random, &version);
        }
        let subresources: Vec<&str> = resource
            .subresources
            .iter()
            .filter(|sub| sub.kind == resource.kind && sub.verbs.contains(&"update"))
            .map(|sub| sub.name)
            .collect();
        let subresource =
            if at > 0 && !subresources.is_empty() && random.one_in(3) { random.of(&subresources) } else { "" };
        steps.push(Step {
            operation: if apply { "apply" } else { "update" }.to_owned(),
            manager: (*random.of(&["alice", "bob", "carol", ""])).to_owned(),
            subresource: subresource.to_owned(),
            force: random.one_in(2),
            object,
        });
    }
    Life { group: resource.group.into(), version: resource.version.into(), kind: resource.kind.into(), steps }
}

fn as_object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("no object: {value}") };
    object
}

fn take_managed_fields(object: &mut Object) -> Option<Value> {
    object.get_mut("metadata").and_then(Value::as_object_mut).and_then(|metadata| metadata.remove("managedFields"))
}

/// The first step at which we differ, and how many were compared.
fn differs(life: &Life, theirs: Theirs) -> (Option<String>, usize) {
    let resource = resource_of(life);
    let version = api_version(resource);
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types");
    let mut live: Option<Object> = None;
    let mut compared = 0;
    for (at, (step, theirs)) in life.steps.iter().zip(theirs.steps).enumerate() {
        let now = format!("2000-01-01T00:00:0{at}Z");
        let sub = resource.subresources.iter().find(|sub| sub.name == step.subresource);
        // The oracle asks the strategies, and those of two subresources have what pods have; the server asks storages.
        let reset_fields = match step.subresource.as_str() {
            "ephemeralcontainers" | "resize" => &["status"],
            _ => sub.map_or(resource.handling.reset_fields, |sub| sub.handling.reset_fields),
        };
        let request = Request {
            ty,
            api_version: &version,
            manager: &step.manager,
            subresource: &step.subresource,
            reset_fields,
            now: &now,
        };
        if step.operation == "update" {
            // The object is as Kubernetes has read it; what we have to say about is who owns what.
            let Some(object) = theirs.object else { continue };
            let theirs = as_object(object);
            let mut ours = theirs.clone();
            take_managed_fields(&mut ours);
            if let Some(wish) = step.object["metadata"].get("managedFields") {
                ours["metadata"]["managedFields"] = wish.clone();
            }
            managed::update(&request, live.as_ref(), &mut ours);
            if let Some(live) = &live {
                managed::keep_times(live, &mut ours);
            }
            compared += 1;
            if ours != theirs {
                let text = |object: &mut Object| {
                    let fields = take_managed_fields(object).unwrap_or_default();
                    serde_json::to_string_pretty(&fields).expect("JSON")
                };
                let (mut ours, mut theirs) = (ours, theirs.clone());
                let texts = (text(&mut ours), text(&mut theirs));
                return (
                    Some(format!("step {at}: ours {}\nKubernetes {}\n{ours:?}\n{theirs:?}", texts.0, texts.1)),
                    compared,
                );
            }
            live = Some(theirs);
        }
    }
    (None, compared)
}

fn lives(applies: bool) -> impl Strategy<Value = Vec<Life>> {
    prop::collection::vec(any::<u64>().no_shrink().prop_map(move |seed| life(seed, applies)), 1..20)
}

fn run(suite: &str, applies: bool) {
    let total = std::cell::Cell::new(0);
    let failed = std::cell::Cell::new(0);
    compare(suite, decisions() / 500, lives(applies), |oracle: &mut Oracle, lives| {
        let answer: Answer = oracle.ask("managed_fields", json!({"items": lives}))?;
        for (life, theirs) in lives.iter().zip(answer.results) {
            if theirs.error.as_ref().is_some_and(|error| !error.is_empty()) {
                failed.set(failed.get() + 1);
            }
            let (difference, compared) = differs(life, theirs);
            total.set(total.get() + compared);
            if let Some(difference) = difference {
                return Ok(Some(format!("{} {}: {difference}", life.kind, life.version)));
            }
        }
        Ok(None)
    });
    println!("{suite}: {} steps compared, {} lives ended early", total.get(), failed.get());
}

#[test]
fn updates_are_tracked_as_by_kubernetes() {
    run("managed_updates", false);
}

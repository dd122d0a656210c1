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

/// Puts something into a configuration that does not belong there.
fn spoil(random: &mut Random, object: &mut Value) {
    let odd = [json!(1), json!(1.5), json!("x"), json!(true), json!([1, "a"]), json!({"a": 1}), json!(null)];
    let odd = random.of(&odd).clone();
    match random.below(5) {
        0 => object["unknown"] = odd,
        1 => object["metadata"]["labels"] = json!({"a": odd}),
        2 => object["metadata"]["finalizers"] = json!(["a", odd]),
        3 => object["metadata"]["ownerReferences"] = json!([odd]),
        _ => object["metadata"]["managedFields"] = json!([]),
    }
}

fn life(seed: u64, applies: bool) -> Life {
    let mut random = Random::new(seed);
    // What version 1 of an autoscaler does not say is in its annotations, and Kubernetes compares that too.
    let known = |resource: &&Resource| !(applies && resource.group == "autoscaling" && resource.version == "v1");
    let stored: Vec<&Resource> =
        facts::resources().iter().filter(|resource| resource.verbs.contains(&"update")).filter(known).collect();
    let resource = *random.of(&stored);
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types");
    let version = api_version(resource);
    let mut steps: Vec<Step> = Vec::new();
    let mut last = Value::Null;
    for at in 0..2 + random.below(if applies { 7 } else { 4 }) {
        let apply = applies && random.one_in(2);
        let mut object = if last.is_null() { random_object(&mut random, ty) } else { mutated(&mut random, ty, &last) };
        object["apiVersion"] = json!(version);
        object["kind"] = json!(resource.kind);
        object["metadata"]["name"] = json!("x");
        if let Some(metadata) = object["metadata"].as_object_mut() {
            // The oracle keeps these for itself.
            metadata.retain(|name, _| !matches!(name.as_str(), "uid" | "resourceVersion"));
        }
        if applies && random.one_in(3) {
            // What kubectl applied last is this, or was before it was changed.
            let kept = if random.one_in(3) { mutated(&mut random, ty, &object) } else { object.clone() };
            let mut kept = kept;
            kept["metadata"]["annotations"] = json!({"other": "a"});
            object["metadata"]["annotations"] =
                json!({"kubectl.kubernetes.io/last-applied-configuration": kept.to_string(), "other": "a"});
        }
        last = object.clone();
        if !apply && random.one_in(8) {
            object["metadata"]["managedFields"] = wish(&mut random, &version);
        }
        if apply && random.one_in(12) {
            spoil(&mut random, &mut object);
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
            manager: (*random.of(&["alice", "bob", "kubectl", ""])).to_owned(),
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

/// Our result of a step beside Kubernetes'.
struct Pair {
    live: Option<Object>,
    ours: Result<Object, Value>,
    theirs: Result<Object, Value>,
    /// Applied objects have not been filled with defaults yet.
    applied: bool,
}

/// Takes the steps of a life, each from where Kubernetes is.
fn pairs(life: &Life, theirs: Theirs) -> Vec<Option<Pair>> {
    let resource = resource_of(life);
    let version = api_version(resource);
    let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types");
    let mut live: Option<Object> = None;
    let mut pairs = Vec::new();
    for (at, (step, theirs)) in life.steps.iter().zip(theirs.steps).enumerate() {
        let now = format!("2000-01-01T00:00:0{at}Z");
        let sub = resource.subresources.iter().find(|sub| sub.name == step.subresource);
        let reset_fields = match step.subresource.as_str() {
            // The oracle asks the strategies, and those of two subresources have what pods have; the server asks storages.
            "ephemeralcontainers" | "resize" => &["status"],
            _ => sub.map_or(resource.handling.reset_fields, |sub| sub.handling.reset_fields),
        };
        let request = Request {
            ty,
            api_version: &version,
            manager: &step.manager,
            subresource: &step.subresource,
            reset_fields,
            views: &[],
            now: &now,
        };
        let before = live.clone();
        let theirs = match theirs {
            TheirStep { object: Some(object), .. } => Ok(as_object(object)),
            TheirStep { status, error, .. } => Err(status.unwrap_or(json!(error))),
        };
        if let Ok(theirs) = &theirs {
            live = Some(theirs.clone());
        }
        if step.operation == "apply" {
            let applied = as_object(step.object.clone());
            let ours =
                managed::apply(&request, before.as_ref(), &applied, step.force).map_err(|failure| failure.to_json());
            pairs.push(Some(Pair { live: before, ours, theirs, applied: true }));
            continue;
        }
        // The object is as Kubernetes has read it; what we have to say is who owns what.
        let Ok(object) = &theirs else {
            pairs.push(None);
            continue;
        };
        let mut ours = object.clone();
        take_managed_fields(&mut ours);
        if let Some(wish) = step.object["metadata"].get("managedFields") {
            ours["metadata"]["managedFields"] = wish.clone();
        }
        managed::update(&request, before.as_ref(), &mut ours);
        pairs.push(Some(Pair { live: before, ours: Ok(ours), theirs, applied: false }));
    }
    pairs
}

/// Fills applied objects with defaults, which is not what is compared here.
fn fill_with_defaults(oracle: &mut Oracle, lives: &[Life], pairs: &mut [Vec<Option<Pair>>]) -> anyhow::Result<()> {
    #[derive(Deserialize)]
    struct Answer {
        results: Vec<Decoded>,
    }
    #[derive(Deserialize)]
    struct Decoded {
        object: Option<Value>,
    }
    let mut items = Vec::new();
    let mut places = Vec::new();
    for (life, pairs) in lives.iter().zip(pairs.iter_mut()) {
        for pair in pairs.iter_mut().flatten().filter(|pair| pair.applied) {
            if let Ok(ours) = &mut pair.ours {
                let fields = take_managed_fields(ours);
                items.push(json!({
                    "contentType": "application/json", "body": serde_json::to_string(ours)?, "defaulting": true,
                    "group": life.group, "version": life.version, "kind": life.kind,
                }));
                places.push((ours, fields));
            }
        }
    }
    let answer: Answer = oracle.ask("decode", json!({"items": items}))?;
    for ((ours, fields), decoded) in places.into_iter().zip(answer.results) {
        if let Some(object) = decoded.object {
            *ours = as_object(object);
        }
        if let Some(fields) = fields {
            ours["metadata"]["managedFields"] = fields;
        }
    }
    Ok(())
}

/// Refusals whose parts Kubernetes leaves in the order of its maps, in one order.
fn in_one_order(mut status: Value) -> Value {
    if let Some(message) = status["message"].as_str() {
        // Type errors of another decoder, and of whichever field it came to first.
        let message = message.split(" to proper version").next().unwrap_or(message);
        let mut lines: Vec<&str> = message.split('\n').collect();
        if message.contains("errors:") {
            lines.sort_unstable();
        }
        status["message"] = json!(lines.join("\n"));
    }
    if let Some(causes) = status["details"]["causes"].as_array_mut() {
        causes.sort_by_key(ToString::to_string);
    }
    status
}

fn differs(pair: Pair) -> Option<String> {
    let (mut ours, mut theirs) = match (pair.ours, pair.theirs) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(ours), Err(theirs)) => {
            let (mut ours, mut theirs) = (in_one_order(ours), in_one_order(theirs));
            // At an unknown field Kubernetes looks no further, wherever it is then.
            if [&ours, &theirs]
                .iter()
                .any(|status| status["message"].to_string().contains("field not declared in schema"))
            {
                for status in [&mut ours, &mut theirs] {
                    status["message"] = json!(null);
                }
            }
            return (ours != theirs).then(|| format!("ours {ours}\nKubernetes {theirs}"));
        }
        (ours, theirs) => {
            let text = |side: Result<Object, Value>| match side {
                Ok(object) => Value::Object(object),
                Err(status) => status,
            };
            return Some(format!("ours {}\nKubernetes {}", text(ours), text(theirs)));
        }
    };
    if let Some(live) = &pair.live {
        managed::keep_times(live, &mut ours);
    }
    if ours == theirs {
        return None;
    }
    let text = |object: &mut Object| {
        let fields = take_managed_fields(object).unwrap_or_default();
        serde_json::to_string_pretty(&fields).expect("JSON is text")
    };
    let (our_fields, their_fields) = (text(&mut ours), text(&mut theirs));
    let json = |object| Value::Object(object);
    let (ours, theirs) = (json(ours), json(theirs));
    Some(format!("ours {our_fields}\nKubernetes {their_fields}\n{ours}\n{theirs}"))
}

fn lives(applies: bool) -> impl Strategy<Value = Vec<Life>> {
    prop::collection::vec(any::<u64>().no_shrink().prop_map(move |seed| life(seed, applies)), 1..20)
}

fn run(suite: &str, applies: bool) {
    let counts = std::cell::RefCell::new([0_u32; 3]);
    compare(suite, decisions() / 500, lives(applies), |oracle: &mut Oracle, lives| {
        let answer: Answer = oracle.ask("managed_fields", json!({"items": lives}))?;
        let mut all: Vec<_> = lives.iter().zip(answer.results).map(|(life, theirs)| pairs(life, theirs)).collect();
        if applies {
            fill_with_defaults(oracle, lives, &mut all)?;
        }
        for (life, pairs) in lives.iter().zip(all) {
            for (at, pair) in pairs.into_iter().enumerate() {
                let Some(pair) = pair else { continue };
                let conflict = pair.theirs.as_ref().is_err_and(|status| status["code"] == 409);
                let [steps, conflicts, refusals] = &mut *counts.borrow_mut();
                *steps += 1;
                *conflicts += u32::from(conflict);
                *refusals += u32::from(pair.theirs.is_err() && !conflict);
                if let Some(difference) = differs(pair) {
                    return Ok(Some(format!("{} {}: step {at}: {difference}", life.kind, life.version)));
                }
            }
        }
        Ok(None)
    });
    let [steps, conflicts, refusals] = counts.into_inner();
    println!("{suite}: {steps} steps compared, {conflicts} conflicts and {refusals} other refusals among them");
}

#[test]
fn updates_are_tracked_as_by_kubernetes() {
    run("managed_updates", false);
}

#[test]
fn configurations_are_applied_as_by_kubernetes() {
    run("managed_applies", true);
}

//! managedFields and server-side apply, through the lives of random objects.

mod built_in;
mod clients;
mod custom;
mod sides;

use proptest::prelude::*;
use rolewright_server::managed::{self, Kind};
use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::oracle::Oracle;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use sides::Kinds;

type Object = Map<String, Value>;

/// The life of one object.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Life {
    group: String,
    version: String,
    kind: String,
    /// Of a custom kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<Value>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Step {
    operation: String,
    manager: String,
    /// Both those of the life unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(default)]
    version: String,
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
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct TheirStep {
    /// What the step found, where it was written in another version.
    live: Option<Value>,
    object: Option<Value>,
    error: String,
    status: Option<Value>,
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
    kind: Kind<'static>,
    ours: Result<Object, Value>,
    theirs: Result<Object, Value>,
    /// Applied objects have not been filled with defaults yet.
    applied: bool,
    /// Whether managers have used several versions of a built-in kind.
    converted: bool,
}

/// Takes the steps of a life, each from where Kubernetes is.
fn pairs(life: &Life, theirs: Theirs) -> Vec<Option<Pair>> {
    assert_eq!(theirs.error, "", "{}", json!(life));
    let kinds = Kinds::of(life);
    let converted = life.definition.is_none()
        && life.steps.windows(2).any(|pair| (&pair[0].group, &pair[0].version) != (&pair[1].group, &pair[1].version));
    let mut live: Option<Object> = None;
    let mut pairs = Vec::new();
    for (at, (step, theirs)) in life.steps.iter().zip(theirs.steps).enumerate() {
        let kind = kinds.described(step);
        let now = format!("2000-01-01T00:00:0{at}Z");
        let before = theirs.live.map(as_object).or_else(|| live.clone());
        live.clone_from(&before);
        let theirs = match theirs.object {
            Some(object) => Ok(as_object(object)),
            None => Err(theirs.status.unwrap_or(json!(theirs.error))),
        };
        if let Ok(theirs) = &theirs {
            live = Some(theirs.clone());
        }
        if step.operation == "apply" {
            let applied = as_object(step.object.clone());
            let ours = kinds.with(step, &now, |request| managed::apply(request, before.as_ref(), &applied, step.force));
            let ours = ours.map(|object| kinds.defaulted(step, object)).map_err(|failure| failure.to_json());
            pairs.push(Some(Pair { live: before, kind, ours, theirs, applied: true, converted }));
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
        kinds.with(step, &now, |request| managed::update(request, before.as_ref(), &mut ours));
        pairs.push(Some(Pair { live: before, kind, ours: Ok(ours), theirs, applied: false, converted }));
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
    for (life, pairs) in lives.iter().zip(pairs.iter_mut()).filter(|(life, _)| life.definition.is_none()) {
        for (step, pair) in life.steps.iter().zip(pairs).filter_map(|(step, pair)| Some((step, pair.as_mut()?))) {
            if !pair.applied {
                continue;
            }
            if let Ok(ours) = &mut pair.ours {
                let fields = take_managed_fields(ours);
                items.push(json!({
                    "contentType": "application/json", "body": serde_json::to_string(ours)?, "defaulting": true,
                    "group": step.group.as_ref().unwrap_or(&life.group),
                    "version": if step.version.is_empty() { &life.version } else { &step.version },
                    "kind": life.kind,
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
        managed::keep_times(pair.kind, live, &mut ours);
    }
    if ours == theirs {
        return None;
    }
    if pair.converted {
        // What has been through another version is not always the same to Kubernetes when its text is: what it says of
        // times then is no more than that.
        for object in [&mut ours, &mut theirs] {
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            let entries = metadata.and_then(|metadata| metadata.get_mut("managedFields")).and_then(Value::as_array_mut);
            if let Some(entries) = entries {
                for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                    entry.remove("time");
                }
                entries.sort_by_key(ToString::to_string);
            }
        }
        if ours == theirs {
            return None;
        }
    }
    let text = |object: &mut Object| take_managed_fields(object).unwrap_or_default();
    let (our_fields, their_fields) = (text(&mut ours), text(&mut theirs));
    let json = |object| Value::Object(object);
    let (ours, theirs) = (json(ours), json(theirs));
    Some(format!("ours {our_fields}\nKubernetes {their_fields}\n{ours}\n{theirs}"))
}

/// Lives beside Kubernetes', step by step.
fn compared(oracle: &mut Oracle, lives: &[Life]) -> anyhow::Result<Vec<Vec<Option<Pair>>>> {
    let answer: Answer = oracle.ask("managed_fields", json!({"items": lives}))?;
    let mut all: Vec<_> = lives.iter().zip(answer.results).map(|(life, theirs)| pairs(life, theirs)).collect();
    fill_with_defaults(oracle, lives, &mut all)?;
    Ok(all)
}

/// The first difference in a life.
fn difference(pairs: Vec<Option<Pair>>) -> Option<String> {
    let steps = pairs.into_iter().enumerate();
    steps.filter_map(|(at, pair)| Some((at, differs(pair?)?))).map(|(at, what)| format!("step {at}: {what}")).next()
}

fn run(suite: &str, cases: u32, life: fn(u64) -> Life) {
    let counts = std::cell::RefCell::new([0_usize; 3]);
    let lives = prop::collection::vec(any::<u64>().no_shrink().prop_map(life), 1..20);
    compare(suite, cases, lives, |oracle: &mut Oracle, lives| {
        for (life, pairs) in lives.iter().zip(compared(oracle, lives)?) {
            let [steps, conflicts, refusals] = &mut *counts.borrow_mut();
            let failed = pairs.iter().flatten().filter(|pair| pair.theirs.is_err()).count();
            let is_conflict = |pair: &&Pair| pair.theirs.as_ref().is_err_and(|status| status["code"] == 409);
            let conflict = pairs.iter().flatten().filter(is_conflict).count();
            *steps += pairs.iter().flatten().count();
            *conflicts += conflict;
            *refusals += failed - conflict;
            let Some(what) = difference(pairs) else { continue };
            // Kubernetes walks over maps in random order: of several faults it names any, and values in any order.
            if compared(oracle, &vec![life.clone(); 100])?.into_iter().all(|pairs| difference(pairs).is_some()) {
                return Ok(Some(format!("{what}\n{}", json!(life))));
            }
        }
        Ok(None)
    });
    let [steps, conflicts, refusals] = counts.into_inner();
    println!("{suite}: {steps} steps compared, {conflicts} conflicts and {refusals} other refusals among them");
}

#[test]
fn updates_are_tracked_as_by_kubernetes() {
    run("managed_updates", decisions() / 500, |seed| built_in::life(seed, false));
}

#[test]
fn configurations_are_applied_as_by_kubernetes() {
    run("managed_applies", decisions() / 500, |seed| built_in::life(seed, true));
}

#[test]
fn versions_are_told_apart_as_by_kubernetes() {
    run("managed_versions", decisions() / 1000, built_in::life_in_versions);
}

#[test]
fn custom_objects_are_tracked_as_by_kubernetes() {
    run("managed_custom", decisions() / 100, custom::life);
}

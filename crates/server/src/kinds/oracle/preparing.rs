//! Writes: good objects with a few random changes, prepared and judged by these rules and by Kubernetes' strategies.
//!
//! Not every check of Kubernetes is here, but what is here must say the same in the same order.

use std::collections::BTreeMap;

use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use super::defaulting::{decoded, difference, rounds};
use super::random::Random;
use crate::facts::{Resource, Shape, Ty, Type, resources, type_of};
use crate::strategy::Object;

const UID: &str = "00000000-0000-0000-0000-000000000000";

#[derive(Deserialize)]
struct Answer {
    results: Vec<Verdict>,
}

#[derive(Deserialize)]
struct Verdict {
    object: Option<Object>,
    errors: Vec<Fault>,
    warnings: Vec<String>,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct Fault {
    field: String,
    text: String,
}

fn bases() -> Vec<(&'static Resource, Object)> {
    let all: Vec<Object> = serde_json::from_str(include_str!("bases.json")).unwrap();
    let with_resource = |object: Object| {
        let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let of = |known: &&Resource| (known.group, known.version, known.kind) == (group, version, kind);
        (resources().iter().find(of).unwrap(), object)
    };
    let mut bases: Vec<_> = all.into_iter().map(with_resource).collect();
    for (resource, object) in bases.iter_mut().filter(|(resource, _)| resource.kind == "Service") {
        crate::kinds::strategy("", resource.plural).default(object);
        crate::kinds::service::allocate(object, || "10.0.0.5".to_owned(), || 30005);
    }
    bases
}

/// Changes something somewhere: follows a random way into the object.
fn change(random: &mut Random, ty: &'static Type, object: &mut Object) {
    let fields: Vec<_> = ty.fields().filter(|field| !matches!(field.name, "apiVersion" | "kind")).collect();
    if fields.is_empty() {
        return;
    }
    let present: Vec<_> = fields.iter().copied().filter(|field| object.contains_key(field.name)).collect();
    if !present.is_empty() && random.chance(80) {
        let field = random.pick(&present);
        let value = object.get_mut(field.name).unwrap();
        match (field.ty, value) {
            (Ty::Ref(inner), Value::Object(below)) if matches!(inner.shape, Shape::Struct(_)) && random.chance(95) => {
                change(random, inner, below);
            }
            (Ty::List(Ty::Ref(inner)), Value::Array(items)) if !items.is_empty() && random.chance(90) => {
                let at = usize::try_from(random.number(items.len() as u64)).unwrap();
                if random.chance(8) {
                    items.push(items[at].clone());
                } else if let Value::Object(below) = &mut items[at]
                    && matches!(inner.shape, Shape::Struct(_))
                {
                    change(random, inner, below);
                }
            }
            (_, value) if random.chance(70) => *value = random.value(field, field.ty, 6, 1),
            _ => {
                object.remove(field.name);
            }
        }
    } else {
        let field = random.pick(&fields);
        let value = random.value(field, field.ty, 6, 1);
        object.insert(field.name.to_owned(), value);
    }
}

/// As the server hands objects to a strategy, by way of Kubernetes' decoder.
fn conformed(oracle: &mut Oracle, resource: &Resource, objects: &[Object]) -> Vec<Option<Object>> {
    let bodies: Vec<String> = objects.iter().map(|object| serde_json::to_string(object).unwrap()).collect();
    decoded(oracle, resource, &bodies, false).into_iter().map(|decoded| decoded.object).collect()
}

/// With defaults, in the version that is stored.
fn defaulted(resource: &Resource, mut object: Object) -> Object {
    crate::kinds::strategy(resource.group, resource.plural).default(&mut object);
    match crate::kinds::conversion(resource.group, resource.version, resource.plural) {
        Some(conversion) => (conversion.to_stored)(&object),
        None => object,
    }
}

fn from_stored(resource: &Resource, object: Object) -> Object {
    match crate::kinds::conversion(resource.group, resource.version, resource.plural) {
        Some(conversion) => (conversion.from_stored)(&object),
        None => object,
    }
}

fn metadata_without(object: &mut Object, keys: &[&str]) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut).unwrap();
    metadata.retain(|key, _| !keys.contains(&key.as_str()));
}

/// The time of a condition is that of the clock.
fn drop_times(status: &mut Object) {
    for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        condition.as_object_mut().unwrap().remove("lastTransitionTime");
    }
}

/// What is left of our errors after those that Kubernetes has too, in order.
fn surplus(ours: &[String], theirs: &[String]) -> Vec<String> {
    let mut rest = theirs.iter();
    ours.iter().filter(|text| !rest.any(|known| known == *text)).cloned().collect()
}

#[derive(Default)]
struct Tally {
    stored: usize,
    same: usize,
    partly: usize,
    missed: BTreeMap<String, usize>,
    faults: Vec<String>,
}

impl Tally {
    fn add(
        &mut self,
        resource: &Resource,
        what: &str,
        sent: &Object,
        ours: (Object, Vec<String>, Vec<String>),
        theirs: Verdict,
    ) {
        let (mut object, errors, warnings) = ours;
        let name = format!("{} {} {what}", resource.version, resource.kind);
        let show = |sent: &Object| format!("{:.900}", serde_json::to_string(sent).unwrap());
        if let Some(mut stored) = theirs.object {
            // What is read from storage has defaults again.
            stored = defaulted(resource, stored);
            object = from_stored(resource, object);
            stored = from_stored(resource, stored);
            for object in [&mut object, &mut stored] {
                metadata_without(object, &["uid", "creationTimestamp", "resourceVersion"]);
                if let Some(Value::Object(status)) = object.get_mut("status") {
                    status.remove("lastPhaseTransitionTime");
                    if resource.kind == "Pod" && what == "create" {
                        drop_times(status);
                    }
                    if resource.kind == "APIService" {
                        status.remove("conditions");
                    }
                }
            }
            self.stored += 1;
            if !errors.is_empty() {
                self.faults.push(format!("{name}: ours {errors:?}, Kubernetes stores it\n    {}", show(sent)));
            } else if let Some(fault) = difference("", &object.into(), &stored.into()) {
                self.faults.push(format!("{name}{fault}\n    {}", show(sent)));
            } else if !surplus(&warnings, &theirs.warnings).is_empty() {
                self.faults.push(format!("{name}: ours warns {warnings:?}, Kubernetes {:?}", theirs.warnings));
            }
            return;
        }
        let about_metadata = |fault: &&Fault| fault.field.starts_with("metadata.") || fault.field == "metadata";
        let texts: Vec<String> =
            theirs.errors.iter().filter(|fault| !about_metadata(fault)).map(|fault| without_go(&fault.text)).collect();
        let more = surplus(&errors, &texts);
        if !more.is_empty() {
            self.faults.push(format!("{name}: ours {errors:#?}, Kubernetes {texts:#?}\n    {}", show(sent)));
        } else if errors == texts {
            self.same += 1;
        } else {
            self.partly += 1;
            for text in texts.iter().filter(|text| !errors.contains(text)) {
                let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
                let text: String = text.chars().take(110).map(digits).collect();
                *self.missed.entry(format!("{} {text}", resource.kind)).or_default() += 1;
            }
        }
    }

    fn finish(self, what: &str) {
        println!(
            "{what}: {} stored alike, {} refused alike, {} refused with more errors there",
            self.stored, self.same, self.partly
        );
        let mut missed: Vec<_> = self.missed.into_iter().collect();
        missed.sort_by_key(|(_, count)| usize::MAX - count);
        for (text, count) in missed.into_iter().take(60) {
            println!("  not here: {count} {text}");
        }
        let mut faults = self.faults;
        faults.sort_by_key(String::len);
        assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    }
}

/// Two errors show internal values of Go, which differ here: the difference of two pods, and a template of pods.
fn without_go(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.strip_prefix("spec.template: Invalid value: ").and_then(|_| line.rsplit_once(": field is immutable")) {
        Some(_) => "spec.template: field is immutable".to_owned(),
        None => line.to_owned(),
    }
}

fn texts(errors: &[rolewright_core::validate::FieldError]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(|error| without_go(&error.to_string())) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn asked(oracle: &mut Oracle, items: &[Value]) -> Vec<Verdict> {
    oracle.ask::<Answer>("strategy", json!({"items": items})).unwrap().results
}

fn item(resource: &Resource, subresource: &str, operation: &str, object: &Object, old: Option<&Object>) -> Value {
    let mut item = json!({
        "group": resource.group, "version": resource.version, "resource": resource.plural,
        "subresource": subresource, "operation": operation, "object": object,
    });
    if let Some(old) = old {
        item["old"] = json!(old);
    }
    item
}

fn changed(base: &Object, ty: &'static Type, seed: u64) -> Object {
    let mut random = Random::without_empties(seed);
    let mut object = base.clone();
    let changes = random.pick(&[0, 1, 1, 1, 2]);
    (0..changes).for_each(|_| change(&mut random, ty, &mut object));
    object
}

#[test]
fn new_objects_are_prepared_and_judged_as_in_kubernetes() {
    let Some(mut oracle) = Oracle::start("strategies, create").unwrap() else { return };
    let mut tally = Tally::default();
    for (resource, base) in bases() {
        let ty = type_of(resource.group, resource.version, resource.kind).unwrap();
        let strategy = crate::kinds::strategy(resource.group, resource.plural);
        let sent: Vec<Object> = (0..rounds()).map(|seed| changed(&base, ty, seed)).collect();
        let plain = conformed(&mut oracle, resource, &sent);
        let items: Vec<Value> = sent.iter().map(|object| item(resource, "", "create", object, None)).collect();
        let theirs = asked(&mut oracle, &items);
        for ((sent, plain), theirs) in sent.iter().zip(plain).zip(theirs) {
            let Some(mut ours) = plain.filter(|_| theirs.error.is_empty()) else { continue };
            let metadata = ours["metadata"].as_object_mut().unwrap();
            for key in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"] {
                metadata.remove(key);
            }
            if metadata.get("name").and_then(Value::as_str).unwrap_or_default().is_empty() {
                continue;
            }
            metadata.insert("uid".into(), UID.into());
            if !resource.namespaced {
                metadata.remove("namespace");
            }
            ours = defaulted(resource, ours);
            strategy.prepare_create(&mut ours);
            let errors = texts(&strategy.validate(&ours));
            let warnings = strategy.warnings(&ours, None);
            tally.add(resource, "create", sent, (ours, errors, warnings), theirs);
        }
    }
    tally.finish("create");
}

#[test]
fn updates_are_prepared_and_judged_as_in_kubernetes() {
    let Some(mut oracle) = Oracle::start("strategies, update").unwrap() else { return };
    let mut tally = Tally::default();
    for (resource, base) in bases() {
        let ty = type_of(resource.group, resource.version, resource.kind).unwrap();
        let strategy = crate::kinds::strategy(resource.group, resource.plural);
        let created = asked(&mut oracle, &[item(resource, "", "create", &base, None)]).remove(0);
        let mut old = created.object.unwrap_or_else(|| panic!("{}: {}", resource.kind, created.errors[0].text));
        old["metadata"]["uid"] = UID.into();
        old["metadata"]["resourceVersion"] = "1".into();
        let stored = defaulted(resource, old.clone());
        old = from_stored(resource, stored.clone());
        let status = resource.subresources.iter().any(|known| known.name == "status");
        for subresource in ["", "status"].into_iter().filter(|name| name.is_empty() || status) {
            let sent: Vec<Object> = (0..rounds() / 2).map(|seed| changed(&old, ty, seed)).collect();
            let plain = conformed(&mut oracle, resource, &sent);
            let ask = |object: &Object| item(resource, subresource, "update", object, Some(&old));
            let theirs = asked(&mut oracle, &sent.iter().map(ask).collect::<Vec<_>>());
            for ((sent, plain), theirs) in sent.iter().zip(plain).zip(theirs) {
                let Some(mut ours) = plain.filter(|_| theirs.error.is_empty()) else { continue };
                let server_fields = [
                    "uid",
                    "resourceVersion",
                    "generation",
                    "creationTimestamp",
                    "selfLink",
                    "name",
                    "namespace",
                    "deletionTimestamp",
                    "deletionGracePeriodSeconds",
                    "generateName",
                ];
                let metadata = |object: &Object| {
                    server_fields.map(|key| {
                        object["metadata"].get(key).cloned().filter(|value| *value != json!("") && *value != json!(0))
                    })
                };
                if metadata(&ours) != metadata(&old) {
                    continue;
                }
                ours = defaulted(resource, ours);
                let errors = if subresource.is_empty() {
                    strategy.prepare_update(&mut ours, &stored);
                    strategy.validate_update(&ours, &stored)
                } else {
                    strategy.prepare_status(&mut ours, &stored);
                    strategy.validate_status(&ours, &stored)
                };
                let what = format!("update {subresource}");
                tally.add(resource, &what, sent, (ours, texts(&errors), Vec::new()), theirs);
            }
        }
    }
    tally.finish("update");
}

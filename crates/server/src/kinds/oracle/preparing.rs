//! Writes: good objects with a few random changes, prepared and judged by these rules and by Kubernetes' strategies.
//!
//! Both must say the same, but for what `tally` leaves out.

use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use super::changing::changed;
use super::defaulting::{decoded, rounds};
use super::tally::{Tally, Verdict, without_go};
use crate::facts::{Resource, resources, type_of};
use crate::strategy::Object;

const UID: &str = "00000000-0000-0000-0000-000000000000";

#[derive(Deserialize)]
struct Answer {
    results: Vec<Verdict>,
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
    if let Ok(kind) = std::env::var("ROLEWRIGHT_ORACLE_KIND") {
        bases.retain(|(resource, _)| resource.kind == kind);
    }
    for (resource, object) in bases.iter_mut().filter(|(resource, _)| resource.kind == "Service") {
        crate::kinds::strategy("", resource.plural).default(object);
        crate::kinds::service::allocate(object, || "10.0.0.5".to_owned(), || 30005);
    }
    bases
}

/// As the server hands objects to a strategy, by way of Kubernetes' decoder.
fn conformed(oracle: &mut Oracle, resource: &Resource, objects: &[Object]) -> Vec<Option<Object>> {
    let bodies: Vec<String> = objects.iter().map(|object| serde_json::to_string(object).unwrap()).collect();
    decoded(oracle, resource, &bodies, false).into_iter().map(|decoded| decoded.object).collect()
}

/// With defaults, in the version that is stored.
pub(super) fn defaulted(resource: &Resource, mut object: Object) -> Object {
    crate::kinds::strategy(resource.group, resource.plural).default(&mut object);
    match crate::kinds::conversion(resource.group, resource.version, resource.plural) {
        Some(conversion) => (conversion.to_stored)(&object),
        None => object,
    }
}

pub(super) fn from_stored(resource: &Resource, object: Object) -> Object {
    match crate::kinds::conversion(resource.group, resource.version, resource.plural) {
        Some(conversion) => (conversion.from_stored)(&object),
        None => object,
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
        let has = |name: &&str| name.is_empty() || resource.subresources.iter().any(|known| known.name == *name);
        for subresource in ["", "status", "ephemeralcontainers", "resize"].into_iter().filter(has) {
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
                    strategy.prepare_subresource(subresource, &mut ours, &stored);
                    strategy.validate_subresource(subresource, &ours, &stored)
                };
                let what = format!("update {subresource}");
                tally.add(resource, &what, sent, (ours, texts(&errors), Vec::new()), theirs);
            }
        }
    }
    tally.finish("update");
}

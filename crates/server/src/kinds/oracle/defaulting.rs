//! Defaults: decode without them and fill in ours, or let Kubernetes do it.

use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use super::random::Random;
use crate::facts::{Resource, resources};
use crate::strategy::Object;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Decoded>,
}

#[derive(Deserialize)]
pub(super) struct Decoded {
    pub(super) object: Option<Object>,
    error: String,
}

pub(super) fn decoded(oracle: &mut Oracle, resource: &Resource, bodies: &[String], defaulting: bool) -> Vec<Decoded> {
    let item = |body: &String| {
        json!({
            "contentType": "application/json", "body": body, "strict": false, "defaulting": defaulting,
            "group": resource.group, "version": resource.version, "kind": resource.kind,
        })
    };
    let items: Vec<Value> = bodies.iter().map(item).collect();
    oracle.ask::<Answer>("decode", json!({"items": items})).unwrap().results
}

/// Where two documents differ first.
pub(super) fn difference(path: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let absent = json!("<absent>");
                let (a, b) = (a.get(key).unwrap_or(&absent), b.get(key).unwrap_or(&absent));
                difference(&format!("{path}.{key}"), a, b)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(&format!("{path}[{i}]"), a, b))
        }
        _ => (ours != theirs).then(|| format!("{path}: ours {ours}, Kubernetes {theirs}")),
    }
}

/// `ROLEWRIGHT_ORACLE_DECISIONS` objects over all kinds.
pub(super) fn rounds() -> u64 {
    std::env::var("ROLEWRIGHT_ORACLE_DECISIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000) / 500
}

#[test]
fn defaults_are_those_of_kubernetes() {
    let Some(mut oracle) = Oracle::start("defaults").unwrap() else { return };
    let mut faults = Vec::new();
    let (mut compared, mut refused) = (0, 0);
    for resource in resources() {
        if super::super::stored::strategy(resource.group, resource.plural).is_none() {
            continue;
        }
        let ty = crate::facts::type_of(resource.group, resource.version, resource.kind).unwrap();
        let api_version = if resource.group.is_empty() {
            resource.version.to_owned()
        } else {
            format!("{}/{}", resource.group, resource.version)
        };
        let body = |seed: u64| {
            let mut random = Random::new(seed);
            let mut object = random.object(ty, seed % 4);
            object.insert("apiVersion".to_owned(), api_version.as_str().into());
            object.insert("kind".to_owned(), resource.kind.into());
            serde_json::to_string(&object).unwrap()
        };
        let bodies: Vec<String> = (0..rounds()).map(body).collect();
        let plain = decoded(&mut oracle, resource, &bodies, false);
        let theirs = decoded(&mut oracle, resource, &bodies, true);
        for ((plain, theirs), body) in plain.into_iter().zip(theirs).zip(&bodies) {
            let (Some(mut ours), Some(theirs)) = (plain.object, theirs.object) else {
                refused += 1;
                assert!(refused < 2000, "{}: {}", resource.kind, plain.error + &theirs.error);
                continue;
            };
            super::super::strategy(resource.group, resource.plural).default(&mut ours);
            if let Some(conversion) = super::super::conversion(resource.group, resource.version, resource.plural) {
                ours = (conversion.from_stored)(&(conversion.to_stored)(&ours));
            }
            compared += 1;
            if let Some(fault) = difference("", &ours.into(), &theirs.into()) {
                faults.push(format!("{} {}{fault}\n    {body:.300}", resource.version, resource.kind));
            }
        }
    }
    println!("{compared} objects with the same defaults, {refused} refused");
    faults.sort_by_key(String::len);
    faults.dedup_by_key(|fault| fault.split(':').next().map(str::to_owned));
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults[..faults.len().min(25)].join("\n"));
}

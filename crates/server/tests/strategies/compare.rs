//! Asks both sides what becomes of a write.

use proptest::prelude::*;
use rolewright_server::facts::{Resource, resources};
use rolewright_server::kinds;
use rolewright_server::status::Failure;
use rolewright_server::strategy::Object;
use rolewright_testkit::compare as testkit;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::writes::{self, Answer, Prepared};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::metadata::metadata;
use crate::values::Values;

/// What is compared.
pub(crate) struct Kind {
    pub(crate) resource: &'static Resource,
    /// Subresources that are updated, `""` for the object itself.
    pub(crate) parts: &'static [&'static str],
}

impl Kind {
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        let found = resources().iter().find(|resource| (resource.group, resource.plural) == (group, plural));
        Self { resource: found.unwrap(), parts: &[""] }
    }
}

/// A write.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Item {
    group: String,
    version: String,
    resource: String,
    subresource: String,
    operation: String,
    namespace: String,
    object: Object,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Object>,
}

/// Compares random writes of a kind, after all kept ones.
pub(crate) fn compare(kind: &Kind, body: fn(f64) -> Values) {
    let suite = &format!("strategy_{}{}", kind.resource.plural, kind.resource.group.replace(['.', '/'], "_"));
    let items = prop::collection::vec(item(kind, body), 1..20);
    testkit::compare(suite, testkit::decisions() / 200, items, |oracle, items| {
        difference(oracle, kind.resource, items)
    });
}

fn item(kind: &Kind, body: fn(f64) -> Values) -> impl Strategy<Value = Item> + use<> {
    let resource = kind.resource;
    let namespaces: &[&str] =
        if resource.namespaced { &["team-a", "team-a", "team-a", "default", "kube-system", "Bad_Ns"] } else { &[""] };
    let object = |bad: f64| {
        (metadata(bad), body(bad)).prop_map(|(metadata, body)| {
            let Value::Object(mut object) = body else { unreachable!() };
            object.insert("metadata".into(), metadata);
            object
        })
    };
    let pair = |bad: f64| {
        let namespace = if bad > 0.0 { namespaces.to_vec() } else { namespaces[..1].to_vec() };
        (object(bad), object(bad), prop::sample::select(namespace))
    };
    let pairs = prop_oneof![pair(0.0), pair(0.04), pair(0.3)];
    // Which of its fields an update leaves as they are.
    let mask = prop_oneof![any::<u64>(), (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a | b), Just(u64::MAX)];
    (pairs, mask, prop::bool::weighted(0.4), prop::sample::select(kind.parts)).prop_map(
        move |((mut object, mut old, namespace), mask, create, part)| {
            let api_version = match resource.group {
                "" => resource.version.to_owned(),
                group => format!("{group}/{}", resource.version),
            };
            for object in [&mut object, &mut old] {
                object.insert("apiVersion".into(), api_version.as_str().into());
                object.insert("kind".into(), resource.kind.into());
            }
            if !create {
                let metadata = old["metadata"].as_object_mut().unwrap();
                metadata.remove("namespace");
                if resource.namespaced {
                    metadata.insert("namespace".into(), namespace.into());
                }
                let metadata = object["metadata"].as_object_mut().unwrap();
                leave(metadata, old["metadata"].as_object().unwrap(), mask.rotate_left(32));
                let metadata = object["metadata"].clone();
                leave(&mut object, &old, mask);
                object.insert("metadata".into(), metadata);
            }
            Item {
                group: resource.group.into(),
                version: resource.version.into(),
                resource: resource.plural.into(),
                subresource: if create { "" } else { part }.into(),
                operation: if create { "create" } else { "update" }.into(),
                namespace: namespace.into(),
                object,
                old: (!create).then_some(old),
            }
        },
    )
}

/// Makes some fields what they are in `old`.
fn leave(object: &mut Object, old: &Object, mask: u64) {
    let names: std::collections::BTreeSet<String> = object.keys().chain(old.keys()).cloned().collect();
    for (at, name) in names.into_iter().enumerate() {
        if mask >> (at % 64) & 1 == 1 {
            match old.get(&name) {
                Some(value) => object.insert(name, value.clone()),
                None => object.remove(&name),
            };
        }
    }
}

fn ours(resource: &'static Resource, item: &Item) -> Result<(Object, Vec<String>), Failure> {
    let defaulted = |object: &Object| {
        let mut object = object.clone();
        kinds::strategy(resource.group, resource.plural).default(&mut object);
        object
    };
    let old = item.old.as_ref().map(defaulted);
    writes::ours(resource, &item.subresource, &item.namespace, defaulted(&item.object), old)
}

fn difference(oracle: &mut Oracle, resource: &'static Resource, items: &[Item]) -> anyhow::Result<Option<String>> {
    let theirs: Answer = oracle.ask("strategy", json!({"items": items}))?;
    let ours: Vec<_> = items.iter().map(|item| ours(resource, item)).collect();
    let stored: Vec<Value> = ours.iter().flatten().map(|(object, _)| body(resource, object)).collect();
    // Writes our objects as Go does.
    let stored: Answer = oracle.ask("decode", json!({"items": stored}))?;
    let mut stored = stored.results.into_iter();
    for ((item, ours), theirs) in items.iter().zip(ours).zip(theirs.results) {
        let (ours, theirs) = match ours {
            Ok((object, warnings)) => {
                let written = stored.next().and_then(|written| written.object).unwrap_or_else(|| object.into());
                (json!({"object": written, "warnings": warnings}), shown(theirs))
            }
            Err(failure) => {
                let (mut ours, mut theirs) = (json!({"status": failure.to_json()}), shown(theirs));
                settle_order(&mut ours, &mut theirs);
                (ours, theirs)
            }
        };
        if ours != theirs {
            let item = serde_json::to_string(item)?;
            return Ok(Some(format!("{item:.4000}\nours       {ours:#.6000}\nKubernetes {theirs:#.6000}")));
        }
    }
    Ok(None)
}

fn body(resource: &'static Resource, object: &Object) -> Value {
    json!({
        "contentType": "application/json", "body": serde_json::to_string(object).unwrap(), "defaulting": false,
        "group": resource.group, "version": resource.version, "kind": resource.kind,
    })
}

fn shown(prepared: Prepared) -> Value {
    match (prepared.error.as_str(), prepared.object, prepared.status) {
        ("", Some(object), None) => json!({"object": object, "warnings": prepared.warnings}),
        ("", None, Some(status)) => json!({"status": status}),
        (error, object, status) => json!({"error": error, "object": object, "status": status}),
    }
}

/// Kubernetes walks maps in random order. Where the two sides differ in that only, both get one order.
fn settle_order(ours: &mut Value, theirs: &mut Value) {
    let causes = |side: &Value| side.pointer("/status/details/causes").cloned();
    if causes(ours) == causes(theirs) {
        return;
    }
    for side in [ours, theirs] {
        let Some(causes) = side.pointer_mut("/status/details/causes").and_then(Value::as_array_mut) else { return };
        let map_of = |cause: &Value| {
            let field = cause["field"].as_str().unwrap_or_default();
            let field = field.split('[').next().filter(|field| field.ends_with("ata")).unwrap_or(field);
            let maps = ["metadata.labels", "metadata.annotations", "data", "binaryData"];
            (maps.contains(&field) || field.ends_with("matchLabels")).then(|| field.to_owned())
        };
        let key = |cause: &Value| cause.to_string();
        causes.chunk_by_mut(|a, b| map_of(a).is_some() && map_of(a) == map_of(b)).for_each(|run| run.sort_by_key(key));
        // The message names the same faults in the same order, so that its letters are left to compare.
        let message = side["status"]["message"].as_str().unwrap_or_default();
        let mut letters: Vec<char> = message.chars().collect();
        letters.sort_unstable();
        side["status"]["message"] = letters.into_iter().collect::<String>().into();
    }
}

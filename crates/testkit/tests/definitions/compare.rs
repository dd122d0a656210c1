//! Asks both sides what becomes of a write.

use rolewright_server::codec::conform;
use rolewright_server::facts::{Resource, resources, type_of};
use rolewright_server::kinds;
use rolewright_server::status::Failure;
use rolewright_server::strategy::Object;
use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::writes::{self, Answer, Prepared};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "CustomResourceDefinition";

/// A write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Item {
    group: String,
    version: String,
    resource: String,
    subresource: String,
    operation: String,
    object: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Value>,
    /// What is particular about it, for who reads a difference.
    #[serde(skip)]
    about: String,
    /// It is known to be fine.
    #[serde(skip)]
    accepted: bool,
}

impl Item {
    pub(crate) fn new(object: Value, old: Option<Value>, subresource: &str) -> Self {
        Self {
            group: GROUP.into(),
            version: "v1".into(),
            resource: "customresourcedefinitions".into(),
            subresource: subresource.into(),
            operation: if old.is_some() { "update" } else { "create" }.into(),
            object,
            old,
            about: String::new(),
            accepted: false,
        }
    }

    pub(crate) fn accepted(mut self) -> Self {
        self.accepted = true;
        self
    }

    pub(crate) fn about(mut self, about: String) -> Self {
        self.about = about;
        self
    }

    pub(crate) fn create(object: Value) -> Self {
        Self::new(object, None, "")
    }
}

fn resource() -> &'static Resource {
    resources().iter().find(|resource| resource.group == GROUP && resource.kind == KIND).unwrap()
}

pub(crate) fn typed(value: &Value) -> Object {
    let ty = type_of(GROUP, "v1", KIND).unwrap();
    let Value::Object(mut object) = conform(ty, value.clone()).unwrap().value else { unreachable!() };
    kinds::strategy(GROUP, "customresourcedefinitions").default(&mut object);
    object
}

fn ours(item: &Item) -> Result<(Object, Vec<String>), Failure> {
    let (object, warnings) =
        writes::ours(resource(), &item.subresource, "", typed(&item.object), item.old.as_ref().map(typed))?;
    Ok((object, if item.subresource.is_empty() { warnings } else { Vec::new() }))
}

/// Compares writes, and fails with all differences.
pub(crate) fn compare_all(suite: &str, items: &[Item]) {
    let Some(mut oracle) = Oracle::start(suite).unwrap() else { return };
    let mut faults = Vec::new();
    for chunk in items.chunks(50) {
        faults.extend(differences(&mut oracle, chunk));
    }
    faults.sort_by_key(String::len);
    let shown = &faults[..faults.len().min(30)];
    assert!(faults.is_empty(), "{} of {} differ:\n{}", faults.len(), items.len(), shown.join("\n\n"));
}

/// What the two sides do not agree on.
pub(crate) fn differences(oracle: &mut Oracle, items: &[Item]) -> Vec<String> {
    let theirs: Answer = oracle.ask("strategy", json!({"items": items})).unwrap();
    let ours: Vec<_> = items.iter().map(ours).collect();
    let mut faults = Vec::new();
    for ((item, ours), theirs) in items.iter().zip(ours).zip(theirs.results) {
        if theirs.error.contains("panic") {
            // Kubernetes' own code fails here; ours may say what it wants.
            continue;
        }
        if let (true, Err(failure)) = (item.accepted, &ours) {
            faults.push(format!("refused: {:.2000}", failure.to_json()));
        }
        let (ours, theirs) = match ours {
            Ok((object, warnings)) => (json!({"object": object, "warnings": sorted(warnings)}), shown(theirs)),
            Err(failure) => (json!({"causes": causes(&failure.to_json())}), shown(theirs)),
        };
        if let Some(difference) = difference(&ours, &theirs) {
            let item = if item.about.is_empty() { serde_json::to_string(item).unwrap() } else { item.about.clone() };
            faults.push(format!("{item:.3000}\n{difference}"));
        }
    }
    faults
}

fn sorted(mut warnings: Vec<String>) -> Vec<String> {
    warnings.sort();
    warnings.dedup();
    warnings
}

fn shown(prepared: Prepared) -> Value {
    match (prepared.error.as_str(), prepared.object, prepared.status) {
        ("", Some(object), None) => json!({"object": object, "warnings": sorted(prepared.warnings)}),
        ("", None, Some(status)) => json!({"causes": causes(&status)}),
        (error, object, status) => json!({"error": error, "object": object, "status": status}),
    }
}

fn causes(status: &Value) -> Value {
    status.pointer("/details/causes").cloned().unwrap_or_else(|| status.clone())
}

/// Kubernetes goes over maps in random order: what is said of them is compared as a set, all else in order.
fn difference(ours: &Value, theirs: &Value) -> Option<String> {
    if ours == theirs {
        return None;
    }
    if let (Some(ours), Some(theirs)) = (ours["causes"].as_array(), theirs["causes"].as_array()) {
        let text = |cause: &Value| {
            let part = |key: &str| cause[key].as_str().unwrap_or_default().to_owned();
            without_numbers(&format!("{} {}: {}", part("reason"), part("field"), part("message")))
        };
        let all = |causes: &[Value]| {
            let mut texts: Vec<String> = causes.iter().map(text).collect();
            texts.sort();
            texts
        };
        let ordered = |causes: &[Value]| -> Vec<String> {
            let random = |text: &String| {
                ["properties[", "definitions[", "dependencies[", "storedVersions["].iter().any(|map| text.contains(map))
            };
            causes.iter().map(text).filter(|text| !random(text)).collect()
        };
        if all(ours) == all(theirs) && ordered(ours) == ordered(theirs) {
            return None;
        }
        let (ours, theirs) = (all(ours), all(theirs));
        let only = |these: &[String], others: &[String]| {
            let mut rest = others.to_vec();
            let extra = these.iter().filter(|text| match rest.iter().position(|other| other == *text) {
                Some(at) => {
                    rest.remove(at);
                    false
                }
                None => true,
            });
            extra.map(|text| format!("    {text:.1500}")).collect::<Vec<_>>().join("\n")
        };
        return Some(format!("  ours only\n{}\n  Kubernetes only\n{}", only(&ours, &theirs), only(&theirs, &ours)));
    }
    match (ours.get("object"), theirs.get("causes")) {
        (Some(_), Some(causes)) => Some(format!("  Kubernetes only\n    {causes:.1500}")),
        _ => Some(first_difference("", ours, theirs)),
    }
}

/// Types that rules see have random numbers in Kubernetes.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("selfType");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "selfType" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The first place where two values differ.
fn first_difference(at: &str, ours: &Value, theirs: &Value) -> String {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) if at.is_empty() || a.keys().eq(b.keys()) => {
            for key in a.keys().chain(b.keys()) {
                let (a, b) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                if a != b {
                    return first_difference(&format!("{at}/{key}"), a, b);
                }
            }
            String::new()
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let different = a.iter().zip(b).enumerate().find(|(_, (a, b))| a != b);
            different.map(|(i, (a, b))| first_difference(&format!("{at}/{i}"), a, b)).unwrap_or_default()
        }
        (ours, theirs) => format!("  {at}\n  ours       {ours:.1500}\n  Kubernetes {theirs:.1500}"),
    }
}

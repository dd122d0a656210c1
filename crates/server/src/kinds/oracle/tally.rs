//! What these rules and Kubernetes made of the same object, and how often they agree.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::defaulting::difference;
use super::preparing::{defaulted, from_stored};
use crate::facts::Resource;
use crate::strategy::Object;

#[derive(Deserialize)]
pub(super) struct Verdict {
    pub(super) object: Option<Object>,
    pub(super) errors: Vec<Fault>,
    pub(super) warnings: Vec<String>,
    #[serde(default)]
    pub(super) error: String,
}

#[derive(Deserialize)]
pub(super) struct Fault {
    pub(super) text: String,
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

/// How often both agree about one kind.
#[derive(Default)]
struct Count {
    stored: usize,
    refused: usize,
}

#[derive(Default)]
pub(super) struct Tally {
    kinds: BTreeMap<String, Count>,
    faults: Vec<String>,
}

impl Tally {
    pub(super) fn add(
        &mut self,
        resource: &Resource,
        what: &str,
        sent: &Object,
        ours: (Object, Vec<String>, Vec<String>),
        theirs: Verdict,
    ) {
        let (mut object, errors, warnings) = ours;
        let name = format!("{} {} {what}", resource.version, resource.kind);
        let count = self.kinds.entry(name.clone()).or_default();
        let show = |sent: &Object| format!("{:.1500}", serde_json::to_string(sent).unwrap());
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
            count.stored += 1;
            if !errors.is_empty() {
                self.faults.push(format!("{name}: ours {errors:?}, Kubernetes stores it\n    {}", show(sent)));
            } else if let Some(fault) = difference("", &object.into(), &stored.into()) {
                self.faults.push(format!("{name}{fault}\n    {}", show(sent)));
            } else if !surplus(&warnings, &theirs.warnings).is_empty() {
                self.faults.push(format!("{name}: ours warns {warnings:?}, Kubernetes {:?}", theirs.warnings));
            }
            return;
        }
        // Others judge metadata, except for what only one kind knows.
        let counts = |text: &String| {
            let own = ["metadata.taints", "metadata.nodeSwapStatus"];
            let about_metadata = text.starts_with("metadata.") || text.starts_with("metadata:");
            (!about_metadata || own.iter().any(|path| text.starts_with(path))) && !is_left_out(text)
        };
        let errors: Vec<String> = errors.into_iter().filter(counts).collect();
        let mut texts: Vec<String> = Vec::new();
        for text in theirs.errors.iter().map(|fault| without_go(&fault.text)).filter(counts) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.is_empty() && errors.is_empty() {
            return;
        }
        // Go goes over maps in any order.
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort();
            texts
        };
        if errors == texts || sorted(&errors) == sorted(&texts) {
            count.refused += 1;
            return;
        }
        self.faults.push(format!("{name}: ours {errors:#?}, Kubernetes {texts:#?}\n    {}", show(sent)));
    }

    pub(super) fn finish(self, what: &str) {
        println!("{what}: stored by Kubernetes and here, refused by both with the same errors");
        for (name, Count { stored, refused }) in &self.kinds {
            println!("  {stored:5} {refused:5} {name}");
        }
        let mut faults = self.faults;
        faults.sort_by_key(String::len);
        assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
    }
}

/// Expressions are not compiled here, URLs and JSON paths hardly parsed, and names of time zones not known. The oracle is a
/// server that allows no privileges; most servers are not.
fn is_left_out(text: &str) -> bool {
    let texts = [
        "compilation failed",
        "must evaluate to",
        "url must be a valid URL",
        "invalid JSONPath",
        "unknown time zone",
        "invalid location name",
        "disallowed by cluster policy",
        "status.extendedResourceClaimStatus",
        "allocatedResourcesStatus",
    ];
    texts.iter().any(|known| text.contains(known))
}

/// Some errors show internal values of Go, which differ here: the difference of two pods, a template of pods, a volume.
pub(super) fn without_go(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_internal = |value: &str| value.contains("\"InlineVolumeSpec\":{") || line.starts_with("spec.template");
    match line.split_once(": Invalid value: ").zip(line.rsplit_once(": field is immutable")) {
        Some(((field, value), _)) if is_internal(value) => format!("{field}: field is immutable"),
        _ => line.to_owned(),
    }
}

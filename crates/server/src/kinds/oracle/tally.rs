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
    field: String,
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
    partly: usize,
}

#[derive(Default)]
pub(super) struct Tally {
    kinds: BTreeMap<String, Count>,
    missed: BTreeMap<String, usize>,
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
        let about_metadata = |fault: &&Fault| {
            let ours = ["metadata.taints", "metadata.nodeSwapStatus"];
            let of = |path: &&str| fault.field.starts_with(path);
            (fault.field.starts_with("metadata.") || fault.field == "metadata") && !ours.iter().any(of)
        };
        let mut texts: Vec<String> = Vec::new();
        for fault in theirs.errors.iter().filter(|fault| !about_metadata(fault)) {
            let text = without_go(&fault.text);
            if !is_left_out(&text) && !texts.contains(&text) {
                texts.push(text);
            }
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
        count.partly += 1;
        let missing: Vec<&String> = texts.iter().filter(|text| !errors.contains(text)).collect();
        if missing.is_empty() || errors.iter().any(|text| !texts.contains(text)) {
            self.faults.push(format!("{name}: ours {errors:#?}, Kubernetes {texts:#?}\n    {}", show(sent)));
        }
        for text in missing {
            let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
            let text: String = text.chars().take(140).map(digits).collect();
            *self.missed.entry(format!("{} {text}", resource.kind)).or_default() += 1;
        }
    }

    pub(super) fn finish(self, what: &str) {
        println!("{what}: stored alike, refused alike, refused with more errors there");
        for (name, Count { stored, refused, partly }) in &self.kinds {
            println!("  {stored:5} {refused:5} {partly:5} {name}");
        }
        let mut missed: Vec<_> = self.missed.into_iter().collect();
        missed.sort_by_key(|(_, count)| usize::MAX - count);
        for (text, count) in missed.into_iter().take(150) {
            println!("  not here: {count} {text}");
        }
        let mut faults = self.faults;
        faults.sort_by_key(String::len);
        assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
    }
}

/// Expressions are not compiled here, and URLs and JSON paths hardly parsed.
fn is_left_out(text: &str) -> bool {
    ["compilation failed", "url must be a valid URL", "invalid JSONPath"].iter().any(|known| text.contains(known))
}

/// Two errors show internal values of Go, which differ here: the difference of two pods, and a template of pods.
pub(super) fn without_go(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.strip_prefix("spec.template: Invalid value: ").and_then(|_| line.rsplit_once(": field is immutable")) {
        Some(_) => "spec.template: field is immutable".to_owned(),
        None => line.to_owned(),
    }
}


//! Lives of built-in objects.

use rolewright_server::facts::{self, Resource};
use serde_json::{Value, json};

use super::clients::{spoil, wish};
use super::sides::api_version;
use super::{Life, Step};
use crate::random::{Random, mutated, random_object};

pub(super) fn life(seed: u64, applies: bool) -> Life {
    let mut random = Random::new(seed);
    // What version 1 of an autoscaler does not say is in its annotations, and Kubernetes compares that too.
    let known = |resource: &&Resource| !(applies && resource.group == "autoscaling" && resource.version == "v1");
    let stored: Vec<&'static Resource> =
        facts::resources().iter().filter(|resource| resource.verbs.contains(&"update")).filter(known).collect();
    let resource = *random.of(&stored);
    life_of(&mut random, &[resource], applies)
}

/// The life of an object that has several versions.
pub(super) fn life_in_versions(seed: u64) -> Life {
    let mut random = Random::new(seed);
    let plural = *random.of(&["horizontalpodautoscalers", "horizontalpodautoscalers", "events"]);
    let versions: Vec<&'static Resource> =
        facts::resources().iter().filter(|resource| resource.plural == plural).collect();
    life_of(&mut random, &versions, true)
}

fn life_of(random: &mut Random, versions: &[&'static Resource], applies: bool) -> Life {
    let first = *versions.first().expect("there is a version");
    let mut steps: Vec<Step> = Vec::new();
    let mut last = Value::Null;
    for at in 0..2 + random.below(if applies { 7 } else { 4 }) {
        let resource = *random.of(versions);
        let ty = facts::type_of(resource.group, resource.version, resource.kind).expect("kinds have types");
        let version = api_version(resource);
        let apply = applies && random.one_in(2);
        let mut object = if last.is_null() { random_object(random, ty) } else { mutated(random, ty, &last) };
        object["apiVersion"] = json!(version);
        object["kind"] = json!(resource.kind);
        object["metadata"]["name"] = json!("x");
        if let Some(metadata) = object["metadata"].as_object_mut() {
            // The oracle keeps these for itself.
            metadata.retain(|name, _| !matches!(name.as_str(), "uid" | "resourceVersion"));
        }
        if applies && random.one_in(3) {
            // What kubectl applied last is this, or was before it was changed.
            let kept = if random.one_in(3) { mutated(random, ty, &object) } else { object.clone() };
            let mut kept = kept;
            kept["metadata"]["annotations"] = json!({"other": "a"});
            object["metadata"]["annotations"] =
                json!({"kubectl.kubernetes.io/last-applied-configuration": kept.to_string(), "other": "a"});
        }
        last = object.clone();
        if !apply && random.one_in(8) {
            object["metadata"]["managedFields"] = {
                let any = *random.of(versions);
                let version = api_version(any);
                wish(random, &version)
            };
        }
        if apply && random.one_in(12) {
            spoil(random, &mut object);
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
            group: Some(resource.group.to_owned()),
            version: resource.version.to_owned(),
            subresource: subresource.to_owned(),
            force: random.one_in(2),
            object,
        });
    }
    Life { group: first.group.into(), version: first.version.into(), kind: first.kind.into(), definition: None, steps }
}

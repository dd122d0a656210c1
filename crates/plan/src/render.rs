//! Objects as Kubernetes' JSON: exactly what we say of them, so that server-side apply owns exactly that.

use std::fmt::Debug;

use rolewright_core::{Labels, Rule};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::intent::{Content, Shape};
use crate::object::{Condition, ObjectRef, Owner};

/// What is applied to make an object like `shape`. With a uid the write fails if that object is no longer there.
pub fn object(object: &ObjectRef, version: &str, uid: Option<&str>, shape: &Shape) -> Value {
    let mut out = identity(object, version, uid);
    let Some(metadata) = out.get_mut("metadata").and_then(Value::as_object_mut) else { return out };
    for (name, labels) in [("labels", &shape.labels), ("annotations", &shape.annotations)] {
        if !labels.is_empty() {
            metadata.insert(name.to_owned(), texts(labels));
        }
    }
    if !shape.owners.is_empty() {
        metadata.insert("ownerReferences".to_owned(), shape.owners.iter().map(owner).collect());
    }
    let mut say = |name: &str, value: Value| drop(out.as_object_mut().map(|out| out.insert(name.to_owned(), value)));
    match &shape.content {
        Content::Bare => {}
        Content::Role { rules, aggregation } => {
            if let Some(rules) = rules {
                say("rules", json!(rules));
            }
            if let Some(selectors) = aggregation {
                say("aggregationRule", json!({ "clusterRoleSelectors": selectors }));
            }
        }
        Content::Binding { role_ref, subjects } => {
            say("roleRef", json!(role_ref));
            say("subjects", json!(subjects));
        }
    }
    out
}

/// What is applied to write the rules of a role and nothing else. They may be thousands, so they are not made into a value
/// first.
pub fn rules<'a>(object: &ObjectRef, version: &str, uid: &str, rules: &'a [Rule]) -> impl Serialize + Debug + use<'a> {
    #[derive(Debug, Serialize)]
    struct Role<'a> {
        #[serde(flatten)]
        identity: Value,
        rules: &'a [Rule],
    }
    Role { identity: identity(object, version, Some(uid)), rules }
}

/// What is applied to set the conditions of an object.
pub fn conditions(object: &ObjectRef, version: &str, uid: &str, conditions: &[Condition]) -> Value {
    let mut out = identity(object, version, Some(uid));
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|condition| {
            json!({
                "type": condition.name,
                "status": condition.status.to_string(),
                "reason": condition.reason,
                "message": condition.message,
                "observedGeneration": condition.observed_generation,
                "lastTransitionTime": condition.last_transition_time,
            })
        })
        .collect();
    if let Some(out) = out.as_object_mut() {
        out.insert("status".to_owned(), json!({ "conditions": conditions }));
    }
    out
}

fn identity(object: &ObjectRef, version: &str, uid: Option<&str>) -> Value {
    let mut metadata = Map::from_iter([("name".to_owned(), json!(object.name))]);
    if !object.namespace.is_empty() {
        metadata.insert("namespace".to_owned(), json!(object.namespace));
    }
    metadata.extend(uid.map(|uid| ("uid".to_owned(), json!(uid))));
    json!({ "apiVersion": object.kind.api_version(version), "kind": object.kind.kind, "metadata": metadata })
}

fn owner(owner: &Owner) -> Value {
    let Owner { api_version, kind, name, uid, controller } = owner;
    let mut out = json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid });
    if *controller && let Some(out) = out.as_object_mut() {
        // Deleting the owner in the foreground waits for what it controls.
        out.insert("controller".to_owned(), json!(true));
        out.insert("blockOwnerDeletion".to_owned(), json!(true));
    }
    out
}

fn texts(labels: &Labels) -> Value {
    labels.iter().map(|(key, value)| (key.to_string(), json!(value))).collect::<Map<_, _>>().into()
}

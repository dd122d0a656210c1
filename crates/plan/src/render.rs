//! Objects as Kubernetes' JSON: exactly what we say of them, so that server-side apply owns exactly that.

use std::fmt::Debug;

use rolewright_core::{Labels, RoleRef, Rule, Subject};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::intent::{Content, Shape};
use crate::kind::Reports;
use crate::object::{Condition, ObjectRef, Owner};
use crate::op::Report;

/// What is applied to make an object like `shape`. With a uid the write fails if that object is no longer there. Rules may
/// be thousands, so they are not made into a value first.
pub fn object<'a>(
    object: &ObjectRef,
    version: &str,
    uid: Option<&str>,
    shape: &'a Shape,
) -> impl Serialize + Debug + use<'a> {
    #[derive(Debug, Default, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Applied<'a> {
        #[serde(flatten)]
        identity: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        rules: Option<&'a [Rule]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        aggregation_rule: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        role_ref: Option<&'a RoleRef>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subjects: Option<&'a [Subject]>,
    }
    let mut identity = identity(object, version, uid);
    if let Some(metadata) = identity.get_mut("metadata").and_then(Value::as_object_mut) {
        for (name, labels) in [("labels", &shape.labels), ("annotations", &shape.annotations)] {
            if !labels.is_empty() {
                metadata.insert(name.to_owned(), texts(labels));
            }
        }
        if !shape.owners.is_empty() {
            metadata.insert("ownerReferences".to_owned(), shape.owners.iter().map(owner).collect());
        }
    }
    let mut applied = Applied { identity, ..Applied::default() };
    match &shape.content {
        Content::Bare => {}
        Content::Role { rules, aggregation } => {
            applied.rules = rules.as_deref();
            let selecting = |selectors| json!({ "clusterRoleSelectors": selectors });
            applied.aggregation_rule = aggregation.as_ref().map(selecting);
        }
        Content::Binding { role_ref, subjects } => {
            applied.role_ref = Some(role_ref);
            applied.subjects = Some(subjects);
        }
    }
    applied
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

/// What is applied to set our part of an object's status.
pub fn report(object: &ObjectRef, version: &str, uid: &str, report: &Report) -> Value {
    let mut out = identity(object, version, Some(uid));
    let mut status: Map<String, Value> =
        report.fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    status.insert("conditions".to_owned(), report.conditions.iter().map(condition).collect());
    if let Some(out) = out.as_object_mut() {
        out.insert("status".to_owned(), status.into());
    }
    out
}

/// The whole list of an object's conditions, in which ours are as they should be and those of others as they were. Ours are
/// those of the report, and the one that the kind has.
pub fn conditions_among(object: &ObjectRef, stored: &Value, report: &Report) -> Value {
    let own = match object.kind.reports {
        Reports::Never => None,
        Reports::Always(name) | Reports::Trouble(name) => Some(name),
    };
    let is_ours = |name: &str| own == Some(name) || report.conditions.iter().any(|condition| condition.name == name);
    let stored = stored.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let others = stored.filter(|known| !known.get("type").and_then(Value::as_str).is_some_and(is_ours)).cloned();
    others.chain(report.conditions.iter().map(condition)).collect()
}

fn condition(condition: &Condition) -> Value {
    json!({
        "type": condition.name,
        "status": condition.status.to_string(),
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": condition.last_transition_time,
    })
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

//! Objects as Kubernetes' JSON: exactly what we say of them, so that server-side apply owns exactly that.

use std::fmt::Debug;

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Labels, RoleRef, Rule, Subject};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::Name;
use crate::intent::{Content, Shape};
use crate::kind::Reports;
use crate::object::{Condition, ObjectRef, Owner};
use crate::op::Report;

/// What is applied to make an object like `shape`. With a uid the write fails if that object is no longer there. Rules may
/// be thousands, and objects too, so they are not made into values first.
pub fn object<'a>(
    object: &'a ObjectRef,
    version: &str,
    uid: Option<&'a str>,
    shape: &'a Shape,
) -> impl Serialize + Debug + use<'a> {
    let mut applied = Applied::to(object, version, uid);
    let some = |labels: &'a Labels| (!labels.is_empty()).then_some(labels);
    applied.metadata.labels = some(&shape.labels);
    applied.metadata.annotations = some(&shape.annotations);
    applied.metadata.owner_references = shape.owners.iter().map(OwnerReference::from).collect();
    match &shape.content {
        Content::Bare => {}
        Content::Role { rules, aggregation } => {
            applied.rules = rules.as_deref().map(AsStored);
            applied.aggregation_rule =
                aggregation.as_deref().map(|cluster_role_selectors| AggregationRule { cluster_role_selectors });
        }
        Content::Binding { role_ref, subjects } => {
            applied.role_ref = Some(role_ref);
            applied.subjects = Some(subjects);
        }
    }
    applied
}

/// What is applied to write the rules of a role and nothing else.
pub fn rules<'a>(
    object: &'a ObjectRef,
    version: &str,
    uid: &'a str,
    rules: &'a [Rule],
) -> impl Serialize + Debug + use<'a> {
    Applied { rules: Some(AsStored(rules)), ..Applied::to(object, version, Some(uid)) }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    api_version: String,
    kind: &'static str,
    metadata: Metadata<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<AsStored<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregation_rule: Option<AggregationRule<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role_ref: Option<&'a RoleRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<&'a [Subject]>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<&'a Labels>,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owner_references: Vec<OwnerReference<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference<'a> {
    api_version: &'a str,
    /// Deleting the owner in the foreground waits for what it controls.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_owner_deletion: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<bool>,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregationRule<'a> {
    cluster_role_selectors: &'a [LabelSelector],
}

/// Rules with their members in the order in which Kubernetes writes them, so that an answer can be compared with what was
/// sent ([`Echo`](crate::object::Echo)).
#[derive(Debug)]
struct AsStored<'a>(&'a [Rule]);

impl Serialize for AsStored<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|rule| StoredRule {
            verbs: &rule.verbs,
            api_groups: &rule.api_groups,
            resources: &rule.resources,
            resource_names: &rule.resource_names,
            non_resource_urls: &rule.non_resource_urls,
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredRule<'a> {
    verbs: &'a [Name],
    #[serde(skip_serializing_if = "<[Name]>::is_empty")]
    api_groups: &'a [Name],
    #[serde(skip_serializing_if = "<[Name]>::is_empty")]
    resources: &'a [Name],
    #[serde(skip_serializing_if = "<[Name]>::is_empty")]
    resource_names: &'a [Name],
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "<[Name]>::is_empty")]
    non_resource_urls: &'a [Name],
}

impl<'a> Applied<'a> {
    fn to(object: &'a ObjectRef, version: &str, uid: Option<&'a str>) -> Self {
        let ObjectRef { kind, namespace, name } = object;
        Self {
            api_version: kind.api_version(version),
            kind: kind.kind,
            metadata: Metadata { name, namespace, uid, ..Metadata::default() },
            rules: None,
            aggregation_rule: None,
            role_ref: None,
            subjects: None,
        }
    }
}

impl<'a> From<&'a Owner> for OwnerReference<'a> {
    fn from(Owner { api_version, kind, name, uid, controller }: &'a Owner) -> Self {
        let controls = controller.then_some(true);
        Self { api_version, block_owner_deletion: controls, controller: controls, kind, name, uid }
    }
}

/// What is applied to set our part of an object's status.
pub fn report(object: &ObjectRef, version: &str, uid: &str, report: &Report) -> Value {
    let mut out = json!(Applied::to(object, version, Some(uid)));
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

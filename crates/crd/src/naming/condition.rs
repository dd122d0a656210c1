//! Conditions of definitions.

use rolewright_core::validate::{BadValue, FieldError, Path, summary};
use serde_json::{Value, json};

use super::{Object, child, group_of, text};
use crate::definition;

/// A condition without its time.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Condition {
    pub(super) fn new(kind: &'static str, status: &'static str, reason: &'static str, message: &str) -> Self {
        Self { kind, status, reason, message: message.to_owned() }
    }

    /// Whether a condition of that type says the same.
    pub(super) fn is(&self, other: &Object) -> bool {
        let other = Some(other);
        (text(other, "status"), text(other, "reason"), text(other, "message"))
            == (self.status, self.reason, self.message.as_str())
    }
}

pub(super) fn find<'a>(definition: &'a Object, kind: &str) -> Option<&'a Object> {
    let list = child(Some(definition), "status").and_then(|status| status.get("conditions")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object).find(|condition| text(Some(condition), "type") == kind)
}

fn is_true(definition: &Object, kind: &str) -> bool {
    find(definition, kind).is_some_and(|condition| text(Some(condition), "status") == "True")
}

pub(super) fn status_mut(definition: &mut Object) -> &mut Object {
    let status = definition.entry("status").or_insert(Value::Null);
    if !status.is_object() {
        *status = json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null});
    }
    status.as_object_mut().expect("it was made an object")
}

fn conditions_mut(definition: &mut Object) -> &mut Vec<Value> {
    let list = status_mut(definition).entry("conditions").or_insert(Value::Null);
    if !list.is_array() {
        *list = json!([]);
    }
    list.as_array_mut().expect("it was made a list")
}

/// Replaces the condition of that type, or adds it. The time changes with the status.
pub(super) fn set(definition: &mut Object, condition: &Condition, now: &str) {
    let Condition { kind, status, reason, message } = condition;
    let list = conditions_mut(definition);
    let old = list.iter_mut().filter_map(Value::as_object_mut).find(|old| text(Some(old), "type") == *kind);
    let Some(old) = old else {
        return list.push(json!({
            "type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message,
        }));
    };
    if text(Some(old), "status") != *status || text(Some(old), "lastTransitionTime").is_empty() {
        old.insert("lastTransitionTime".to_owned(), now.into());
    }
    for (key, value) in [("status", *status), ("reason", *reason), ("message", message.as_str())] {
        old.insert(key.to_owned(), value.into());
    }
}

/// Establishes a definition whose names were accepted. Whether the status changed.
pub fn establish(definition: &mut Object, now: &str) -> bool {
    if !is_true(definition, "NamesAccepted") || is_true(definition, "Established") {
        return false;
    }
    let condition = if definition::has_bad_certificates(definition) {
        Condition::new("Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
    } else {
        Condition::new("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    };
    if find(definition, "Established").is_some_and(|old| condition.is(old)) {
        return false;
    }
    set(definition, &condition, now);
    true
}

/// Says whether a group of the Kubernetes project was approved. Whether the status changed.
pub fn approve(definition: &mut Object, now: &str) -> bool {
    use definition::Approval;
    if !definition::is_protected(group_of(definition)) {
        return false;
    }
    let (state, message) = definition::approval_of(definition);
    let (status, reason) = match state {
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Approved => ("True", "ApprovedAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
    };
    let kind = "KubernetesAPIApprovalPolicyConformant";
    let condition = Condition { message, ..Condition::new(kind, status, reason, "") };
    if find(definition, kind).is_some_and(|old| condition.is(old)) {
        return false;
    }
    set(definition, &condition, now);
    true
}

/// Says what keeps the schemas from being structural. Whether the status changed.
pub fn check_structure(definition: &mut Object, now: &str) -> bool {
    let kind = "NonStructuralSchema";
    match structure(definition) {
        None if find(definition, kind).is_none() => false,
        None => {
            conditions_mut(definition).retain(|condition| condition.get("type").is_none_or(|found| found != kind));
            true
        }
        Some(condition) if find(definition, kind).is_some_and(|old| condition.is(old)) => false,
        Some(condition) => {
            set(definition, &condition, now);
            true
        }
    }
}

fn structure(definition: &Object) -> Option<Condition> {
    let kind = "NonStructuralSchema";
    let spec = child(Some(definition), "spec")?;
    let at = Path::field("spec");
    let mut errors = Vec::new();
    if spec.get("preserveUnknownFields").and_then(Value::as_bool).unwrap_or_default() {
        let yes = BadValue::Json("true".to_owned());
        errors.push(FieldError::invalid(at.child("preserveUnknownFields"), yes, "must be false"));
    }
    let at = at.child("versions");
    let versions = spec.get("versions").and_then(Value::as_array);
    for (i, version) in versions.into_iter().flatten().enumerate() {
        let schema = version.get("schema").and_then(|schema| schema.get("openAPIV3Schema")).and_then(Value::as_object);
        let Some(schema) = schema else { continue };
        let at = at.index(i);
        let at = at.child("schema");
        match definition::structural_faults(schema, at.child("openAPIV3Schema")) {
            Ok(found) => errors.extend(found),
            Err(why) => {
                let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
                let message = format!("failed to check validation schema for version {name}: {why}");
                return Some(Condition { message, ..Condition::new(kind, "Unknown", "StructuralError", "") });
            }
        }
    }
    (!errors.is_empty())
        .then(|| Condition { message: summary(&errors), ..Condition::new(kind, "True", "Violations", "") })
}

/// How far the end of a definition has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Somebody asked for it.
    Pending,
    /// Its objects are being deleted.
    InProgress,
    /// Some cannot be deleted, for this reason.
    Failed(String),
    /// Some are still there, for this reason.
    Unconfirmed(String),
    /// There are none any more.
    Completed,
    /// There never were any.
    NeverEstablished,
    /// They belong to the server itself.
    Overlapping,
}

/// Says how far the end of a definition has come.
pub fn terminate(definition: &mut Object, how: &Termination, now: &str) {
    let (status, reason, message) = match how {
        Termination::Pending => (
            "True",
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon".to_owned(),
        ),
        Termination::InProgress => {
            ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress".to_owned())
        }
        Termination::Failed(why) => ("True", "InstanceDeletionFailed", why.clone()),
        Termination::Unconfirmed(why) => {
            ("True", "InstanceDeletionCheck", format!("could not confirm zero CustomResources remaining: {why}"))
        }
        Termination::Completed => ("False", "InstanceDeletionCompleted", "removed all instances".to_owned()),
        Termination::NeverEstablished => ("False", "NeverEstablished", "resource was never established".to_owned()),
        Termination::Overlapping => {
            ("False", "OverlappingBuiltInResource", "instances overlap with built-in resources in storage".to_owned())
        }
    };
    let condition = Condition { message, ..Condition::new("Terminating", status, reason, "") };
    set(definition, &condition, now);
}

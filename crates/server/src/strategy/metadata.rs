//! What Kubernetes says about the metadata of any object.

use std::collections::BTreeSet;

use rolewright_core::quote::{JsonText, Quoted, is_print};
use rolewright_core::validate::{BadValue, FieldError, Path, invalid, label, names};
use serde_json::Value;

use super::{Object, fields};

pub(crate) const ANNOTATIONS_MAX: usize = 256 * 1024;
const MANAGER_MAX: usize = 128;
const SUBRESOURCE_MAX: usize = 256;
/// The most text, in bytes, about one list. Kubernetes has no such limit: there the answer to a long list of faulty
/// items that are shown as a whole grows with the square of its length.
const TEXT_MAX: usize = 1 << 20;
/// About as many faults are told, for the same reason.
const FAULTS_MAX: usize = 10_000;
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// What is wrong with the metadata by itself.
pub(crate) fn faults(
    object: &Object,
    namespaced: bool,
    name_faults: impl Fn(&str, bool) -> Vec<String>,
) -> Vec<FieldError> {
    let at = Path::field("metadata");
    let mut errors = Vec::new();
    let prefix = fields::text(object, &["metadata", "generateName"]);
    if !prefix.is_empty() {
        errors.extend(invalid(at.child("generateName"), prefix, name_faults(prefix, true)));
    }
    match fields::text(object, &["metadata", "name"]) {
        "" => errors.push(FieldError::required(at.child("name"), "name or generateName is required")),
        name => errors.extend(invalid(at.child("name"), name, name_faults(name, false))),
    }
    match (namespaced, fields::text(object, &["metadata", "namespace"])) {
        (true, "") => errors.push(FieldError::required(at.child("namespace"), "")),
        (true, namespace) => errors.extend(invalid(at.child("namespace"), namespace, names::dns_label(namespace))),
        (false, "") => {}
        (false, _) => errors.push(FieldError::forbidden(at.child("namespace"), "not allowed on this type")),
    }
    let generation = generation(object);
    if generation < 0 {
        let value = BadValue::number(generation);
        errors.push(FieldError::invalid(at.child("generation"), value, "must be greater than or equal to 0"));
    }
    labels_and_owners(object, &mut errors);
    finalizers(object, &mut errors);
    managed_fields(object, &mut errors);
    errors
}

/// What is wrong with the metadata as a change of `old`.
pub(super) fn change_faults(object: &Object, old: &Object) -> Vec<FieldError> {
    let at = Path::field("metadata");
    let mut errors = Vec::new();
    if fields::get(old, &["metadata", "deletionTimestamp"]).is_some() {
        errors.extend(new_finalizers(object, old, at.child("finalizers")));
    }
    let version = fields::text(object, &["metadata", "resourceVersion"]);
    if version.is_empty() {
        let detail = "must be specified for an update";
        errors.push(FieldError::invalid(at.child("resourceVersion"), version, detail));
    }
    if generation(object) < generation(old) {
        let value = BadValue::number(generation(object));
        errors.push(FieldError::invalid(at.child("generation"), value, "must not be decremented"));
    }
    for field in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let path = ["metadata", field];
        let set = |value: &&Value| **value != "";
        let (new, old) = (fields::get(object, &path).filter(set), fields::get(old, &path).filter(set));
        if new != old {
            let value = match (field, new) {
                ("name" | "namespace", new) => BadValue::from(new.map(fields::text_of).unwrap_or_default()),
                ("uid", new) => BadValue::typed_text(new.map(fields::text_of).unwrap_or_default()),
                (_, Some(Value::String(text))) => BadValue::typed_text(text),
                (_, Some(value)) => BadValue::Json(value.to_string()),
                (_, None) => BadValue::null(),
            };
            errors.push(FieldError::invalid(at.child(field), value, "field is immutable"));
        }
    }
    labels_and_owners(object, &mut errors);
    managed_fields(object, &mut errors);
    errors
}

/// Finalizers without a slash that Kubernetes does not know.
pub(super) fn unknown_finalizers(object: &Object) -> Vec<FieldError> {
    let at = Path::field("metadata");
    let at = at.child("finalizers");
    let finalizers = fields::texts(object, &["metadata", "finalizers"]).enumerate();
    finalizers.filter_map(|(i, finalizer)| unknown_finalizer(finalizer, at.index(i))).take(FAULTS_MAX).collect()
}

/// The error of a finalizer without a slash that Kubernetes does not know.
pub(crate) fn unknown_finalizer(finalizer: &str, at: Path<'_>) -> Option<FieldError> {
    let known = finalizer.contains('/') || ["kubernetes", ORPHAN, FOREGROUND].contains(&finalizer);
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    (!known).then(|| FieldError::invalid(at, finalizer, detail))
}

fn generation(object: &Object) -> i64 {
    fields::number(object, &["metadata", "generation"]).unwrap_or_default()
}

fn labels_and_owners(object: &Object, errors: &mut Vec<FieldError>) {
    let meta = Path::field("metadata");
    let at = meta.child("labels");
    for (key, value) in fields::entries(object, &["metadata", "labels"]) {
        if errors.len() > FAULTS_MAX {
            break;
        }
        errors.extend(label(key, value, at));
    }
    let at = meta.child("annotations");
    let mut size = 0usize;
    for (key, value) in fields::entries(object, &["metadata", "annotations"]) {
        if errors.len() <= FAULTS_MAX {
            errors.extend(invalid(at, key, names::label_key(&lowercase(key))));
        }
        size = size.saturating_add(key.len()).saturating_add(value.len());
    }
    if size > ANNOTATIONS_MAX {
        errors.push(FieldError::too_long(at, ANNOTATIONS_MAX));
    }
    owners(object, meta.child("ownerReferences"), errors);
}

/// Each character by itself, as Go does it: the one that becomes two in Rust becomes the first of these.
fn lowercase(text: &str) -> String {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

fn owners(object: &Object, at: Path<'_>, errors: &mut Vec<FieldError>) {
    let references = fields::items(object, &["metadata", "ownerReferences"]);
    let mut controller: Option<String> = None;
    let mut text_left = TEXT_MAX;
    for reference in references.iter().map(fields::object_of) {
        if errors.len() > FAULTS_MAX {
            break;
        }
        owner(reference, at, errors);
        if !fields::flag(reference, &["controller"]) {
            continue;
        }
        let this = format!("{}/{}", fields::text(reference, &["kind"]), fields::text(reference, &["name"]));
        let Some(first) = &controller else {
            controller = Some(this);
            continue;
        };
        if text_left == 0 {
            continue;
        }
        let all: Vec<String> = references.iter().map(|other| owner_json(fields::object_of(other))).collect();
        let all = format!("[{}]", all.join(","));
        text_left = text_left.saturating_sub(all.len());
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
        );
        errors.push(FieldError::invalid(at, BadValue::Json(all), detail));
    }
}

fn owner(reference: &Object, at: Path<'_>, errors: &mut Vec<FieldError>) {
    let [api_version, kind, name, uid] = ["apiVersion", "kind", "name", "uid"].map(|f| fields::text(reference, &[f]));
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(pair) => pair,
    };
    if version.is_empty() {
        errors.push(FieldError::invalid(at.child("apiVersion"), api_version, "version must not be empty"));
    }
    for (field, text) in [("kind", kind), ("name", name)] {
        if text.is_empty() {
            errors.push(FieldError::invalid(at.child(field), text, "must not be empty"));
        }
    }
    if uid.is_empty() {
        errors.push(FieldError::invalid(at.child("uid"), BadValue::typed_text(uid), "must not be empty"));
    }
    if (group, version, kind) == ("", "v1", "Event") {
        let value = BadValue::Json(owner_json(reference));
        errors.push(FieldError::invalid(at, value, "/v1, Kind=Event is disallowed from being an owner"));
    }
}

fn owner_json(reference: &Object) -> String {
    let texts = ["apiVersion", "kind", "name", "uid"].map(|field| (field, fields::text(reference, &[field])));
    let mut members: Vec<String> =
        texts.iter().map(|(field, text)| format!("\"{field}\":{}", JsonText(text))).collect();
    for field in ["controller", "blockOwnerDeletion"] {
        if let Some(value) = fields::get(reference, &[field]) {
            members.push(format!("\"{field}\":{value}"));
        }
    }
    format!("{{{}}}", members.join(","))
}

fn finalizers(object: &Object, errors: &mut Vec<FieldError>) {
    let at = Path::field("metadata");
    let at = at.child("finalizers");
    let finalizers = fields::texts(object, &["metadata", "finalizers"]);
    for finalizer in finalizers.clone() {
        if errors.len() > FAULTS_MAX {
            break;
        }
        errors.extend(invalid(at, finalizer, names::label_key(finalizer)));
    }
    let has = |wanted: &str| finalizers.clone().any(|finalizer| finalizer == wanted);
    if has(ORPHAN) && has(FOREGROUND) {
        let all: Vec<String> = finalizers.clone().map(|finalizer| JsonText(finalizer).to_string()).collect();
        let value = BadValue::Json(format!("[{}]", all.join(",")));
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.push(FieldError::invalid(at, value, detail));
    }
}

fn new_finalizers(object: &Object, old: &Object, at: Path<'_>) -> Option<FieldError> {
    let set = |object| fields::texts(object, &["metadata", "finalizers"]).collect::<BTreeSet<_>>();
    let (now, before) = (set(object), set(old));
    let added: Vec<String> = now.difference(&before).map(|finalizer| Quoted(finalizer).to_string()).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        added.join(", ")
    );
    (!added.is_empty()).then(|| FieldError::forbidden(at, detail))
}

fn managed_fields(object: &Object, errors: &mut Vec<FieldError>) {
    let at = Path::field("metadata");
    let at = at.child("managedFields");
    let mut text_left = TEXT_MAX;
    for (i, entry) in fields::items(object, &["metadata", "managedFields"]).iter().map(fields::object_of).enumerate() {
        if errors.len() > FAULTS_MAX {
            break;
        }
        let at = at.index(i);
        let operation = fields::text(entry, &["operation"]);
        if !["Apply", "Update"].contains(&operation) {
            let value = BadValue::typed_text(operation);
            errors.push(FieldError::invalid(at.child("operation"), value, "must be `Apply` or `Update`"));
        }
        let fields_type = fields::text(entry, &["fieldsType"]);
        if !["", "FieldsV1"].contains(&fields_type) {
            errors.push(FieldError::invalid(at.child("fieldsType"), fields_type, "must be `FieldsV1`"));
        }
        let manager = fields::text(entry, &["manager"]);
        if manager.len() > MANAGER_MAX {
            errors.push(FieldError::too_long(at.child("manager"), MANAGER_MAX));
        }
        for (position, c) in manager.char_indices().filter(|(_, c)| !is_print(*c)) {
            if text_left > 0 {
                text_left = text_left.saturating_sub(manager.len());
                let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(c));
                errors.push(FieldError::invalid(at.child("manager"), manager, detail));
            }
        }
        if fields::text(entry, &["subresource"]).len() > SUBRESOURCE_MAX {
            errors.push(FieldError::too_long(at.child("subresource"), SUBRESOURCE_MAX));
        }
    }
}

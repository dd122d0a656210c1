//! Namespaces: they carry their name as a label, and are finalized by a list of their own.

use rolewright_core::validate::{BadValue, FieldError, Path, invalid, names};
use serde_json::{Value, json};

use crate::strategy::{Candidate, Object, Strategy, fields, label_name, unknown_finalizer};

const NAME_LABEL: &str = "kubernetes.io/metadata.name";
const OWN_FINALIZER: &str = "kubernetes";

/// The rules of namespaces.
pub(super) struct Namespace;

impl Strategy for Namespace {
    fn default(&self, object: &mut Object) {
        if !fields::text(object, &["metadata", "name"]).is_empty() {
            self.canonicalize(object);
        }
        if fields::text(object, &["status", "phase"]).is_empty() {
            fields::set(object, &["status", "phase"], "Active");
        }
    }

    fn prepare_create(&self, object: &mut Object) {
        fields::set(object, &["status"], json!({"phase": "Active"}));
        let mut finalizers = fields::items(object, &["spec", "finalizers"]).to_vec();
        if !finalizers.iter().any(|finalizer| finalizer == OWN_FINALIZER) {
            finalizers.push(OWN_FINALIZER.into());
            fields::set(object, &["spec", "finalizers"], finalizers);
        }
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        fields::keep(object, old, &["spec", "finalizers"]);
        fields::keep(object, old, &["status"]);
    }

    fn prepare_status(&self, object: &mut Object, old: &Object) {
        fields::keep(object, old, &["spec"]);
    }

    fn prepare_subresource(&self, subresource: &str, object: &mut Object, old: &Object) {
        match subresource {
            "status" => self.prepare_status(object, old),
            _ => fields::keep(object, old, &["status"]),
        }
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        let at = Path::field("spec");
        let at = at.child("finalizers");
        fields::texts(object, &["spec", "finalizers"]).flat_map(|text| finalizer(text, at)).collect()
    }

    fn validate_status(&self, object: &Object, _old: &Object) -> Vec<FieldError> {
        let phase = fields::text(object, &["status", "phase"]);
        let (expected, detail) = match fields::get(object, &["metadata", "deletionTimestamp"]) {
            None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
            Some(_) => ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
        };
        if phase == expected {
            return Vec::new();
        }
        let at = Path::field("status");
        vec![FieldError::invalid(at.child("Phase"), BadValue::typed_text(phase), detail)]
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        [new.metadata(), self.validate(new.object), new.metadata_change(old)].concat()
    }

    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let mut errors = new.metadata_change(old);
        if subresource == "status" {
            errors.extend(self.validate_status(new.object, old));
            return errors;
        }
        let at = Path::field("spec");
        let at = at.child("finalizers");
        for (i, text) in fields::texts(new.object, &["spec", "finalizers"]).enumerate() {
            errors.extend(finalizer(text, at.index(i)));
        }
        errors
    }

    fn canonicalize(&self, object: &mut Object) {
        let name: Value = fields::text(object, &["metadata", "name"]).into();
        fields::set(object, &["metadata", "labels", NAME_LABEL], name);
    }

    fn name(&self, name: &str, prefix: bool) -> Vec<String> {
        label_name(name, prefix)
    }

    fn selectable(&self) -> &'static [&'static str] {
        &["status.phase"]
    }

    fn select(&self, object: &Object, _field: &str) -> String {
        fields::text(object, &["status", "phase"]).to_owned()
    }
}

fn finalizer(text: &str, at: Path<'_>) -> Vec<FieldError> {
    invalid(at, text, names::label_key(text)).chain(unknown_finalizer(text, at)).collect()
}

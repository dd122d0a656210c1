//! What happens to an object of a custom kind between its decoding and its storing.

mod scale;

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{FieldError, Path, names};
use serde_json::{Map, Value};

pub use crate::metadata::block_rules;
use crate::metadata::{Malformed, ObjectMeta};
use crate::{Schema, go};
pub use scale::Scale;

/// One version of a custom kind.
#[derive(Clone, Copy)]
pub struct Kind<'a> {
    /// What its objects look like.
    pub schema: &'a Schema,
    /// Group and version, as `apiVersion` has them.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// Whether it has the status subresource.
    pub status: bool,
    /// The scale subresource, if it has one.
    pub scale: Option<&'a Scale>,
    /// `spec.preserveUnknownFields` of old definitions: nothing is pruned.
    pub preserve_unknown_fields: bool,
    /// What the server knows of metadata.
    pub meta: &'a dyn ObjectMeta,
}

impl std::fmt::Debug for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

impl Kind<'_> {
    /// Makes of a document what its schema knows of it, with defaults. The paths are of unknown fields, in the order in
    /// which strict decoding tells them; those of the metadata of the object itself come before.
    pub fn decode(&self, object: &mut Map<String, Value>, malformed: Malformed) -> Result<Vec<String>, FieldError> {
        let unknown = self.coerce(object, malformed)?;
        self.schema.apply_defaults(object);
        Ok(unknown)
    }

    /// The same without defaults.
    pub fn coerce(&self, object: &mut Map<String, Value>, malformed: Malformed) -> Result<Vec<String>, FieldError> {
        let mut unknown = Vec::new();
        if !self.preserve_unknown_fields {
            unknown = self.schema.prune_and_tell(object);
            self.schema.prune_nulls(object);
        }
        unknown.extend(self.schema.coerce_metadata(object, self.meta, malformed)?);
        Ok(unknown)
    }

    /// A new object has no status of its own making, and is the first generation.
    pub fn prepare_create(&self, object: &mut Map<String, Value>) {
        if self.status {
            object.remove("status");
        }
        set_generation(object, 1);
    }

    /// The status stays what it was, and anything else that changes outside of metadata makes a new generation.
    pub fn prepare_update(&self, object: &mut Map<String, Value>, old: &Map<String, Value>) {
        if self.status {
            match old.get("status") {
                Some(status) => object.insert("status".to_owned(), status.clone()),
                None => object.remove("status"),
            };
        }
        let same =
            |name: &String, value: &Value| name == "metadata" || old.get(name).is_some_and(|old| go::equal(value, old));
        let content = |object: &Map<String, Value>| object.len() - usize::from(object.contains_key("metadata"));
        if content(object) != content(old) || !object.iter().all(|(name, value)| same(name, value)) {
            let generation = old.get("metadata").and_then(|meta| meta.get("generation")).and_then(Value::as_i64);
            set_generation(object, generation.unwrap_or_default().saturating_add(1));
        }
    }

    /// Only the status changes, and who manages it.
    pub fn prepare_status(&self, object: &mut Map<String, Value>, old: &Map<String, Value>) {
        let status = object.remove("status");
        let managers = object.get_mut("metadata").and_then(Value::as_object_mut).and_then(|meta| meta.remove(MANAGERS));
        object.clone_from(old);
        if let Value::Object(meta) = object.entry("metadata").or_insert_with(|| Value::Object(Map::new())) {
            match managers.filter(|managers| managers.as_array().is_some_and(|managers| !managers.is_empty())) {
                Some(managers) => meta.insert(MANAGERS.to_owned(), managers),
                None => meta.remove(MANAGERS),
            };
        }
        match status {
            Some(status) => object.insert("status".to_owned(), status),
            None => object.remove("status"),
        };
    }

    /// The faults of a new object. Those of its metadata are the server's to find, and have their place among them.
    pub fn validate_create(&self, object: &Map<String, Value>, metadata: Vec<FieldError>) -> Vec<FieldError> {
        let mut errors = self.type_faults(object);
        if errors.is_empty() {
            errors = metadata;
            errors.extend(self.schema.validate(object));
            errors.extend(self.scale.map(|scale| scale.faults(object)).unwrap_or_default());
        }
        errors.extend(self.schema.validate_metadata(object, self.meta));
        errors.extend(self.schema.validate_lists(object));
        errors
    }

    /// The faults of an object that is to replace `old`.
    pub fn validate_update(
        &self,
        object: &Map<String, Value>,
        old: &Map<String, Value>,
        metadata: Vec<FieldError>,
    ) -> Vec<FieldError> {
        let mut errors = self.type_faults(object);
        if errors.is_empty() {
            errors = metadata;
            errors.extend(self.schema.validate_update(object, old));
            errors.extend(self.scale.map(|scale| scale.faults(object)).unwrap_or_default());
        }
        errors.extend(self.schema.validate_metadata(object, self.meta));
        self.new_list_faults(object, old, &mut errors);
        errors
    }

    /// The faults of an object whose status is to replace that of `old`.
    pub fn validate_status(
        &self,
        object: &Map<String, Value>,
        old: &Map<String, Value>,
        metadata: Vec<FieldError>,
    ) -> Vec<FieldError> {
        let mut errors = self.type_faults(object);
        if errors.is_empty() {
            errors = metadata;
            if let (true, Some(schema), Some(status)) =
                (self.status, self.schema.property("status"), object.get("status"))
            {
                let old = old.get("status").unwrap_or(&Value::Null);
                errors.extend(schema.validate_update_at("status", status.into(), old.into()));
            }
            errors.extend(self.scale.map(|scale| scale.status_faults(object)).unwrap_or_default());
        }
        self.new_list_faults(object, old, &mut errors);
        errors
    }

    /// Lists that were wrong before may stay wrong.
    fn new_list_faults(&self, object: &Map<String, Value>, old: &Map<String, Value>, errors: &mut Vec<FieldError>) {
        let faults = self.schema.validate_lists(object);
        if !faults.is_empty() && self.schema.validate_lists(old).is_empty() {
            errors.extend(faults);
        }
    }

    fn type_faults(&self, object: &Map<String, Value>) -> Vec<FieldError> {
        let fault = |(name, wanted): (&'static str, &str)| {
            let found = object.get(name).and_then(Value::as_str).unwrap_or_default();
            (found != wanted).then(|| FieldError::invalid(Path::field(name), found, format!("must be {wanted}")))
        };
        [("kind", self.kind), ("apiVersion", self.api_version)].into_iter().filter_map(fault).collect()
    }
}

const MANAGERS: &str = "managedFields";

fn set_generation(object: &mut Map<String, Value>, generation: i64) {
    if let Value::Object(meta) = object.entry("metadata").or_insert_with(|| Value::Object(Map::new())) {
        meta.insert("generation".to_owned(), generation.into());
    }
}

/// What clients are told about finalizers that an object has and `old` has not, sorted by name.
pub fn finalizer_warnings(object: &Map<String, Value>, old: Option<&Map<String, Value>>) -> Vec<String> {
    let finalizers = |object: &Map<String, Value>| -> std::collections::BTreeSet<String> {
        let finalizers = object.get("metadata").and_then(|meta| meta.get("finalizers")).and_then(Value::as_array);
        finalizers.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let known = old.map(finalizers).unwrap_or_default();
    finalizers(object).difference(&known).flat_map(|finalizer| finalizer_faults(finalizer)).collect()
}

fn finalizer_faults(finalizer: &str) -> Vec<String> {
    let mut faults = names::label_key(finalizer);
    if !finalizer.contains('/') && !["orphan", "foregroundDeletion", "kubernetes"].contains(&finalizer) {
        let path = if finalizer.contains('.') { "including a path (/) " } else { "" };
        faults.push(format!(
            "prefer a domain-qualified finalizer name {path}to avoid accidental conflicts with other finalizer writers"
        ));
    }
    faults.iter().map(|fault| format!("metadata.finalizers: {}: {fault}", Quoted(finalizer))).collect()
}

/// The text by which a selectable field selects the value that was found there.
pub fn selectable_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(value) => go::printed(value),
    }
}

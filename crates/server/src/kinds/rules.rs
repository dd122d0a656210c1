//! The rules of a stored kind as data: which parts belong to whom, when the generation rises, and what is checked.

use rolewright_core::validate::FieldError;
use serde_json::Value;

use super::read::{child, child_mut, integer};
use super::{defaults, semantic};
use crate::facts::{Type, type_of};
use crate::strategy::{Candidate, Object, Strategy};

/// What writes of the object itself do to its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// There is none.
    None,
    /// New objects may have one; later it is the subresource's.
    Given,
    /// It is the subresource's from the start.
    Reset,
}

/// A subresource through which only a part of the object can be changed.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Takes all but that part from the old object.
    pub(super) update: fn(&mut Object, &Object),
    pub(super) validate: fn(&Object, &Object) -> Vec<FieldError>,
}

/// The rules of one kind.
pub(super) struct Rules {
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) status: Status,
    /// New objects have generation 1.
    pub(super) generation: bool,
    /// What raises the generation when it changes: members of the object or of its metadata.
    pub(super) raises: &'static [&'static str],
    /// What an update of the status leaves as it was.
    pub(super) status_keeps: &'static [&'static str],
    pub(super) create: fn(&mut Object),
    pub(super) update: fn(&mut Object, &Object),
    pub(super) update_status: fn(&mut Object, &Object),
    pub(super) validate: fn(&Object) -> Vec<FieldError>,
    pub(super) validate_update: fn(&Object, &Object) -> Vec<FieldError>,
    pub(super) validate_status: fn(&Object, &Object) -> Vec<FieldError>,
    pub(super) warnings: fn(&Object, Option<&Object>) -> Vec<String>,
    pub(super) name: fn(&str) -> Vec<String>,
    pub(super) selectable: &'static [&'static str],
    pub(super) parts: &'static [Part],
    /// Whether the kind judges metadata beyond what is common to all kinds: names, known finalizers.
    pub(super) judges_metadata: bool,
}

/// All metadata that an update of the status must not change.
pub(super) const METADATA: &[&str] = &[
    "spec",
    "metadata.annotations",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.labels",
    "metadata.ownerReferences",
];

impl Rules {
    /// A kind that is data and nothing else.
    pub(super) const fn data(group: &'static str, resource: &'static str, kind: &'static str) -> Self {
        Self {
            group,
            resource,
            version: "v1",
            kind,
            status: Status::None,
            generation: false,
            raises: &[],
            status_keeps: &["spec"],
            create: |_| {},
            update: |_, _| {},
            update_status: |_, _| {},
            validate: |_| Vec::new(),
            validate_update: |_, _| Vec::new(),
            validate_status: |_, _| Vec::new(),
            warnings: |_, _| Vec::new(),
            name: rolewright_core::validate::names::dns_subdomain,
            selectable: &[],
            parts: &[],
            judges_metadata: true,
        }
    }

    /// A kind with a generation.
    pub(super) const fn counted(self, raises: &'static [&'static str]) -> Self {
        Self { generation: true, raises, ..self }
    }

    /// A kind whose status is written through the subresource only.
    pub(super) const fn with_status(self) -> Self {
        Self { status: Status::Reset, ..self }
    }

    fn ty(&self) -> Option<&'static Type> {
        type_of(self.group, self.version, self.kind)
    }

    fn part(&self, subresource: &str) -> Option<&'static Part> {
        self.parts.iter().find(|part| part.name == subresource)
    }

    fn version_of(&self, object: &Object) -> String {
        let version = object.get("apiVersion").and_then(|text| text.as_str()?.rsplit('/').next());
        version.filter(|version| !version.is_empty()).unwrap_or(self.version).to_owned()
    }

    fn raise_generation(&self, object: &mut Object, old: &Object) {
        let Some(ty) = self.ty().filter(|_| !self.raises.is_empty()) else { return };
        let raised = self.raises.iter().any(|path| !semantic::same_at(ty, object, old, path));
        let before = child(old, "metadata").and_then(|metadata| integer(metadata, "generation")).unwrap_or_default();
        if let Some(metadata) = child_mut(object, "metadata")
            && raised
        {
            metadata.insert("generation".to_owned(), before.saturating_add(1).into());
        }
    }
}

/// Takes a member of the object or of its metadata from `old`.
fn keep(object: &mut Object, old: &Object, path: &str) {
    let (object, old, key) = match path.strip_prefix("metadata.") {
        Some(key) => {
            let Some(metadata) = child_mut(object, "metadata") else { return };
            (metadata, child(old, "metadata"), key)
        }
        None => (object, Some(old), path),
    };
    match old.and_then(|old| old.get(key)) {
        Some(value) => object.insert(key.to_owned(), value.clone()),
        None => object.remove(key),
    };
}

impl Strategy for Rules {
    fn default(&self, object: &mut Object) {
        let version = self.version_of(object);
        defaults::of(self.group, &version, self.kind, object);
    }

    fn prepare_create(&self, object: &mut Object) {
        if self.generation
            && let Some(metadata) = child_mut(object, "metadata")
        {
            metadata.insert("generation".to_owned(), 1.into());
        }
        if self.status == Status::Reset
            && let Some(ty) = type_of(self.group, &self.version_of(object), self.kind)
        {
            object.insert("status".to_owned(), semantic::zero_of(ty, "status"));
        }
        (self.create)(object);
        // What is read back from storage has its defaults again.
        self.default(object);
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        if self.status != Status::None {
            keep(object, old, "status");
        }
        (self.update)(object, old);
        self.raise_generation(object, old);
        self.default(object);
    }

    fn prepare_status(&self, object: &mut Object, old: &Object) {
        for path in self.status_keeps {
            keep(object, old, path);
        }
        (self.update_status)(object, old);
        self.default(object);
    }

    fn prepare_subresource(&self, subresource: &str, object: &mut Object, old: &Object) {
        if subresource == "status" {
            return self.prepare_status(object, old);
        }
        if let Some(part) = self.part(subresource) {
            for path in METADATA.iter().filter(|path| path.starts_with("metadata.")) {
                keep(object, old, path);
            }
            (part.update)(object, old);
        }
        self.prepare_update(object, old);
    }

    fn validate_subresource(&self, subresource: &str, object: &Object, old: &Object) -> Vec<FieldError> {
        match self.part(subresource) {
            Some(part) => (part.validate)(object, old),
            None if subresource == "status" => self.validate_status(object, old),
            None => self.validate_update(object, old),
        }
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        (self.validate)(object)
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        (self.validate_update)(object, old)
    }

    fn validate_status(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        (self.validate_status)(object, old)
    }

    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        let metadata = if self.judges_metadata { new.metadata() } else { Vec::new() };
        [metadata, self.validate(new.object)].concat()
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let metadata = if self.judges_metadata { new.metadata_change(old) } else { Vec::new() };
        [metadata, self.validate_update(new.object, old)].concat()
    }

    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let metadata = if self.judges_metadata { new.metadata_change(old) } else { Vec::new() };
        [metadata, self.validate_subresource(subresource, new.object, old)].concat()
    }

    fn warnings(&self, object: &Object, old: Option<&Object>) -> Vec<String> {
        (self.warnings)(object, old)
    }

    fn name(&self, name: &str, prefix: bool) -> Vec<String> {
        match name.strip_suffix('-').filter(|_| prefix) {
            Some(cut) => (self.name)(&format!("{cut}a")),
            None => (self.name)(name),
        }
    }

    fn selectable(&self) -> &'static [&'static str] {
        self.selectable
    }

    fn select(&self, object: &Object, field: &str) -> String {
        let found = field.split('.').try_fold(None, |at: Option<&Value>, key| {
            Some(Some(at.map_or_else(|| object.get(key), |value| value.get(key))?))
        });
        match found.flatten() {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => match field {
                "spec.hostNetwork" | "spec.unschedulable" => "false".to_owned(),
                "status.replicas" | "status.successful" => "0".to_owned(),
                _ => String::new(),
            },
        }
    }
}

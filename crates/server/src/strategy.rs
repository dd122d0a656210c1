//! What is particular to a kind: its defaults, what clients may not set, what is valid. And what is common to all kinds
//! when an object is written: metadata is kept in order and judged, then the kind has its say.

mod candidate;
mod create;
pub mod embedded;
pub(crate) mod fields;
mod metadata;
mod rules;
mod update;
mod version;

pub use candidate::Candidate;
pub(crate) use create::forget_link;
pub use create::{before_create, wipe_system_fields};
pub(crate) use metadata::{ANNOTATIONS_MAX, faults as metadata_faults, unknown_finalizer};
pub use rules::Rules;
pub use update::before_update;
pub(crate) use version::forget_version;
pub use version::{refuse_version, settle_version};

use rolewright_core::validate::{FieldError, names};
use serde_json::{Map, Value};

/// A Kubernetes object as JSON, already conformed to its type: known fields only, of the right types.
pub type Object = Map<String, Value>;

/// The rules of one kind. Every method has the answer of a kind without particularities.
pub trait Strategy: Sync {
    /// Fills in what Kubernetes fills in whenever it reads an object from a client.
    fn default(&self, _object: &mut Object) {}

    /// What the server sets or drops before it stores a new object (status cleared, generation, spec.finalizers, ..).
    fn prepare_create(&self, _object: &mut Object) {}

    /// The same before an update: what belongs to subresources is taken from `old`, generation is raised.
    fn prepare_update(&self, _object: &mut Object, _old: &Object) {}

    /// The same before an update through the subresource `status`.
    fn prepare_status(&self, _object: &mut Object, _old: &Object) {}

    /// The same before an update through any subresource.
    fn prepare_subresource(&self, subresource: &str, object: &mut Object, old: &Object) {
        match subresource {
            "status" => self.prepare_status(object, old),
            _ => self.prepare_update(object, old),
        }
    }

    /// What is wrong with a new object, beyond its metadata.
    fn validate(&self, _object: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// What is wrong with an update, beyond its metadata.
    fn validate_update(&self, _object: &Object, _old: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// What is wrong with an update of the status, beyond its metadata.
    fn validate_status(&self, _object: &Object, _old: &Object) -> Vec<FieldError> {
        Vec::new()
    }

    /// What is wrong with an update through any subresource, beyond its metadata.
    fn validate_subresource(&self, subresource: &str, object: &Object, old: &Object) -> Vec<FieldError> {
        match subresource {
            "status" => self.validate_status(object, old),
            _ => self.validate_update(object, old),
        }
    }

    /// All that is wrong with a new object, in the order in which Kubernetes tells it.
    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        [new.metadata(), self.validate(new.object)].concat()
    }

    /// All that is wrong with an update, in the order in which Kubernetes tells it.
    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        [new.metadata_change(old), self.validate_update(new.object, old)].concat()
    }

    /// All that is wrong with an update through a subresource, in the order in which Kubernetes tells it.
    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        [new.metadata_change(old), self.validate_subresource(subresource, new.object, old)].concat()
    }

    /// Brings a valid object into the form in which it is stored.
    fn canonicalize(&self, _object: &mut Object) {}

    /// Warnings for the client.
    fn warnings(&self, _object: &Object, _old: Option<&Object>) -> Vec<String> {
        Vec::new()
    }

    /// What is wrong with a name; `prefix` for a `generateName`.
    fn name(&self, name: &str, prefix: bool) -> Vec<String> {
        subdomain_name(name, prefix)
    }

    /// Whether finalizers without a slash must be among those that Kubernetes knows. A few groups ask no such thing.
    fn knows_finalizers(&self) -> bool {
        true
    }

    /// The group that failures name, where it is not that of the resource.
    fn failure_group(&self) -> Option<&'static str> {
        None
    }

    /// Fields that selectors may name beyond `metadata.name` and `metadata.namespace`.
    fn selectable(&self) -> &'static [&'static str] {
        &[]
    }

    /// The text of a selectable field; empty where it is not set.
    fn select(&self, _object: &Object, _field: &str) -> String {
        String::new()
    }
}

/// What keeps a name, or the prefix of one, from being a DNS subdomain.
pub fn subdomain_name(name: &str, prefix: bool) -> Vec<String> {
    if prefix { names::dns_subdomain(&names::generated_from(name)) } else { names::dns_subdomain(name) }
}

/// What keeps a name, or the prefix of one, from being a DNS label.
pub fn label_name(name: &str, prefix: bool) -> Vec<String> {
    if prefix { names::dns_label(&names::generated_from(name)) } else { names::dns_label(name) }
}

/// What keeps a name, or the prefix of one, out of a URL's path: the rule for all kinds.
fn segment_name(name: &str, prefix: bool) -> Vec<String> {
    if prefix { names::path_segment_prefix(name) } else { names::path_segment(name) }
}

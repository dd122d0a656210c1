//! What is particular to a kind: its defaults, what clients may not set, what is valid.

use rolewright_core::validate::FieldError;
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

    /// Warnings for the client.
    fn warnings(&self, _object: &Object, _old: Option<&Object>) -> Vec<String> {
        Vec::new()
    }

    /// What is wrong with a name; `prefix` for a `generateName`.
    fn name(&self, name: &str, prefix: bool) -> Vec<String> {
        let name = if prefix {
            name.strip_suffix('-').map_or(name.to_owned(), |cut| format!("{cut}a"))
        } else {
            name.to_owned()
        };
        rolewright_core::validate::names::dns_subdomain(&name)
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

//! What a write is judged by.

use rolewright_core::validate::FieldError;

use super::{Object, Strategy, fields};
use crate::facts::Resource;
use crate::kinds;
use crate::status::Failure;

/// A resource as far as writes are concerned.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// Its group.
    pub group: &'a str,
    /// Its name in URLs.
    pub plural: &'a str,
    /// The kind of its objects.
    pub kind: &'a str,
    /// Whether they are in namespaces.
    pub namespaced: bool,
    /// What is particular to them.
    pub strategy: &'a dyn Strategy,
}

impl From<&'static Resource> for Rules<'static> {
    fn from(resource: &'static Resource) -> Self {
        Self {
            group: resource.group,
            plural: resource.plural,
            kind: resource.kind,
            namespaced: resource.namespaced,
            strategy: kinds::strategy(resource.group, resource.plural),
        }
    }
}

impl Rules<'_> {
    /// 422: the object cannot be stored like this.
    pub(super) fn invalid(&self, object: &Object, errors: &[FieldError]) -> Failure {
        let group = self.strategy.failure_group().unwrap_or(self.group);
        // An object of a custom kind may say that it is of another one.
        let told = fields::text(object, &["kind"]);
        let kind = if told.is_empty() { self.kind } else { told };
        Failure::invalid(group, kind, fields::text(object, &["metadata", "name"]), errors)
    }
}

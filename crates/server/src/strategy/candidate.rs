//! An object that is about to be written, as its kind judges its metadata.

use rolewright_core::validate::FieldError;

use super::{Object, Rules, metadata};

/// An object that is about to be written.
pub struct Candidate<'a> {
    /// The object.
    pub object: &'a Object,
    rules: Rules<'a>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(rules: Rules<'a>, object: &'a Object) -> Self {
        Self { object, rules }
    }

    /// What is wrong with the metadata by itself.
    pub fn metadata(&self) -> Vec<FieldError> {
        let name = |name: &str, prefix: bool| self.rules.strategy.name(name, prefix);
        let mut errors = metadata::faults(self.object, self.rules.namespaced, name);
        self.finalizers(&mut errors);
        errors
    }

    /// What is wrong with the metadata as a change of `old`.
    pub fn metadata_change(&self, old: &Object) -> Vec<FieldError> {
        let mut errors = metadata::change_faults(self.object, old);
        self.finalizers(&mut errors);
        errors
    }

    fn finalizers(&self, errors: &mut Vec<FieldError>) {
        if self.rules.strategy.knows_finalizers() {
            errors.extend(metadata::unknown_finalizers(self.object));
        }
    }
}

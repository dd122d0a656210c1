//! The rules of custom resources, where the server asks for those of a kind.

use rolewright_core::validate::FieldError;
use rolewright_crd::strategy;

use super::Version;
use crate::strategy::{Candidate, Object, Strategy};

impl Strategy for Version {
    fn default(&self, object: &mut Object) {
        self.fill(object);
    }

    fn prepare_create(&self, object: &mut Object) {
        self.rules().prepare_create(object);
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        self.rules().prepare_update(object, old);
    }

    fn prepare_status(&self, object: &mut Object, old: &Object) {
        self.rules().prepare_status(object, old);
    }

    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        self.rules().validate_create(new.object, new.metadata())
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        self.rules().validate_update(new.object, old, new.metadata_change(old))
    }

    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        match subresource {
            "status" => self.rules().validate_status(new.object, old, new.metadata_change(old)),
            _ => self.check_update(new, old),
        }
    }

    fn warnings(&self, object: &Object, old: Option<&Object>) -> Vec<String> {
        strategy::finalizer_warnings(object, old)
    }

    fn knows_finalizers(&self) -> bool {
        false
    }

    fn select(&self, object: &Object, field: &str) -> String {
        let mut names = field.split('.');
        let first = names.next().and_then(|name| object.get(name));
        strategy::selectable_text(names.fold(first, |found, name| found.and_then(|found| found.get(name))))
    }
}

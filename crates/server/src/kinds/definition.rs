//! Definitions of custom kinds.

use rolewright_core::validate::FieldError;
use rolewright_crd::definition;

use crate::strategy::embedded::Metadata;
use crate::strategy::{Candidate, Object, Strategy, metadata_faults};

pub(super) struct Definition;

impl Strategy for Definition {
    fn default(&self, object: &mut Object) {
        definition::default(object);
    }

    fn prepare_create(&self, object: &mut Object) {
        definition::prepare_create(object);
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        definition::prepare_update(object, old);
    }

    fn prepare_status(&self, object: &mut Object, old: &Object) {
        definition::prepare_status(object, old);
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        definition::validate(object, &Metadata)
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        definition::validate_update(object, old, &Metadata)
    }

    fn validate_status(&self, object: &Object, _: &Object) -> Vec<FieldError> {
        definition::validate_status(object)
    }

    /// The name follows from the spec.
    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        let name = |name: &str, prefix: bool| definition::name_faults(new.object, name, prefix);
        [metadata_faults(new.object, false, name), self.validate(new.object)].concat()
    }

    fn canonicalize(&self, object: &mut Object) {
        definition::canonicalize(object, &Metadata);
    }

    fn warnings(&self, object: &Object, old: Option<&Object>) -> Vec<String> {
        definition::warnings(object, old)
    }

    fn knows_finalizers(&self) -> bool {
        false
    }
}

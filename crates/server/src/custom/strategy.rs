//! The rules of custom resources, where the server asks for those of a kind.

use rolewright_core::validate::FieldError;
use rolewright_crd::strategy;

use super::Version;
use super::definition::Compiled;
use crate::strategy::{Candidate, Object, Strategy};

impl Version {
    /// The faults so far, and the rules that do not hold.
    fn with_rules(&self, mut errors: Vec<FieldError>, object: &Object, old: Option<&Object>) -> Vec<FieldError> {
        let Compiled { schema, rules, .. } = self.compiled();
        errors.extend(rules.judge(schema, object, old, &errors).errors);
        errors
    }
}

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
        self.with_rules(self.rules().validate_create(new.object, new.metadata()), new.object, None)
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let errors = self.rules().validate_update(new.object, old, new.metadata_change(old));
        self.with_rules(errors, new.object, Some(old))
    }

    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        match subresource {
            "status" => {
                let errors = self.rules().validate_status(new.object, old, new.metadata_change(old));
                self.with_rules(errors, new.object, Some(old))
            }
            _ => self.check_update(new, old),
        }
    }

    fn warnings(&self, object: &Object, old: Option<&Object>) -> Vec<String> {
        let mut warnings = strategy::finalizer_warnings(object, old);
        if old.is_some() {
            // What a rule holds against a part that did not change is told once nothing else is wrong.
            let Compiled { schema, rules, .. } = self.compiled();
            warnings.extend(rules.judge(schema, object, old, &[]).warnings);
        }
        warnings
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

//! Leases.

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use crate::strategy::{Object, Strategy, fields};

const STRATEGIES: &[&str] = &["OldestEmulationVersion"];

/// The rules of leases.
pub(super) struct Lease;

impl Strategy for Lease {
    fn prepare_create(&self, object: &mut Object) {
        // Coordinated leader election is a feature that is off.
        fields::remove(object, &["spec", "strategy"]);
        fields::remove(object, &["spec", "preferredHolder"]);
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        for field in ["strategy", "preferredHolder"] {
            if fields::get(old, &["spec", field]).is_none() {
                fields::remove(object, &["spec", field]);
            }
        }
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        let at = Path::field("spec");
        let mut errors = Vec::new();
        for (field, least, detail) in [
            ("leaseDurationSeconds", 1, "must be greater than 0"),
            ("leaseTransitions", 0, "must be greater than or equal to 0"),
        ] {
            if let Some(number) = fields::number(object, &["spec", field]).filter(|number| *number < least) {
                errors.push(FieldError::invalid(at.child(field), BadValue::number(number), detail));
            }
        }
        let strategy = fields::get(object, &["spec", "strategy"]).map(fields::text_of);
        if let Some(strategy) = strategy {
            // The name comes twice in Kubernetes' path.
            let at = at.child("strategy");
            let at = at.child("strategy");
            if strategy.contains('/') {
                let faults = names::label_key(strategy).into_iter();
                errors.extend(faults.map(|fault| FieldError::invalid(at, BadValue::typed_text(strategy), fault)));
            } else if !STRATEGIES.contains(&strategy) {
                errors.push(FieldError::not_supported(at, BadValue::typed_text(strategy), STRATEGIES));
            }
        }
        let holder = fields::text(object, &["spec", "preferredHolder"]);
        if !holder.is_empty() && strategy.unwrap_or_default().is_empty() {
            let detail = "may only be specified if `strategy` is defined";
            errors.push(FieldError::forbidden(at.child("preferredHolder"), detail));
        }
        errors
    }

    fn validate_update(&self, object: &Object, _old: &Object) -> Vec<FieldError> {
        self.validate(object)
    }

    fn knows_finalizers(&self) -> bool {
        false
    }
}

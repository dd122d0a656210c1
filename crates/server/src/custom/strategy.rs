//! The rules of custom resources, as far as they are not in the schema.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::Version;
use crate::strategy::{Candidate, Object, Strategy, fields};

const GENERATION: [&str; 2] = ["metadata", "generation"];
const MANAGERS: [&str; 2] = ["metadata", "managedFields"];

impl Strategy for Version {
    fn default(&self, object: &mut Object) {
        self.fill(object);
    }

    fn prepare_create(&self, object: &mut Object) {
        if self.has_status() {
            object.remove("status");
        }
        fields::set(object, &GENERATION, 1);
    }

    fn prepare_update(&self, object: &mut Object, old: &Object) {
        if self.has_status() {
            put_or_remove(object, "status", old.get("status").cloned());
        }
        let differs = |one: &Object, other: &Object| {
            one.iter().any(|(key, value)| key != "metadata" && other.get(key) != Some(value))
        };
        if differs(object, old) || differs(old, object) {
            let generation = fields::number(old, &GENERATION).unwrap_or_default();
            fields::set(object, &GENERATION, generation + 1);
        }
    }

    fn prepare_status(&self, object: &mut Object, old: &Object) {
        let status = object.remove("status");
        let managers = fields::get(object, &MANAGERS).cloned();
        object.clone_from(old);
        match managers {
            Some(managers) => fields::set(object, &MANAGERS, managers),
            None => {
                fields::remove(object, &MANAGERS);
            }
        }
        put_or_remove(object, "status", status);
    }

    fn check_create(&self, new: &Candidate<'_>) -> Vec<FieldError> {
        let wrong_type = self.type_faults(new.object);
        if !wrong_type.is_empty() {
            return wrong_type;
        }
        let mut errors = new.metadata();
        errors.extend(self.scale_faults(new.object, true));
        errors
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let wrong_type = self.type_faults(new.object);
        if !wrong_type.is_empty() {
            return wrong_type;
        }
        let mut errors = new.metadata_change(old);
        errors.extend(self.scale_faults(new.object, true));
        errors
    }

    fn check_subresource(&self, subresource: &str, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        if subresource != "status" {
            return self.check_update(new, old);
        }
        let wrong_type = self.type_faults(new.object);
        if !wrong_type.is_empty() {
            return wrong_type;
        }
        let mut errors = new.metadata_change(old);
        errors.extend(self.scale_faults(new.object, false));
        errors
    }

    fn knows_finalizers(&self) -> bool {
        false
    }
}

fn put_or_remove(object: &mut Object, member: &str, value: Option<Value>) {
    match value {
        Some(value) => object.insert(member.to_owned(), value),
        None => object.remove(member),
    };
}

impl Version {
    fn type_faults(&self, object: &Object) -> Vec<FieldError> {
        let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
        let fault = |member: &str, expected: &str| {
            let wrong = text(member) != expected;
            wrong.then(|| FieldError::invalid(Path::field(member), text(member), format!("must be {expected}")))
        };
        fault("kind", self.kind()).into_iter().chain(fault("apiVersion", &self.api_version())).collect()
    }

    /// A Scale must be able to show them.
    fn scale_faults(&self, object: &Object, with_spec: bool) -> Vec<FieldError> {
        let Some(scale) = self.scale() else { return Vec::new() };
        let mut errors = Vec::new();
        let mut check = |path: &str, found: Result<Option<i64>, String>| {
            let fault = match found {
                Err(fault) => Some((0, fault)),
                Ok(Some(number)) if number < 0 => Some((number, "should be a non-negative integer".to_owned())),
                Ok(Some(number)) if number > i64::from(i32::MAX) => {
                    Some((number, format!("should be less than or equal to {}", i32::MAX)))
                }
                Ok(_) => None,
            };
            let fault = fault
                .map(|(number, fault)| FieldError::invalid(Path::field(path), BadValue::number(number), fault));
            errors.extend(fault);
        };
        if with_spec {
            check(scale.spec_path(), scale.wanted(object));
        }
        check(scale.status_path(), scale.found(object));
        if let (Some(path), Err(fault)) = (scale.selector_path(), scale.selector(object)) {
            errors.push(FieldError::invalid(Path::field(path), "", fault));
        }
        errors
    }
}

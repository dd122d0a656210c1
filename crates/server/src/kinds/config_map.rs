//! ConfigMaps: text and bytes by key, at most a mebibyte of both together.

use rolewright_core::validate::{FieldError, Path, invalid, names};

use crate::kinds::data;
use crate::strategy::{Candidate, Object, Strategy, fields};

/// The rules of ConfigMaps.
pub(super) struct ConfigMap;

impl Strategy for ConfigMap {
    fn validate(&self, object: &Object) -> Vec<FieldError> {
        let (text, bytes) = (fields::object_at(object, &["data"]), fields::object_at(object, &["binaryData"]));
        let mut errors = Vec::new();
        let mut size = 0usize;
        let at = Path::field("data");
        for (key, value) in text {
            errors.extend(invalid(at.key(key), key, names::data_key(key)));
            if bytes.contains_key(key) {
                errors.push(FieldError::invalid(at.key(key), key.as_str(), "duplicate of key present in binaryData"));
            }
            size = size.saturating_add(fields::text_of(value).len());
        }
        let at = Path::field("binaryData");
        for (key, value) in bytes {
            errors.extend(invalid(at.key(key), key, names::data_key(key)));
            size = size.saturating_add(data::decoded_len(fields::text_of(value)));
        }
        if size > data::SIZE_MAX {
            // Kubernetes means the object as a whole; this is how its path without a name reads.
            errors.push(FieldError::too_long(Path::Root.key(""), data::SIZE_MAX));
        }
        errors
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        data::immutable(object, old, &["data", "binaryData"], "data")
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let change = self.validate_update(new.object, old);
        [new.metadata_change(old), change, new.metadata(), self.validate(new.object)].concat()
    }
}

//! What ConfigMaps and Secrets share: data by key, limited in size, immutable on demand.

use rolewright_core::validate::{FieldError, Path};

use crate::strategy::{Object, fields};

/// The most bytes in the data of one object.
pub(super) const SIZE_MAX: usize = 1 << 20;

/// How many bytes a text in base64 stands for.
pub(super) fn decoded_len(base64: &str) -> usize {
    let text = base64.trim_end_matches('=');
    text.len() / 4 * 3 + (text.len() % 4).saturating_sub(1)
}

/// What is wrong with a change of an object that may have been declared immutable.
///
/// `data` are the fields that count. Go tells an absent map from an empty one, and so does this, for clients that write
/// the one over the other; of a field in `defaulted` the absent one does not exist.
pub(super) fn immutable(object: &Object, old: &Object, data: &[&str], defaulted: &str) -> Vec<FieldError> {
    const FROZEN: &str = "field is immutable when `immutable` is set";
    if !fields::flag(old, &["immutable"]) {
        return Vec::new();
    }
    let mut errors = Vec::new();
    if !fields::flag(object, &["immutable"]) {
        errors.push(FieldError::forbidden(Path::field("immutable"), FROZEN));
    }
    for field in data {
        let same = if *field == defaulted {
            fields::object_at(object, &[field]) == fields::object_at(old, &[field])
        } else {
            fields::get(object, &[field]) == fields::get(old, &[field])
        };
        if !same {
            errors.push(FieldError::forbidden(Path::field(field), FROZEN));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;
    use crate::strategy::Strategy as _;

    #[test]
    fn the_length_is_known_without_decoding() {
        for length in 0..20 {
            assert_eq!(decoded_len(&STANDARD.encode(vec![7; length])), length);
        }
    }

    #[test]
    fn a_mebibyte_is_allowed() {
        let object = |value: serde_json::Value| value.as_object().unwrap().clone();
        for (more, faults) in [(0, 0), (1, 1)] {
            let bytes = STANDARD.encode(vec![7; SIZE_MAX + more - 3]);
            let map = object(json!({"data": {"a": "xyz"}, "binaryData": {"b": bytes}}));
            let errors = crate::kinds::config_map::ConfigMap.validate(&map);
            assert_eq!(errors.len(), faults);
            assert!(errors.iter().all(|error| error.to_string() == "[]: Too long: may not be more than 1048576 bytes"));
            let secret = object(json!({"data": {"a": "eHh4", "b": bytes}}));
            assert_eq!(crate::kinds::secret::Secret.validate(&secret).len(), faults);
        }
    }
}

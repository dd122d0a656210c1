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

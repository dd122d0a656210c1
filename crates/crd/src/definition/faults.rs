//! What was found, within bounds: the answer to a large definition full of faults must not grow with its square.

use rolewright_core::validate::{BadValue, ErrorKind, FieldError, Path};

/// The most text, in bytes, that is told. Kubernetes has no such limit.
const TEXT_MAX: usize = 4 << 20;

/// Faults in the order in which they were found.
#[derive(Debug)]
pub(super) struct Faults {
    told: Vec<FieldError>,
    room: usize,
    found: usize,
}

impl Faults {
    pub(super) fn new() -> Self {
        Self { told: Vec::new(), room: TEXT_MAX, found: 0 }
    }

    pub(super) fn push(&mut self, error: FieldError) {
        self.found += 1;
        let shown = error.value.as_ref().map_or(0, |value| match value {
            BadValue::Text(text) => text.len(),
            BadValue::Json(json) => json.len(),
        });
        let size = error.field.len() + error.detail.len() + shown;
        if self.told.is_empty() || self.room > 0 {
            self.room = self.room.saturating_sub(size);
            self.told.push(error);
        }
    }

    pub(super) fn extend(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        for error in errors {
            if self.is_full() {
                return;
            }
            self.push(error);
        }
    }

    /// Whether there is no room for more, so that looking further is in vain.
    pub(super) fn is_full(&self) -> bool {
        self.room == 0
    }

    /// How many were found, told or not.
    pub(super) fn count(&self) -> usize {
        self.found
    }

    pub(super) fn required(&mut self, at: Path<'_>, detail: impl Into<String>) {
        self.push(FieldError::required(at, detail));
    }

    pub(super) fn invalid(&mut self, at: Path<'_>, value: impl Into<BadValue>, detail: impl Into<String>) {
        self.push(FieldError::invalid(at, value, detail));
    }

    pub(super) fn forbidden(&mut self, at: Path<'_>, detail: impl Into<String>) {
        self.push(FieldError::forbidden(at, detail));
    }

    pub(super) fn not_supported(&mut self, at: Path<'_>, value: impl Into<BadValue>, known: &[&str]) {
        self.push(FieldError::not_supported(at, value, known));
    }

    pub(super) fn too_many(&mut self, at: Path<'_>, count: usize, most: usize) {
        self.push(FieldError {
            kind: ErrorKind::TooMany,
            field: at.to_string(),
            value: Some(BadValue::Json(count.to_string())),
            detail: format!("must have at most {most} items"),
        });
    }

    /// The same faults in the order of their texts.
    pub(super) fn sorted(self) -> Vec<FieldError> {
        let mut told = self.told;
        told.sort_by_cached_key(FieldError::to_string);
        told
    }

    pub(super) fn into_vec(self) -> Vec<FieldError> {
        self.told
    }
}

//! Defaults in a schema are values that the schema itself accepts.

use rolewright_core::validate::{FieldError, Path};

use super::props::Props;

/// What is wrong with the defaults of a structural schema.
pub(super) fn faults(_schema: Props<'_>, _pruned: bool, _at: Path<'_>) -> Vec<FieldError> {
    Vec::new()
}

/// Whether a default has fields that its schema does not know.
pub(super) fn has_unpruned(_schema: Props<'_>) -> bool {
    false
}

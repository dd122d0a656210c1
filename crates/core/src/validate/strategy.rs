//! The checks of the kinds' own strategies, without those that the API server adds around every update.
//!
//! On a create the two are the same: the server's own look at the metadata comes after the strategy's, and finds
//! nothing that the strategy has not refused already. On an update the server's look comes first and its errors are
//! not merged with the strategy's, so clients see metadata errors several times.

use super::bindings::{binding_body, role_ref_update};
use super::error::FieldError;
use super::metadata::{metadata, metadata_update};
use super::path::Path;
use super::roles::{role_body, tolerance};
use super::selectors::IllegalValues;
use crate::{Binding, Role};

/// Faults of a new role.
pub fn role(role: &Role) -> Vec<FieldError> {
    any_role(role, IllegalValues::Refuse)
}

/// Faults of a role that is to replace `old`.
pub fn role_update(role: &Role, old: &Role) -> Vec<FieldError> {
    let mut errors = any_role(role, tolerance(old));
    errors.extend(metadata_update(role.into(), old.into()));
    errors
}

/// Faults of a new binding.
pub fn binding(binding: &Binding) -> Vec<FieldError> {
    let mut errors = metadata(binding.into(), (&binding.key).into());
    errors.extend(binding_body(binding));
    errors
}

/// Faults of a binding that is to replace `old`.
pub fn binding_update(new: &Binding, old: &Binding) -> Vec<FieldError> {
    let mut errors = binding(new);
    errors.extend(metadata_update(new.into(), old.into()));
    errors.extend(role_ref_update(&new.role_ref, &old.role_ref, Path::field("roleRef")));
    errors
}

fn any_role(role: &Role, values: IllegalValues) -> Vec<FieldError> {
    let mut errors = metadata(role.into(), (&role.key).into());
    errors.extend(role_body(role, values));
    errors
}

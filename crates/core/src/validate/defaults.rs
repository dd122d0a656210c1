//! What Kubernetes fills in before it validates: the API groups that a binding leaves out.

use crate::{Binding, Name, RBAC_GROUP, RoleRef, Subject};

/// The binding as Kubernetes stores it: with the API groups that it leaves out.
///
/// Readers of manifests and wires call this once, right after decoding. Comparing bindings that went through it and
/// bindings that did not would show changes that are none.
pub fn defaulted(mut binding: Binding) -> Binding {
    default_role_ref(&mut binding.role_ref);
    binding.subjects.iter_mut().for_each(default_subject);
    binding
}

/// Puts the RBAC group where a role reference names none, whatever its kind.
pub fn default_role_ref(role_ref: &mut RoleRef) {
    if role_ref.api_group.is_empty() {
        role_ref.api_group = Name::new_static(RBAC_GROUP);
    }
}

/// Puts the RBAC group where a user or group names none. Service accounts belong to the core group, which is `""`;
/// of unknown kinds nothing is known.
pub fn default_subject(subject: &mut Subject) {
    if subject.api_group.is_empty() && matches!(subject.kind.as_str(), "User" | "Group") {
        subject.api_group = Name::new_static(RBAC_GROUP);
    }
}

//! Bindings: the role they point at and the subjects they name.

use super::error::{BadValue, FieldError};
use super::metadata::{Scope, invalid};
use super::names;
use super::path::Path;
use crate::{Binding, RBAC_GROUP, RoleRef, Subject};

/// Faults of all that a binding holds besides metadata. It must have been [`defaulted`](super::defaulted) before.
pub fn binding_body(binding: &Binding) -> Vec<FieldError> {
    let scope = Scope::from(&binding.key);
    let mut errors = role_ref(&binding.role_ref, scope, Path::field("roleRef"));
    let at = Path::field("subjects");
    for (i, item) in binding.subjects.iter().enumerate() {
        errors.extend(subject(item, scope, at.index(i)));
    }
    errors
}

/// Faults of a role reference in a binding of that scope. Whether the role exists does not matter.
pub fn role_ref(role_ref: &RoleRef, scope: Scope, at: Path<'_>) -> Vec<FieldError> {
    let kinds: &[&str] = match scope {
        Scope::Cluster => &["ClusterRole"],
        Scope::Namespaced => &["Role", "ClusterRole"],
    };
    let mut errors = Vec::new();
    if role_ref.api_group != RBAC_GROUP {
        errors.push(FieldError::not_supported(at.child("apiGroup"), role_ref.api_group.as_str(), &[RBAC_GROUP]));
    }
    if !kinds.contains(&role_ref.kind.as_str()) {
        errors.push(FieldError::not_supported(at.child("kind"), role_ref.kind.as_str(), kinds));
    }
    if role_ref.name.is_empty() {
        errors.push(FieldError::required(at.child("name"), ""));
    } else {
        errors.extend(invalid(at.child("name"), &role_ref.name, names::path_segment(&role_ref.name)));
    }
    errors
}

/// Faults of a role reference as a change of `old`: a binding never changes what it grants.
pub fn role_ref_update(role_ref: &RoleRef, old: &RoleRef, at: Path<'_>) -> Vec<FieldError> {
    if role_ref == old {
        return Vec::new();
    }
    let found =
        BadValue::fields([("APIGroup", &role_ref.api_group), ("Kind", &role_ref.kind), ("Name", &role_ref.name)]);
    vec![FieldError::invalid(at, found, "cannot change roleRef")]
}

/// Faults of a subject in a binding of that scope. Names of users and groups are free, and their namespace is ignored.
pub fn subject(subject: &Subject, scope: Scope, at: Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if subject.name.is_empty() {
        errors.push(FieldError::required(at.child("name"), ""));
    }
    let group = subject.api_group.as_str();
    match subject.kind.as_str() {
        "ServiceAccount" => {
            if !subject.name.is_empty() {
                errors.extend(invalid(at.child("name"), &subject.name, names::dns_subdomain(&subject.name)));
            }
            if !group.is_empty() {
                errors.push(FieldError::not_supported(at.child("apiGroup"), group, &[""]));
            }
            if scope == Scope::Cluster && subject.namespace.is_empty() {
                errors.push(FieldError::required(at.child("namespace"), ""));
            }
        }
        "User" | "Group" => {
            if group != RBAC_GROUP {
                errors.push(FieldError::not_supported(at.child("apiGroup"), group, &[RBAC_GROUP]));
            }
        }
        kind => {
            errors.push(FieldError::not_supported(at.child("kind"), kind, &["ServiceAccount", "User", "Group"]));
        }
    }
    errors
}

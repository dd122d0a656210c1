//! Which roles and bindings Kubernetes accepts, and what it says of the others.
//!
//! The answers are those of kube-apiserver v1.36.3: the same errors, in the same order, in the same words. That version
//! also runs declarative validation for three of the four kinds, but only to compare: the hand-written checks answer.
//! Where Kubernetes walks over a map its order is random; here it is the order of keys.
//!
//! ```
//! use rolewright_core::{Role, Rule, validate};
//!
//! let role = Role::namespaced("dev", "reader", [Rule::resources([""], ["pods"], [])]);
//! let errors = validate::role(&role);
//! assert_eq!(validate::summary(&errors), "rules[0].verbs: Required value: verbs must contain at least one value");
//! ```
//!
//! A caller that knows more metadata than core does checks that itself, and adds [`role_body`] or [`binding_body`].

mod bindings;
mod defaults;
mod error;
mod metadata;
pub mod names;
mod path;
mod roles;
mod selectors;
pub mod strategy;

pub use bindings::{binding_body, role_ref, role_ref_update, subject};
pub use defaults::{default_role_ref, default_subject, defaulted};
pub use error::{BadValue, ErrorKind, FieldError, summary};
pub use metadata::{Metadata, Scope, invalid, label, labels, metadata, metadata_update};
pub use path::Path;
pub use roles::{role_body, rule, tolerance};
pub use selectors::{IllegalValues, label_selector};
pub use strategy::{binding, role};

use crate::{Binding, Role};

/// What the API server answers to a role that is to replace `old`.
///
/// Errors in metadata come several times, because several of its layers look for them; [`summary`] names each once.
pub fn role_update(role: &Role, old: &Role) -> Vec<FieldError> {
    let mut errors = common_update(role.into(), old.into(), (&role.key).into());
    errors.extend(strategy::role_update(role, old));
    errors
}

/// What the API server answers to a binding that is to replace `old`. Both must have been [`defaulted`] before.
///
/// Errors in metadata come several times, because several of its layers look for them; [`summary`] names each once.
pub fn binding_update(binding: &Binding, old: &Binding) -> Vec<FieldError> {
    let mut errors = common_update(binding.into(), old.into(), (&binding.key).into());
    errors.extend(strategy::binding_update(binding, old));
    errors
}

/// What the server checks on every update before it asks the kind's strategy.
fn common_update(meta: Metadata<'_>, old: Metadata<'_>, scope: Scope) -> Vec<FieldError> {
    let mut errors = metadata(meta, scope);
    errors.extend(metadata_update(meta, old));
    errors
}

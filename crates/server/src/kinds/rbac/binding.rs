//! RoleBindings and ClusterRoleBindings.

use rolewright_core::validate::{self, FieldError, Path, names};
use rolewright_core::{BindingKey, RBAC_GROUP, RoleRef, Subject};
use serde::Deserialize as _;
use serde_json::Value;

use super::list;
use crate::strategy::{Candidate, Object, Strategy, fields};

/// The rules of RoleBindings and ClusterRoleBindings.
pub struct Binding {
    /// Whether these are RoleBindings.
    pub namespaced: bool,
}

impl Binding {
    fn read(&self, object: &Object) -> rolewright_core::Binding {
        let name = fields::text(object, &["metadata", "name"]);
        let key = if self.namespaced {
            BindingKey::namespaced(fields::text(object, &["metadata", "namespace"]), name)
        } else {
            BindingKey::cluster(name)
        };
        let subjects = list(object.get("subjects"), Subject::deserialize);
        rolewright_core::Binding { key, role_ref: role_ref(object), subjects }
    }
}

impl Strategy for Binding {
    fn default(&self, object: &mut Object) {
        if fields::text(object, &["roleRef", "apiGroup"]).is_empty() {
            fields::set(object, &["roleRef", "apiGroup"], RBAC_GROUP);
        }
        let subjects = object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten();
        for subject in subjects.filter_map(Value::as_object_mut) {
            let person = matches!(fields::text(subject, &["kind"]), "User" | "Group");
            if person && fields::text(subject, &["apiGroup"]).is_empty() {
                fields::set(subject, &["apiGroup"], RBAC_GROUP);
            }
        }
    }

    fn validate(&self, object: &Object) -> Vec<FieldError> {
        validate::binding_body(&self.read(object))
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        validate::role_ref_update(&role_ref(object), &role_ref(old), Path::field("roleRef"))
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        let change = self.validate_update(new.object, old);
        [new.metadata(), self.validate(new.object), new.metadata_change(old), change].concat()
    }

    fn name(&self, name: &str, _prefix: bool) -> Vec<String> {
        names::path_segment(name)
    }
}

/// A RoleBinding or ClusterRoleBinding as a value: a RoleBinding if it is in a namespace.
pub fn to_binding(object: &Object) -> rolewright_core::Binding {
    let namespaced = !fields::text(object, &["metadata", "namespace"]).is_empty();
    Binding { namespaced }.read(object)
}

fn role_ref(object: &Object) -> RoleRef {
    object.get("roleRef").and_then(|value| RoleRef::deserialize(value).ok()).unwrap_or_default()
}

//! Roles and ClusterRoles.

use rolewright_core::selector::LabelSelector;
use rolewright_core::validate::{self, FieldError, IllegalValues, names};
use rolewright_core::{Labels, RoleKey, Rule};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::list;
use crate::strategy::{Candidate, Object, Strategy, fields};

/// The rules of Roles and ClusterRoles.
pub struct Role {
    /// Whether these are Roles.
    pub namespaced: bool,
}

impl Role {
    fn read(&self, object: &Object) -> rolewright_core::Role {
        let name = fields::text(object, &["metadata", "name"]);
        let key = if self.namespaced {
            RoleKey::namespaced(fields::text(object, &["metadata", "namespace"]), name)
        } else {
            RoleKey::cluster(name)
        };
        read(key, object)
    }
}

impl Strategy for Role {
    fn validate(&self, object: &Object) -> Vec<FieldError> {
        validate::role_body(&self.read(object), IllegalValues::Refuse)
    }

    fn validate_update(&self, object: &Object, old: &Object) -> Vec<FieldError> {
        validate::role_body(&self.read(object), validate::tolerance(&self.read(old)))
    }

    fn check_update(&self, new: &Candidate<'_>, old: &Object) -> Vec<FieldError> {
        [new.metadata(), self.validate_update(new.object, old), new.metadata_change(old)].concat()
    }

    fn name(&self, name: &str, _prefix: bool) -> Vec<String> {
        names::path_segment(name)
    }
}

/// A Role or ClusterRole as a value: a Role if it is in a namespace.
pub fn to_role(object: &Object) -> rolewright_core::Role {
    let namespaced = !fields::text(object, &["metadata", "namespace"]).is_empty();
    Role { namespaced }.read(object)
}

fn read(key: RoleKey, object: &Object) -> rolewright_core::Role {
    let labels: Labels =
        fields::entries(object, &["metadata", "labels"]).map(|(key, value)| (key.into(), value.into())).collect();
    let aggregation = fields::get(object, &["aggregationRule"]).filter(|_| matches!(key, RoleKey::Cluster(_)));
    let aggregation = aggregation.map(|rule| list(rule.get("clusterRoleSelectors"), LabelSelector::deserialize));
    rolewright_core::Role { key, labels, rules: list(object.get("rules"), Rule::deserialize), aggregation }
}

/// Rules as an object holds them, without empty lists. Verbs are always there.
pub fn rules_to_json(rules: &[Rule]) -> Value {
    rules.iter().map(|rule| json!(rule)).collect()
}

//! RBAC's own kinds as planners see them.

use std::sync::Arc;

use rolewright_core::selector::LabelSelector;
use rolewright_core::{Binding, BindingKey, Role, RoleKey, RoleRef, Rule, Subject};
use serde::Deserialize;

use crate::kind::{Body, Kind};
use crate::object::{Live, Meta};
use crate::snapshot::Shelf;

const GROUP: &str = rolewright_core::RBAC_GROUP;
const VERSIONS: &[&str] = &["v1"];

/// Roles of the whole cluster.
pub static CLUSTER_ROLE: Kind =
    Kind::cluster::<RoleBody>(GROUP, VERSIONS, "ClusterRole", "clusterroles").sharing(RoleBody::share);
/// Roles of a namespace.
pub static ROLE: Kind = Kind::namespaced::<RoleBody>(GROUP, VERSIONS, "Role", "roles").sharing(RoleBody::share);
/// Bindings of the whole cluster.
pub static CLUSTER_ROLE_BINDING: Kind =
    Kind::cluster::<BindingBody>(GROUP, VERSIONS, "ClusterRoleBinding", "clusterrolebindings");
/// Bindings in a namespace.
pub static ROLE_BINDING: Kind = Kind::namespaced::<BindingBody>(GROUP, VERSIONS, "RoleBinding", "rolebindings");

/// What a role grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenRole")]
pub struct RoleBody {
    /// Its rules as stored.
    pub rules: Vec<Rule>,
    /// The selectors of an aggregated role.
    pub aggregation: Option<Vec<LabelSelector>>,
}

impl RoleBody {
    fn share(body: &mut Body, shelf: &mut Shelf) {
        // What somebody else holds already is shared as a whole.
        let Some(Self { rules, .. }) = Arc::get_mut(body).and_then(|body| body.downcast_mut()) else { return };
        for rule in rules {
            let Rule { api_groups, resources, resource_names, non_resource_urls, verbs } = rule;
            for list in [api_groups, resources, resource_names, non_resource_urls, verbs] {
                shelf.list(list);
            }
        }
    }
}

/// Whom a binding gives what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenBinding")]
pub struct BindingBody {
    /// The role.
    pub role_ref: RoleRef,
    /// Who gets it.
    pub subjects: Vec<Subject>,
}

impl Live {
    /// The object as a role, if it is one and can be understood.
    pub fn role(&self) -> Option<Role> {
        let RoleBody { rules, aggregation } = self.body::<RoleBody>()?.clone();
        let Meta { namespace, name, labels, .. } = &self.meta;
        let key = if namespace.is_empty() {
            RoleKey::cluster(name.clone())
        } else {
            RoleKey::namespaced(namespace.clone(), name.clone())
        };
        Some(Role { key, labels: labels.clone(), rules, aggregation })
    }

    /// The object as a binding, if it is one and can be understood.
    pub fn binding(&self) -> Option<Binding> {
        let BindingBody { role_ref, subjects } = self.body::<BindingBody>()?.clone();
        let Meta { namespace, name, .. } = &self.meta;
        let key = if namespace.is_empty() {
            BindingKey::cluster(name.clone())
        } else {
            BindingKey::namespaced(namespace.clone(), name.clone())
        };
        Some(Binding { key, role_ref, subjects })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenRole {
    rules: Option<Vec<Rule>>,
    aggregation_rule: Option<AggregationRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AggregationRule {
    cluster_role_selectors: Option<Vec<LabelSelector>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenBinding {
    role_ref: RoleRef,
    subjects: Option<Vec<Subject>>,
}

impl From<WrittenRole> for RoleBody {
    fn from(written: WrittenRole) -> Self {
        let mut rules = written.rules.unwrap_or_default();
        rules.shrink_to_fit();
        Self { rules, aggregation: written.aggregation_rule.map(Into::into) }
    }
}

impl From<AggregationRule> for Vec<LabelSelector> {
    fn from(written: AggregationRule) -> Self {
        written.cluster_role_selectors.unwrap_or_default()
    }
}

impl From<WrittenBinding> for BindingBody {
    fn from(written: WrittenBinding) -> Self {
        Self { role_ref: written.role_ref, subjects: written.subjects.unwrap_or_default() }
    }
}

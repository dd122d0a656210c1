//! The roles and bindings that every Kubernetes API server creates, as `testbed facts` writes them.
//!
//! Reading is strict. What all objects share is stated once by hand in `crates/core/src/bootstrap.rs`; should a later
//! Kubernetes break that, or use a field that the tables cannot hold, this fails instead of dropping it.

mod document;
#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

use self::document::{Document, Metadata};
pub(super) use self::document::{Rule, Subject};

pub(super) type Labels = BTreeMap<String, String>;

const COMMON_LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");
const COMMON_ANNOTATION: (&str, &str) = ("rbac.authorization.kubernetes.io/autoupdate", "true");
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Everything, by namespace and name, cluster scope first. The label that all objects carry is taken off.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bootstrap {
    pub(super) version: String,
    pub(super) roles: Vec<Role>,
    pub(super) bindings: Vec<Binding>,
}

/// Which object, and its labels; the namespace is empty at cluster scope.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) labels: Labels,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) object: Object,
    /// The labels that each selector asks for; empty for a role that is not aggregated.
    pub(super) aggregate: Vec<Labels>,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) object: Object,
    /// Kind and name.
    pub(super) role: (String, String),
    pub(super) subjects: Vec<Subject>,
}

/// Reads and checks the text of `facts/bootstrap.json`.
pub(super) fn parse(text: &str) -> Result<Bootstrap> {
    let document: Document = serde_json::from_str(text)?;
    let roles = document.cluster_roles.into_iter().chain(document.roles);
    let mut roles = roles.map(role).collect::<Result<Vec<_>>>()?;
    let bindings = document.cluster_role_bindings.into_iter().chain(document.role_bindings);
    let mut bindings = bindings.map(binding).collect::<Result<Vec<_>>>()?;
    roles.sort_by(|a, b| a.object.key().cmp(&b.object.key()));
    bindings.sort_by(|a, b| a.object.key().cmp(&b.object.key()));
    Ok(Bootstrap { version: document.version, roles, bindings })
}

impl Object {
    fn key(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }
}

fn role(role: document::Role) -> Result<Role> {
    let object = object(role.metadata)?;
    let selectors = role.aggregation_rule.map(|rule| rule.cluster_role_selectors);
    ensure!(
        selectors.as_ref().is_none_or(|selectors| !selectors.is_empty()),
        "`{}` has an aggregation rule without selectors, which the tables cannot tell from none",
        object.name
    );
    let selectors = selectors.unwrap_or_default();
    ensure!(
        selectors.iter().all(|selector| selector.match_expressions.is_empty()),
        "`{}` aggregates by matchExpressions, which the tables cannot hold; hint: extend `RoleData`",
        object.name
    );
    let aggregate = selectors.into_iter().map(|selector| selector.match_labels).collect();
    Ok(Role { object, aggregate, rules: role.rules })
}

fn binding(binding: document::Binding) -> Result<Binding> {
    let object = object(binding.metadata)?;
    ensure!(object.labels.is_empty(), "the binding `{}` has labels, which the tables cannot hold", object.name);
    let role = binding.role_ref;
    ensure!(role.api_group == RBAC_GROUP, "`{}` refers to a role of the group `{}`", object.name, role.api_group);
    for subject in &binding.subjects {
        let expected = if subject.kind == "ServiceAccount" { "" } else { RBAC_GROUP };
        ensure!(
            subject.api_group == expected,
            "`{}` has a subject `{}` of the group `{}`",
            object.name,
            subject.name,
            subject.api_group
        );
    }
    Ok(Binding { object, role: (role.kind, role.name), subjects: binding.subjects })
}

fn object(metadata: Metadata) -> Result<Object> {
    let Metadata { namespace, name, mut labels, annotations, .. } = metadata;
    let (key, value) = COMMON_LABEL;
    if labels.remove(key).as_deref() != Some(value) {
        bail!("`{name}` lacks the label `{key}: {value}`, which `crates/core/src/bootstrap.rs` gives to all");
    }
    let (key, value) = COMMON_ANNOTATION;
    let expected = Labels::from([(key.to_owned(), value.to_owned())]);
    (annotations == expected).then_some(Object { namespace, name: name.clone(), labels }).with_context(|| {
        format!("`{name}` has the annotations {annotations:?}; all others have `{key}: {value}` alone")
    })
}

//! Writes of objects, prepared and judged here and by the strategies of Kubernetes' own registries.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod bodies;
mod compare;
mod events;
mod forms;
mod hostile;
mod metadata;
mod secrets;
mod selecting;
mod values;

use compare::{Kind, compare};

#[test]
fn namespaces() {
    let parts = &["", "", "status", "finalize"];
    compare(&Kind { parts, ..Kind::new("", "namespaces") }, bodies::namespace);
}

#[test]
fn service_accounts() {
    compare(&Kind::new("", "serviceaccounts"), bodies::service_account);
}

#[test]
fn secrets() {
    compare(&Kind::new("", "secrets"), secrets::secret);
}

#[test]
fn config_maps() {
    compare(&Kind::new("", "configmaps"), secrets::config_map);
}

#[test]
fn leases() {
    compare(&Kind::new("coordination.k8s.io", "leases"), bodies::lease);
}

#[test]
fn core_events() {
    compare(&Kind::new("", "events"), events::core);
}

#[test]
fn new_events() {
    compare(&Kind::new("events.k8s.io", "events"), events::new);
}

#[test]
fn roles() {
    compare(&Kind::new("rbac.authorization.k8s.io", "roles"), bodies::role);
}

#[test]
fn cluster_roles() {
    compare(&Kind::new("rbac.authorization.k8s.io", "clusterroles"), bodies::cluster_role);
}

#[test]
fn role_bindings() {
    compare(&Kind::new("rbac.authorization.k8s.io", "rolebindings"), bodies::binding);
}

#[test]
fn cluster_role_bindings() {
    compare(&Kind::new("rbac.authorization.k8s.io", "clusterrolebindings"), bodies::binding);
}

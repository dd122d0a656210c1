//! The kinds that have particularities. Each file is a kind or a family of them; all others are plain storage.

mod admission;
mod apiservice;
mod autoscaling;
mod batch;
mod check;
mod config_map;
mod data;
mod defaults;
mod definition;
pub mod event;
mod go_json;
mod internal;
mod lease;
mod namespace;
mod networking;
#[cfg(test)]
mod oracle;
mod pod;
mod policy;
mod quantity;
mod quota;
pub mod rbac;
mod read;
mod rules;
mod secret;
mod semantic;
pub mod service;
mod service_account;
mod storage;
mod stored;
pub mod versions;
mod volumes;
mod warn;
mod workload;

pub(crate) use self::check::read_selector;
use crate::catalog::Conversion;
use crate::strategy::Strategy;

struct Plain;

impl Strategy for Plain {}

/// The rules of a resource.
pub fn strategy(group: &str, resource: &str) -> &'static dyn Strategy {
    match (group, resource) {
        ("", "configmaps") => &config_map::ConfigMap,
        ("", "events") => &event::Event { strict: false },
        ("", "namespaces") => &namespace::Namespace,
        ("", "secrets") => &secret::Secret,
        ("", "serviceaccounts") => &service_account::ServiceAccount,
        ("apiextensions.k8s.io", "customresourcedefinitions") => &definition::Definition,
        ("coordination.k8s.io", "leases") => &lease::Lease,
        ("events.k8s.io", "events") => &event::Event { strict: true },
        ("rbac.authorization.k8s.io", "clusterrolebindings") => &rbac::Binding { namespaced: false },
        ("rbac.authorization.k8s.io", "clusterroles") => &rbac::Role { namespaced: false },
        ("rbac.authorization.k8s.io", "rolebindings") => &rbac::Binding { namespaced: true },
        ("rbac.authorization.k8s.io", "roles") => &rbac::Role { namespaced: true },
        (group, resource) => stored::strategy(group, resource).unwrap_or(&Plain),
    }
}

/// How a resource differs from the stored form of its objects.
pub(crate) fn conversion(group: &str, version: &str, resource: &str) -> Option<Conversion> {
    match (group, version, resource) {
        ("events.k8s.io", "v1", "events") => {
            Some(Conversion { from_stored: event::to_events_v1, to_stored: event::to_core })
        }
        ("autoscaling", "v1", "horizontalpodautoscalers") => {
            Some(Conversion { from_stored: autoscaling::to_v1, to_stored: autoscaling::to_v2 })
        }
        _ => None,
    }
}

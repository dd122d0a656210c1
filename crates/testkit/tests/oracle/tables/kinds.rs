//! Random objects of every kind that has a table.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::shape::{self, Any, Fields, flag, labels, name, one_of, time};
use super::{cluster, network, pods, scaling, workloads};

/// A kind with the objects of that kind.
pub(super) type Kind = (&'static str, &'static str, &'static str, BoxedStrategy<Map<String, Value>>);

pub(super) fn all() -> Vec<Kind> {
    [cluster::kinds(), network::kinds(), pods::kinds(), scaling::kinds(), workloads::kinds()]
        .into_iter()
        .flatten()
        .collect()
}

/// A kind whose objects have these fields beside their metadata.
pub(super) fn kind(group: &'static str, version: &'static str, kind: &'static str, mut fields: Fields) -> Kind {
    fields.push(("metadata", metadata()));
    (group, version, kind, shape::object(fields, 0.9))
}

fn metadata() -> Any {
    let alive = vec![
        ("name", name()),
        ("namespace", name()),
        ("creationTimestamp", time()),
        ("labels", prop_oneof![labels(), roles()].boxed()),
        ("annotations", annotations()),
        ("ownerReferences", shape::list(owner())),
    ];
    let mut deleted = alive.clone();
    deleted.push(("deletionTimestamp", time()));
    prop_oneof![4 => shape::with(alive), 1 => shape::with(deleted)].boxed()
}

fn roles() -> Any {
    shape::map(
        &[
            "kubernetes.io/role",
            "node-role.kubernetes.io/",
            "node-role.kubernetes.io/worker",
            "node-role.kubernetes.io/a",
        ],
        &one_of(&["", "worker", "control-plane"]),
    )
}

fn annotations() -> Any {
    shape::map(
        &[
            "ingressclass.kubernetes.io/is-default-class",
            "storageclass.kubernetes.io/is-default-class",
            "storageclass.beta.kubernetes.io/is-default-class",
            "volume.beta.kubernetes.io/storage-class",
        ],
        &one_of(&["true", "false", "", "fast"]),
    )
}

fn owner() -> Any {
    shape::with(vec![
        ("apiVersion", one_of(&["v1", "apps/v1", "Acme.io/v1", ""])),
        ("kind", one_of(&["DaemonSet", "StatefulSet", "\u{130}Σ", ""])),
        ("name", name()),
        ("controller", flag()),
    ])
}

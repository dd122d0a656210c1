//! How the manager goes: what it wrote is kept or taken back, and nothing else of it stays.

use crate::kind::{Kind, LEASE, Reports};
use crate::object::{Live, Meta, ObjectRef};
use crate::op::{Op, Phase, Plan, Write};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use crate::snapshot::Snapshot;
use crate::vocabulary::{label, manager};
use crate::{Name, crossplane};

/// What becomes of the access that the manager gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It stays as it is, with its label: whoever comes next finds it.
    Keep,
    /// It goes.
    Revoke,
}

/// The kinds in which something of ours may be, besides those that we report on.
pub const KINDS: [&Kind; 6] =
    [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &CLUSTER_ROLE, &ROLE, &crossplane::SERVICE_ACCOUNT, &LEASE];

/// The writes by which everything of ours goes: first access, if it is to be revoked, then what we said about others'
/// objects, and at last what the manager itself needed.
pub fn uninstall(snapshot: &Snapshot, access: Access) -> Plan {
    let mut ops = Vec::new();
    let kinds: Vec<&'static Kind> = snapshot.sizes().map(|(kind, _)| kind).collect();
    for kind in kinds {
        for live in snapshot.all(kind) {
            let object = ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
            ops.extend(op(object, live, access));
        }
    }
    ops.sort_by(|a, b| (a.phase, &a.object).cmp(&(b.phase, &b.object)));
    Plan { ops, ..Plan::default() }
}

fn op(object: ObjectRef, live: &Live, access: Access) -> Option<Op> {
    let uid = live.meta.uid.clone();
    let delete = |phase, because: &str| (phase, Write::Delete { uid: uid.clone() }, because.to_owned());
    let (phase, write, because) = match () {
        () if is_managers(&live.meta) => delete(Phase::Clear, "the manager itself needed it"),
        () if is_ours(&live.meta) && access == Access::Keep => return None,
        () if is_ours(&live.meta) && (*object.kind == CLUSTER_ROLE_BINDING || *object.kind == ROLE_BINDING) => {
            delete(Phase::Unbind, "the manager made it")
        }
        () if is_ours(&live.meta) => delete(Phase::Drop, "the manager made it"),
        () if has_condition(&object, live) => {
            let write = Write::Report { uid: uid.clone(), conditions: Vec::new() };
            (Phase::Clear, write, "nobody looks after it any more".to_owned())
        }
        () => return None,
    };
    Some(Op { phase, object, write, because, repairs: false })
}

/// Whether the manager made an object and keeps it.
fn is_ours(meta: &Meta) -> bool {
    meta.ours.is_some() && meta.labels.get(label::MANAGED_BY).is_some_and(|value| value == manager::ROLEWRIGHT)
}

/// Whether the manager itself needs an object to run.
fn is_managers(meta: &Meta) -> bool {
    label::MANAGER.iter().all(|(key, value)| meta.labels.get(*key).is_some_and(|there| there == value))
}

fn has_condition(object: &ObjectRef, live: &Live) -> bool {
    let (Reports::Always(name) | Reports::Trouble(name)) = object.kind.reports else { return false };
    live.conditions.iter().any(|condition| condition.name == Name::new(name))
}

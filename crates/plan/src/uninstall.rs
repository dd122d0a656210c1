//! How the manager goes: what it wrote is kept or taken back, and nothing else of it stays.

use crate::Name;
use crate::crossplane;
use crate::kind::{Kind, LEASE, Reports};
use crate::object::{Live, Meta, ObjectRef};
use crate::op::{Op, Phase, Plan, Report, Write};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use crate::snapshot::Snapshot;
use crate::sync;
use crate::vocabulary::{label, manager};
use crate::workload::SERVICE_ACCOUNT;

/// What becomes of the access that the manager gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It stays as it is, with its label: whoever comes next finds it.
    Keep,
    /// It goes.
    Revoke,
}

/// The kinds in which something of ours may be, besides those that we report on.
pub const KINDS: [&Kind; 6] = [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &CLUSTER_ROLE, &ROLE, &SERVICE_ACCOUNT, &LEASE];

/// The writes by which everything of ours goes: first access, if it is to be revoked, then what we said about others'
/// objects, and at last what the manager itself needed.
pub fn uninstall(snapshot: &Snapshot, access: Access) -> Plan {
    let mut ops = Vec::new();
    let kinds: Vec<&'static Kind> = snapshot.sizes().map(|(kind, _)| kind).collect();
    for kind in kinds {
        for live in snapshot.all(kind) {
            let object = ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
            ops.extend(self::ops(&object, live, access));
        }
    }
    ops.sort_by(|a, b| (a.phase, &a.object).cmp(&(b.phase, &b.object)));
    Plan { ops, ..Plan::default() }
}

/// The writes to one object.
fn ops(object: &ObjectRef, live: &Live, access: Access) -> impl Iterator<Item = Op> {
    let released = live.meta.finalizers.iter().any(|finalizer| *finalizer == sync::FINALIZER).then(|| Op {
        phase: Phase::Release,
        object: object.clone(),
        write: Write::Release { uid: live.meta.uid.clone(), finalizer: Name::new(sync::FINALIZER) },
        because: "nobody would let it go".to_owned(),
        repairs: false,
    });
    op(object.clone(), live, access).into_iter().chain(released)
}

fn op(object: ObjectRef, live: &Live, access: Access) -> Option<Op> {
    let uid = live.meta.uid.clone();
    let delete = |phase, because: &str| (phase, Write::Delete { uid: uid.clone() }, because.to_owned());
    let (phase, write, because) = match () {
        () if is_managers(&live.meta) => delete(Phase::Clear, "the manager itself needed it"),
        () if is_ours(&object, &live.meta) && access == Access::Keep => return None,
        () if is_ours(&object, &live.meta)
            && (*object.kind == CLUSTER_ROLE_BINDING || *object.kind == ROLE_BINDING) =>
        {
            delete(Phase::Unbind, "the manager made it")
        }
        () if is_ours(&object, &live.meta) => delete(Phase::Drop, "the manager made it"),
        () if has_condition(&object, live) => {
            let write = Write::Report { uid: uid.clone(), report: Report::default() };
            (Phase::Clear, write, "nobody looks after it any more".to_owned())
        }
        () => return None,
    };
    Some(Op { phase, object, write, because, repairs: false })
}

/// Whether the manager made an object and keeps it: it applied it, and nobody says that it is theirs. What Kubernetes'
/// aggregation controller made anew while it went is known by its name alone.
fn is_ours(object: &ObjectRef, meta: &Meta) -> bool {
    let is_revived = || meta.revived && crossplane::is_name_of_ours(&object.name);
    KINDS.contains(&object.kind)
        && (meta.ours.is_some() || is_revived())
        && meta.labels.get(label::MANAGED_BY).is_none_or(|value| value == manager::ROLEWRIGHT)
}

/// Whether the manager itself needs an object to run.
fn is_managers(meta: &Meta) -> bool {
    label::MANAGER.iter().all(|(key, value)| meta.labels.get(key).is_some_and(|there| there == value))
}

fn has_condition(object: &ObjectRef, live: &Live) -> bool {
    let (Reports::Always(name) | Reports::Trouble(name)) = object.kind.reports else { return false };
    live.conditions.iter().any(|condition| condition.name == Name::new(name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::crossplane::DEFINITION;
    use crate::snapshot::Event;
    use crate::sync::ROOT_SYNC;

    fn snapshot() -> Snapshot {
        let managed = |labels: &Value| {
            let fields = json!({"f:metadata": {"f:labels": {}}});
            json!({"name": "", "labels": labels, "managedFields": [
                {"manager": "rolewright", "operation": "Apply", "fieldsV1": fields}]})
        };
        let ours = managed(&json!({"app.kubernetes.io/managed-by": "rolewright"}));
        let unlabelled = managed(&json!({}));
        let given_up = managed(&json!({"app.kubernetes.io/managed-by": "somebody"}));
        let copied = json!({"labels": {"app.kubernetes.io/managed-by": "rolewright"}});
        let managers =
            json!({"labels": {"app.kubernetes.io/name": "rolewright", "app.kubernetes.io/component": "manager"}});
        let revived = json!({"managedFields": [{"manager": "clusterrole-aggregation-controller", "operation": "Apply",
            "fieldsV1": {"f:rules": {}}}]});
        let condition = json!([{"type": "PermissionsReady", "status": "False"}]);
        let held = json!({"finalizers": ["configsync.gke.io/reconciler-manager", "configsync.gke.io/reconciler"]});
        let objects: [(&'static Kind, &str, &Value, Value); 13] = [
            (&ROOT_SYNC, "held", &held, json!({"spec": {}, "status": {"conditions": condition}})),
            (&CLUSTER_ROLE, "ours", &ours, json!({})),
            (&CLUSTER_ROLE, "unlabelled", &unlabelled, json!({})),
            (&CLUSTER_ROLE, "given-up", &given_up, json!({})),
            (&CLUSTER_ROLE, "copied", &copied, json!({})),
            (&CLUSTER_ROLE, "managers", &managers, json!({})),
            (&CLUSTER_ROLE, "crossplane-ns-shop-edit", &revived, json!({})),
            (&CLUSTER_ROLE, "somebodys", &revived, json!({})),
            (&CLUSTER_ROLE_BINDING, "ours", &ours, json!({"roleRef": {"kind": "ClusterRole", "name": "ours"}})),
            (&LEASE, "managers", &managers, json!({})),
            (&DEFINITION, "told", &json!({}), json!({"status": {"conditions": condition}})),
            (&DEFINITION, "well", &json!({}), json!({})),
            (&DEFINITION, "touched", &unlabelled, json!({})),
        ];
        let mut snapshot = Snapshot::default();
        for (version, (kind, name, metadata, mut object)) in (1..).zip(objects) {
            object["metadata"] = metadata.clone();
            object["metadata"]["name"] = json!(name);
            object["metadata"]["uid"] = json!(name);
            object["metadata"]["resourceVersion"] = json!(u64::to_string(&version));
            snapshot.take(Event::Set(kind, Live::read(kind, &object).unwrap()));
        }
        snapshot
    }

    fn told(access: Access) -> Vec<String> {
        let plan = uninstall(&snapshot(), access);
        plan.ops.iter().map(|op| format!("{} {}", op.write.verb(), op.object)).collect()
    }

    #[test]
    fn only_what_is_ours_goes_and_access_only_if_it_should() {
        let manager = [
            "delete ClusterRole/managers",
            "report CompositeResourceDefinition/told",
            "delete Lease/managers",
            "report RootSync/held",
            "release RootSync/held",
        ];
        assert_eq!(told(Access::Keep), manager);
        let access = [
            "delete ClusterRoleBinding/ours",
            "delete ClusterRole/crossplane-ns-shop-edit",
            "delete ClusterRole/ours",
            "delete ClusterRole/unlabelled",
        ];
        assert_eq!(told(Access::Revoke), [&access[..], &manager].concat(), "bindings before roles");
    }
}

//! A cluster with Config Sync's permissions, and its objects, tersely.

use rolewright_plan::kind::{Kind, NAMESPACE};
use rolewright_plan::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use rolewright_plan::sync::{REPO_SYNC, ROOT_SYNC, RoleRefs, Settings};
use rolewright_plan::workload::{DEPLOYMENT, SERVICE_ACCOUNT};
use rolewright_plan::{Live, Module, ObjectRef};
use serde_json::{Value, json};

use crate::cluster::Setting;

pub(super) const HOME: &str = "config-management-system";

pub(super) type Cluster = crate::cluster::Cluster<Settings>;

impl Setting for Settings {
    // What is there for syncs is seen, and looked at, before they are.
    const KINDS: &'static [&'static Kind] = &[
        &CLUSTER_ROLE,
        &CLUSTER_ROLE_BINDING,
        &ROLE,
        &ROLE_BINDING,
        &SERVICE_ACCOUNT,
        &NAMESPACE,
        &DEPLOYMENT,
        &ROOT_SYNC,
        &REPO_SYNC,
    ];

    fn module(&self) -> Box<dyn Module> {
        Box::new(RoleRefs::new(self.clone()))
    }
}

impl Cluster {
    /// What accounts of reconcilers are given beyond what all have, as `shop Role/ci to root-reconciler`, in order.
    pub(super) fn given(&self) -> Vec<String> {
        self.bindings(|live| !live.meta.name.contains(":base"))
    }

    /// All bindings of a reconciler's account, whoever made them.
    pub(super) fn bindings(&self, is_meant: impl Fn(&&Live) -> bool) -> Vec<String> {
        let all = [&CLUSTER_ROLE_BINDING, &ROLE_BINDING].into_iter().flat_map(|kind| self.engine.snapshot().all(kind));
        let shown = |live: &Live| {
            let BindingBody { role_ref, subjects } = live.body().unwrap();
            let place = if live.meta.namespace.is_empty() { "all" } else { live.meta.namespace.as_str() };
            let subjects: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
            format!("{place} {}/{} to {}", role_ref.kind, role_ref.name, subjects.join(","))
        };
        let mut bindings: Vec<String> = all.filter(is_meant).map(shown).collect();
        bindings.sort();
        bindings
    }

    /// The objects of ours of a kind.
    pub(super) fn ours(&self, kind: &'static Kind) -> Vec<ObjectRef> {
        let ours = self.engine.snapshot().all(kind).filter(|live| live.meta.ours.is_some());
        let place =
            |live: &Live| ObjectRef { kind, namespace: live.meta.namespace.clone(), name: live.meta.name.clone() };
        ours.map(place).collect()
    }

    /// The condition of a RootSync, as `True Bound: text`.
    pub(super) fn condition(&self, sync: &ObjectRef) -> String {
        let live = self.engine.snapshot().get(sync).unwrap();
        let [condition] = &live.conditions[..] else { panic!("{:?}", live.conditions) };
        assert_eq!(condition.name, "PermissionsReady");
        format!("{} {}: {}", condition.status, condition.reason, condition.message)
    }
}

pub(super) fn root_key(name: &str) -> ObjectRef {
    ObjectRef::namespaced(&ROOT_SYNC, HOME, name)
}

fn object(api_version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    let mut metadata = json!({ "name": name, "generation": 1 });
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata })
}

/// A RootSync with these roles: `ClusterRole/view`, `ClusterRole/view@shop`, `Role/ci@shop`.
pub(super) fn root(name: &str, refs: &[&str]) -> Value {
    sync("RootSync", HOME, name, refs)
}

pub(super) fn repo(namespace: &str, name: &str, refs: &[&str]) -> Value {
    sync("RepoSync", namespace, name, refs)
}

fn sync(kind: &str, namespace: &str, name: &str, refs: &[&str]) -> Value {
    let mut sync = object("configsync.gke.io/v1beta1", kind, namespace, name);
    sync["spec"] = json!({ "sourceType": "git", "git": { "repo": "https://example.org/r", "auth": "none" } });
    if !refs.is_empty() {
        sync["spec"]["override"] = json!({ "roleRefs": refs.iter().map(|text| role_ref(text)).collect::<Vec<_>>() });
    }
    sync
}

pub(super) fn role_ref(text: &str) -> Value {
    let (role, namespace) = text.split_once('@').map_or((text, None), |(role, namespace)| (role, Some(namespace)));
    let (kind, name) = role.split_once('/').unwrap();
    let mut written = json!({ "kind": kind, "name": name });
    if let Some(namespace) = namespace {
        written["namespace"] = json!(namespace);
    }
    written
}

/// The same object, with something else said in its metadata.
pub(super) fn with(mut object: Value, field: &str, value: Value) -> Value {
    object["metadata"][field] = value;
    object
}

/// The same object, on its way out, kept by these finalizers.
pub(super) fn leaving(object: Value, finalizers: &[&str]) -> Value {
    let object = with(object, "finalizers", json!(finalizers));
    with(object, "deletionTimestamp", json!("2026-01-01T00:00:00Z"))
}

pub(super) fn namespace(name: &str) -> Value {
    object("v1", "Namespace", "", name)
}

/// A role that gives something which no other gives.
pub(super) fn role(text: &str) -> Value {
    let (name, place) = text.split_once('@').unwrap_or((text, ""));
    let kind = if place.is_empty() { "ClusterRole" } else { "Role" };
    let mut role = object("rbac.authorization.k8s.io/v1", kind, place, name);
    role["rules"] = json!([{ "apiGroups": ["example.org"], "resources": [name], "verbs": ["get"] }]);
    role
}

pub(super) fn binding(place: &str, name: &str, role: &str, accounts: &[&str]) -> Value {
    let kind = if place.is_empty() { "ClusterRoleBinding" } else { "RoleBinding" };
    let mut binding = object("rbac.authorization.k8s.io/v1", kind, place, name);
    let (kind, role) = role.split_once('/').unwrap();
    binding["roleRef"] = json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role });
    let subject = |name: &&str| json!({ "kind": "ServiceAccount", "namespace": HOME, "name": name });
    binding["subjects"] = accounts.iter().map(subject).collect();
    binding
}

pub(super) fn service_account(name: &str) -> Value {
    object("v1", "ServiceAccount", HOME, name)
}

pub(super) fn manager(replicas: i64) -> Value {
    let mut deployment = object("apps/v1", "Deployment", HOME, "reconciler-manager");
    deployment["spec"] = json!({ "replicas": replicas, "template": {} });
    deployment
}

/// What Config Sync's labels say; without a sync for what is shared.
pub(super) fn labels(kind: &str, namespace: &str, name: Option<&str>) -> Value {
    let mut labels = json!({
        "configsync.gke.io/managed-by": "reconciler-manager",
        "configsync.gke.io/sync-kind": kind,
        "configsync.gke.io/sync-namespace": namespace,
    });
    if let Some(name) = name {
        labels["configsync.gke.io/sync-name"] = json!(name);
    }
    labels
}

/// The same object, as Config Sync's own manager made it.
pub(super) fn made_before(object: Value, labels: &Value) -> Value {
    let fields: serde_json::Map<String, Value> =
        labels.as_object().unwrap().keys().map(|key| (format!("f:{key}"), json!({}))).collect();
    let object = with(object, "labels", labels.clone());
    with(
        object,
        "managedFields",
        json!([{
            "manager": "configsync.gke.io/reconciler-manager",
            "operation": "Update",
            "fieldsV1": { "f:metadata": { "f:labels": fields } },
        }]),
    )
}

/// What a world has that syncs in tests name.
pub(super) fn ground() -> Vec<Value> {
    let mut all: Vec<Value> = [HOME, "shop", "bank"].map(namespace).into();
    all.extend(["cluster-admin", "one", "two", "three", "ci@shop", "ci@bank"].map(role));
    all
}

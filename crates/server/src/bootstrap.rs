//! What every cluster has from the start: namespaces, and the roles and bindings of RBAC.

mod reconcile;

use rolewright_core::{Binding, BindingKey, Name, Role, RoleKey, bootstrap};
use serde_json::{Value, json};

use crate::Server;
use crate::cluster::Draft;
use crate::json::put;
use crate::kinds::service;
use crate::strategy::{self, Object};
use crate::{time, uid};

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The first address of the range that services have theirs from.
const OWN_ADDRESS: &str = "10.96.0.1";

/// The priorities of what a cluster cannot do without.
const PRIORITIES: [(&str, i64, &str); 2] = [
    ("system-cluster-critical", 2_000_000_000, "for pods that the cluster needs, on whichever node"),
    ("system-node-critical", 2_000_001_000, "for pods that their node needs"),
];

pub(crate) fn fill(server: &Server) {
    for name in NAMESPACES {
        store(server, "", "namespaces", "kube-apiserver", json!({"metadata": {"name": name}}));
    }
    for (name, value, about) in PRIORITIES {
        let class = json!({"metadata": {"name": name}, "value": value, "description": about});
        store(server, "scheduling.k8s.io", "priorityclasses", "kube-apiserver", class);
    }
    if let Some(certificate) = &server.settings().root_ca {
        let metadata = json!({"name": "extension-apiserver-authentication", "namespace": "kube-system"});
        let map = json!({"metadata": metadata, "data": {"client-ca-file": certificate}});
        store(server, "", "configmaps", "kube-apiserver", map);
    }
    store(server, "", "services", "kube-apiserver", own_service());
    let world = bootstrap::world();
    for role in world.roles.values() {
        let plural = match &role.key {
            RoleKey::Cluster(_) => "clusterroles",
            RoleKey::Namespaced { .. } => "roles",
        };
        reconcile::reconcile(server, plural, role_object(role));
    }
    for binding in world.bindings.values() {
        let plural = match &binding.key {
            BindingKey::Cluster(_) => "clusterrolebindings",
            BindingKey::Namespaced { .. } => "rolebindings",
        };
        reconcile::reconcile(server, plural, binding_object(binding));
    }
}

/// The name that clients within a cluster know the server by. Nobody listens on its address here.
fn own_service() -> Value {
    json!({
        "metadata": {
            "name": "kubernetes", "namespace": "default", "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": OWN_ADDRESS, "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
        },
    })
}

/// Stores an object as the server's own.
pub(crate) fn store(server: &Server, group: &str, plural: &str, manager: &str, object: Value) {
    let (Some(served), Value::Object(mut object)) = (server.catalog().find(group, "v1", plural), object) else {
        return;
    };
    let text = |member: &str| crate::registry::meta(&object, member);
    if server.cluster().read().table(served.collection).get(text("namespace"), text("name")).is_some() {
        return;
    }
    served.strategy().default(&mut object);
    let now = time::seconds(time::now());
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let namespace =
        metadata.as_ref().and_then(|meta| meta.get("namespace")).and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(metadata) = metadata {
        metadata.insert("uid".into(), uid::uuid_v4().into());
        metadata.insert("creationTimestamp".into(), now.as_str().into());
    }
    crate::ownership::track(&served, None, &mut object, manager, "");
    if plural == "services" {
        service::allocate(&mut object, || OWN_ADDRESS.to_owned(), || 0);
    }
    if strategy::before_create(served.rules(), &mut object, &namespace).is_err() {
        return;
    }
    let draft = Draft::new(group, plural, &object);
    // An object that is there stays as it is; nothing else can fail here.
    let _ = server.cluster().write(|transaction| {
        let name = crate::registry::meta(&object, "name");
        if transaction.state().table(served.collection).get(&namespace, name).is_none() {
            let entry = transaction.put(served.collection, &draft);
            server.note(transaction, served.collection, &entry);
        }
        Ok(())
    });
}

fn metadata(namespace: &str, name: &Name) -> Value {
    let (annotation, autoupdate) = bootstrap::ANNOTATION;
    let mut metadata = json!({"name": name, "annotations": {annotation: autoupdate}});
    if !namespace.is_empty() {
        put(&mut metadata, "namespace", namespace);
    }
    metadata
}

fn role_object(role: &Role) -> Value {
    let mut object = json!({"metadata": metadata(role.key.namespace(), role.key.name()), "rules": role.rules});
    if let Some(metadata) = object.get_mut("metadata") {
        put(metadata, "labels", json!(role.labels));
    }
    if let Some(selectors) = &role.aggregation {
        put(&mut object, "aggregationRule", json!({"clusterRoleSelectors": selectors}));
        put(&mut object, "rules", Value::Null);
    }
    object
}

fn binding_object(binding: &Binding) -> Value {
    let (label, value) = bootstrap::LABEL;
    let mut object: Object = Object::new();
    let mut metadata = metadata(binding.key.namespace(), binding.key.name());
    put(&mut metadata, "labels", json!({label: value}));
    object.insert("metadata".into(), metadata);
    object.insert("roleRef".into(), json!(binding.role_ref));
    if !binding.subjects.is_empty() {
        object.insert("subjects".into(), json!(binding.subjects));
    }
    Value::Object(object)
}

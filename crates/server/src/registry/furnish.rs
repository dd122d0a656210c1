//! What admission puts into new pods, nodes and volumes, so that they look as on a cluster.

use serde_json::{Value, json};

use super::{Call, finalizers, meta, set_meta};
use crate::cluster::Entry;
use crate::controller::protect;
use crate::status::Failure;
use crate::strategy::Object;

const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// How long pods stay on a node that is in trouble.
const PATIENCE: i64 = 300;

/// Storage does not go before its controller has looked at it.
fn add_finalizer(object: &mut Object, name: &str) {
    let mut all: Vec<String> = finalizers(object).into_iter().map(str::to_owned).collect();
    if !all.iter().any(|known| known == name) {
        all.push(name.to_owned());
        set_meta(object, "finalizers", json!(all));
    }
}

impl Call<'_> {
    pub(super) fn furnish(&self, object: &mut Object) -> Result<(), Failure> {
        if !self.served.group.is_empty() || !self.info.subresource.is_empty() {
            return Ok(());
        }
        match self.served.plural.as_str() {
            "pods" => {
                self.add_account(object)?;
                self.add_priority(object)?;
                add_tolerations(object);
            }
            "nodes" => taint(object),
            "persistentvolumes" => add_finalizer(object, protect::VOLUME),
            "persistentvolumeclaims" => add_finalizer(object, protect::CLAIM),
            _ => {}
        }
        Ok(())
    }

    fn find(&self, group: &str, plural: &str, namespace: &str, name: &str) -> Option<std::sync::Arc<Entry>> {
        let served = self.server.catalog().find(group, "v1", plural)?;
        self.server.cluster().read().table(served.collection).get(namespace, name).cloned()
    }

    /// A pod runs as a service account, and has its token unless somebody objects.
    fn add_account(&self, pod: &mut Object) -> Result<(), Failure> {
        let namespace = &self.info.namespace;
        let name = meta(pod, "name").to_owned();
        let Some(spec) = pod.entry("spec").or_insert_with(|| json!({})).as_object_mut() else { return Ok(()) };
        let account = spec.get("serviceAccountName").and_then(Value::as_str).filter(|name| !name.is_empty());
        let account = account.unwrap_or("default").to_owned();
        spec.insert("serviceAccountName".into(), account.as_str().into());
        spec.insert("serviceAccount".into(), account.as_str().into());
        if account == "default" {
            crate::controller::furnish_account(self.server, namespace);
        }
        let Some(found) = self.find("", "serviceaccounts", namespace, &account) else {
            let why = format!(
                "error looking up service account {namespace}/{account}: serviceaccount \"{account}\" not found"
            );
            return Err(Failure::forbidden(self.served.group_resource(), &name, why));
        };
        let found = found.object();
        if spec.get("imagePullSecrets").is_none_or(Value::is_null)
            && let Some(secrets) = found.get("imagePullSecrets").filter(|secrets| !secrets.is_null())
        {
            spec.insert("imagePullSecrets".into(), secrets.clone());
        }
        let wish = |of: Option<&Value>| of.and_then(Value::as_bool);
        let mounts = wish(spec.get("automountServiceAccountToken"))
            .or_else(|| wish(found.get("automountServiceAccountToken")))
            .unwrap_or(true);
        if mounts {
            mount_token(spec);
        }
        Ok(())
    }

    fn add_priority(&self, pod: &mut Object) -> Result<(), Failure> {
        let name = meta(pod, "name").to_owned();
        let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
        let class = spec.get("priorityClassName").and_then(Value::as_str).unwrap_or_default().to_owned();
        let found = if class.is_empty() {
            self.default_priority()
        } else {
            self.find("scheduling.k8s.io", "priorityclasses", "", &class).map(|entry| entry.object())
        };
        if !class.is_empty() && found.is_none() {
            let why = format!("no PriorityClass with name {class} was found");
            return Err(Failure::forbidden(self.served.group_resource(), &name, why));
        }
        let found = found.unwrap_or_default();
        if class.is_empty() && !meta(&found, "name").is_empty() {
            spec.insert("priorityClassName".into(), meta(&found, "name").into());
        }
        spec.insert("priority".into(), found.get("value").cloned().unwrap_or(0.into()));
        let policy = found.get("preemptionPolicy").cloned().unwrap_or("PreemptLowerPriority".into());
        spec.entry("preemptionPolicy").or_insert(policy);
        Ok(())
    }

    fn default_priority(&self) -> Option<Object> {
        let served = self.server.catalog().find("scheduling.k8s.io", "v1", "priorityclasses")?;
        let state = self.server.cluster().read();
        let page = crate::cluster::Page::default();
        let classes = state.table(served.collection).entries(&page);
        let defaults =
            classes.map(|entry| entry.object()).filter(|class| class.get("globalDefault") == Some(&true.into()));
        defaults.min_by_key(|class| class.get("value").and_then(Value::as_i64))
    }
}

fn mount_token(spec: &mut Object) {
    let volume = format!("kube-api-access-{}", super::create::suffix());
    let mut used = false;
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(container) = container.as_object_mut() else { continue };
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            if mounts.is_null() {
                *mounts = json!([]);
            }
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().any(|mount| mount.get("mountPath").is_some_and(|path| path == TOKEN_PATH)) {
                continue;
            }
            mounts.push(json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH}));
            used = true;
        }
    }
    if !used {
        return;
    }
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    if volumes.is_null() {
        *volumes = json!([]);
    }
    if let Some(volumes) = volumes.as_array_mut() {
        volumes.push(json!({"name": volume, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
            ]}},
        ]}}));
    }
}

fn add_tolerations(pod: &mut Object) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let list = spec.entry("tolerations").or_insert_with(|| json!([]));
    if list.is_null() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    for key in [NOT_READY, UNREACHABLE] {
        let text = |toleration: &Value, member: &str| {
            toleration.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let covers = |toleration: &Value| {
            [key, ""].contains(&text(toleration, "key").as_str())
                && ["NoExecute", ""].contains(&text(toleration, "effect").as_str())
        };
        if !list.iter().any(covers) {
            list.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE}));
        }
    }
}

/// A new node is not ready until it says so.
fn taint(node: &mut Object) {
    let Some(spec) = node.entry("spec").or_insert_with(|| json!({})).as_object_mut() else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    if taints.is_null() {
        *taints = json!([]);
    }
    let Some(taints) = taints.as_array_mut() else { return };
    let has = |taint: &Value| {
        taint.get("key").is_some_and(|key| key == NOT_READY)
            && taint.get("effect").is_some_and(|effect| effect == "NoSchedule")
    };
    if !taints.iter().any(has) {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
    }
}

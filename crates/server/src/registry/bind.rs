//! Binding: a pod is told on which node it runs. Nothing schedules here, but whoever does finds the same API.

use axum::http::StatusCode;
use rolewright_core::validate::{FieldError, Path};
use serde_json::{Value, json};

use super::{Call, meta};
use crate::cluster::{Draft, Entry};
use crate::codec;
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::query::WriteOptions;
use crate::status::{Failure, GroupResource};
use crate::strategy::{Object, fields};
use crate::time;

const BINDING: codec::Gvk<'static> = codec::Gvk { group: "", version: "v1", kind: "Binding" };
const PODS: GroupResource<'static> = GroupResource { group: "", resource: "pods" };
/// What a pod learns about the place of its node.
const PLACES: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

impl Call<'_> {
    /// `pods/binding`, or `bindings`, where only the object has a name.
    pub(crate) fn bind(&self) -> Result<Answer, Failure> {
        self.form()?;
        let options = WriteOptions::create(&self.query)?;
        let decoded = codec::decode(self.content_type, &self.body, BINDING, options.field_validation);
        let decoded = decoded.map_err(Failure::without_scheme)?;
        self.warn(decoded.warnings);
        let binding = decoded.object;
        self.note(&binding);
        let namespace = meta(&binding, "namespace");
        if !namespace.is_empty() && namespace != self.info.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        let name = meta(&binding, "name");
        self.admit_namespace(&self.server.cluster().read(), name)?;
        if !self.info.subresource.is_empty() && name != self.info.name {
            return Err(Failure::bad_request("name in URL does not match name in Binding object"));
        }
        check(&binding)?;
        let pods = self.server.catalog().find("", "v1", "pods").ok_or_else(Failure::no_such_resource)?;
        loop {
            let current = self.server.cluster().read().table(pods.collection).get(&self.info.namespace, name).cloned();
            let current = current.ok_or_else(|| Failure::not_found(PODS, name))?;
            check_pod(&binding, &current, options.dry_run)?;
            let mut pod = current.object();
            self.assign(&mut pod, &binding)?;
            if let Some(built_in) = pods.built_in() {
                codec::as_stored(built_in.ty, &mut pod);
            }
            if options.dry_run {
                break;
            }
            let draft = Draft::new("", "pods", &pod);
            let fresh = self.server.cluster().write(|transaction| {
                let now = transaction.state().table(pods.collection).get(&self.info.namespace, name);
                let fresh = now.is_some_and(|now| now.revision == current.revision);
                if fresh {
                    transaction.put(pods.collection, &draft);
                }
                Ok::<bool, Failure>(fresh)
            })?;
            if fresh {
                break;
            }
        }
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        Ok(respond::status(StatusCode::CREATED, status))
    }

    fn assign(&self, pod: &mut Object, binding: &Object) -> Result<(), Failure> {
        let name = meta(pod, "name").to_owned();
        let refused =
            |why: String| Err(Failure::conflict(GroupResource { group: "", resource: "pods/binding" }, &name, why));
        if !meta(pod, "deletionTimestamp").is_empty() {
            return refused(format!("pod {name} is being deleted, cannot be assigned to a host"));
        }
        let node = fields::text(pod, &["spec", "nodeName"]);
        if !node.is_empty() {
            return refused(format!("pod {name} is already assigned to node {node:?}"));
        }
        let gates = fields::get(pod, &["spec", "schedulingGates"]).and_then(Value::as_array);
        if gates.is_some_and(|gates| !gates.is_empty()) {
            return refused(format!("pod {name} has non-empty .spec.schedulingGates"));
        }
        let node = fields::text(binding, &["target", "name"]);
        put(pod.entry("spec").or_insert_with(|| json!({})), "nodeName", node);
        add(pod, "annotations", fields::get(binding, &["metadata", "annotations"]));
        add(pod, "labels", fields::get(binding, &["metadata", "labels"]));
        if fields::text(binding, &["target", "kind"]) == "Node" {
            add(pod, "labels", Some(&self.place_of(node)));
        }
        let status = pod.entry("status").or_insert_with(|| json!({}));
        if let Some(status) = status.as_object_mut() {
            status.remove("nominatedNodeName");
            schedule(status);
        }
        Ok(())
    }

    /// Where a node is, as labels.
    fn place_of(&self, node: &str) -> Value {
        let nodes = self.server.catalog().find("", "v1", "nodes");
        let state = self.server.cluster().read();
        let node = nodes.and_then(|nodes| state.table(nodes.collection).get("", node));
        let labels = PLACES.iter().filter_map(|key| Some(((*key).to_owned(), node?.label(key)?.into())));
        Value::Object(labels.collect())
    }
}

/// What is wrong with a binding by itself. Kubernetes tells it without saying that it is invalid.
fn check(binding: &Object) -> Result<(), Failure> {
    let at = Path::field("target");
    let mut errors = Vec::new();
    let kind = fields::text(binding, &["target", "kind"]);
    if !kind.is_empty() && kind != "Node" {
        errors.push(FieldError::not_supported(at.child("kind"), kind, &["Node", "<empty>"]));
    }
    if fields::text(binding, &["target", "name"]).is_empty() {
        errors.push(FieldError::required(at.child("name"), ""));
    }
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => Ok(()),
        [one] => Err(Failure::new(500, "", one.as_str())),
        many => Err(Failure::new(500, "", format!("[{}]", many.join(", ")))),
    }
}

/// A binding may name the pod that it means, down to its version.
fn check_pod(binding: &Object, current: &Entry, dry_run: bool) -> Result<(), Failure> {
    let version = current.revision.to_string();
    for (what, member, found) in
        [("UID", "uid", current.uid.as_str()), ("ResourceVersion", "resourceVersion", &version)]
    {
        let expected = meta(binding, member);
        if !expected.is_empty() && expected != found {
            let root = if dry_run { "" } else { "/registry" };
            let why = format_args!(
                "StorageError: invalid object, Code: 4, Key: {root}/pods/{}/{}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: {what} in precondition: {expected}, {what} in object \
                 meta: {found}",
                current.namespace, current.name
            );
            return Err(Failure::conflict(PODS, &current.name, why));
        }
    }
    Ok(())
}

/// Adds members to a map in the pod's metadata.
fn add(pod: &mut Object, map: &str, more: Option<&Value>) {
    let Some(more) = more.and_then(Value::as_object).filter(|more| !more.is_empty()) else { return };
    let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let map = metadata.entry(map).or_insert_with(|| json!({}));
    if let Some(map) = map.as_object_mut() {
        map.extend(more.clone());
    }
}

/// The condition that says that a node was found.
fn schedule(status: &mut Object) {
    let now = time::seconds(time::now());
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    let list = status.entry("conditions").or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    let scheduled = |condition: &&mut Value| condition.get("type").is_some_and(|kind| kind == "PodScheduled");
    match list.iter_mut().find(scheduled) {
        Some(old) => {
            let since = old.get("lastTransitionTime").cloned().filter(|_| old.get("status") == condition.get("status"));
            *old = condition;
            if let Some(since) = since {
                put(old, "lastTransitionTime", since);
            }
        }
        None => list.push(condition),
    }
}

//! Objects as rows of a table, cell by cell what Kubernetes prints.

mod admission;
mod autoscaling;
mod core;
mod describe;
mod duration;
mod event;
mod labels;
mod network;
mod node;
mod pod;
mod rbac;
mod shown;
mod storage;
mod workload;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::facts::{Column, Resource};
use crate::strategy::Object;
use shown::Shown;

/// The cells of a row, from anything that is JSON.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(serde_json::Value::from($cell)),*] };
}
use row;

/// The columns of a resource's table, as `columnDefinitions`.
pub fn columns(resource: &'static Resource) -> Value {
    definitions(resource.columns)
}

/// The cells for an object of a resource, which is conformed to its type and has its defaults.
///
/// There are as many as columns, except that Kubernetes prints one too many for an IPAddress.
pub fn cells(resource: &'static Resource, object: &Object, now: Timestamp) -> Vec<Value> {
    printer(resource)(Shown::new(object, now))
}

/// What a row says about its object beside the cells, as its `conditions`; only of pods that have ended.
pub fn conditions(resource: &'static Resource, object: &Object) -> Option<Value> {
    let is_pod = resource.group.is_empty() && resource.kind == "Pod";
    is_pod.then(|| pod::conditions(Shown::new(object, Timestamp::UNIX_EPOCH))).flatten()
}

/// How long ago a time in the form of RFC 3339 was; none if it is none.
pub(crate) fn age(time: &str, now: Timestamp) -> Option<String> {
    // Go takes neither a space for the `T` nor small letters.
    let form = |(at, byte): (usize, u8)| !(byte == b' ' || byte.is_ascii_lowercase() || at == 10 && byte != b'T');
    let known = time.bytes().enumerate().all(form).then(|| time.parse::<Timestamp>().ok()).flatten()?;
    Some(duration::human(now.duration_since(known)))
}

/// The columns of a Scale, which is what subresources of that name hold.
pub fn scale_columns(custom: bool) -> Value {
    let column = |name: &'static str, ty: &'static str| Column { name, ty, format: "", priority: 0 };
    let (format, age) = if custom { ("name", "date") } else { ("", "string") };
    definitions(&[
        Column { format, ..column("Name", "string") },
        column("Desired", "integer"),
        column("Available", "integer"),
        column("Age", age),
    ])
}

/// The cells for a Scale.
pub fn scale_cells(scale: &Object, now: Timestamp) -> Vec<Value> {
    workload::scale(Shown::new(scale, now))
}

fn definitions(columns: &[Column]) -> Value {
    let definition = |column: &Column| {
        json!({
            "name": column.name, "type": column.ty, "format": column.format,
            "description": describe::describe(column.name), "priority": column.priority,
        })
    };
    columns.iter().map(definition).collect()
}

fn printer(resource: &Resource) -> fn(Shown<'_>) -> Vec<Value> {
    match (resource.group, resource.kind) {
        ("", "ComponentStatus") => core::component_status,
        ("", "ConfigMap") => core::config_map,
        ("", "Endpoints") => network::endpoints,
        ("", "Event") => event::core,
        ("", "Namespace") => core::namespace,
        ("", "Node") => node::node,
        ("", "PersistentVolume") => storage::volume,
        ("", "PersistentVolumeClaim") => storage::claim,
        ("", "Pod") => pod::pod,
        ("", "PodTemplate") => core::pod_template,
        ("", "ReplicationController") => workload::replication_controller,
        ("", "ResourceQuota") => core::resource_quota,
        ("", "Secret") => core::secret,
        ("", "Service") => network::service,
        ("", "ServiceAccount") => core::aged,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => admission::mutating_policy,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => admission::validating_policy,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding") => {
            admission::policy_binding
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            admission::webhooks
        }
        ("apiregistration.k8s.io", "APIService") => core::api_service,
        ("apps", "ControllerRevision") => workload::controller_revision,
        ("apps", "DaemonSet") => workload::daemon_set,
        ("apps", "Deployment") => workload::deployment,
        ("apps", "ReplicaSet") => workload::replica_set,
        ("apps", "StatefulSet") => workload::stateful_set,
        ("autoscaling", "HorizontalPodAutoscaler") if resource.version == "v1" => autoscaling::v1,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::v2,
        ("batch", "CronJob") => workload::cron_job,
        ("batch", "Job") => workload::job,
        ("coordination.k8s.io", "Lease") => core::lease,
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice,
        ("events.k8s.io", "Event") => event::events,
        ("networking.k8s.io", "IPAddress") => network::ip_address,
        ("networking.k8s.io", "Ingress") => network::ingress,
        ("networking.k8s.io", "IngressClass") => network::ingress_class,
        ("networking.k8s.io", "NetworkPolicy") => network::network_policy,
        ("networking.k8s.io", "ServiceCIDR") => network::service_cidr,
        ("policy", "PodDisruptionBudget") => workload::disruption_budget,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => rbac::binding,
        ("scheduling.k8s.io", "PriorityClass") => core::priority_class,
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver,
        ("storage.k8s.io", "CSINode") => storage::csi_node,
        ("storage.k8s.io", "StorageClass") => storage::storage_class,
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment,
        ("storage.k8s.io", "VolumeAttributesClass") => storage::attributes_class,
        _ => core::plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::resources;

    #[test]
    fn every_column_has_a_cell_and_a_description() {
        for resource in resources().iter().filter(|resource| !resource.columns.is_empty()) {
            let cells = cells(resource, &Object::new(), Timestamp::UNIX_EPOCH);
            let surplus = usize::from(resource.kind == "IPAddress");
            assert_eq!(cells.len(), resource.columns.len() + surplus, "{}", resource.plural);
            for column in resource.columns {
                assert!(!describe::describe(column.name).is_empty(), "{} of {}", column.name, resource.plural);
            }
        }
    }

    #[test]
    fn objects_of_any_shape_print() {
        let odd = json!({
            "metadata": 7, "spec": [{}], "subsets": {},
            "status": {"conditions": "none", "containerStatuses": [null, 1, "x", {"state": []}]},
            "subjects": null, "webhooks": 3, "data": [1],
        });
        let Value::Object(odd) = odd else { unreachable!() };
        for resource in resources() {
            cells(resource, &odd, Timestamp::MIN);
            cells(resource, &odd, Timestamp::MAX);
        }
    }

    #[test]
    fn pods_that_have_ended_say_so() {
        let pods = resources().iter().find(|resource| resource.plural == "pods").unwrap();
        for (phase, said) in [("Succeeded", true), ("Failed", true), ("Running", false)] {
            let Value::Object(pod) = json!({"status": {"phase": phase}}) else { unreachable!() };
            let conditions = conditions(pods, &pod);
            assert_eq!(conditions.is_some(), said, "{phase}");
            assert!(conditions.is_none_or(|conditions| conditions.pointer("/0/reason") == Some(&json!(phase))));
        }
    }
}

//! Defaults by type: an object is walked along its type, and each type fills in what Kubernetes fills in for it.
//!
//! What a type looks like after it went through Kubernetes' internal version (fields with two names, annotations that
//! stand for fields) counts as a default too.

use serde_json::Value;

use super::quantity::Quantity;
use super::{admission, autoscaling, batch, networking, pod, quota, service, storage, workload};
use crate::facts::{Codec, Field, Shape, Ty, Type, type_of};
use crate::strategy::Object;

/// Fills in the defaults of an object of this kind.
pub(super) fn of(group: &str, version: &str, kind: &str, object: &mut Object) {
    if let Some(ty) = type_of(group, version, kind) {
        fill(ty, object);
    }
}

fn fill(ty: &'static Type, object: &mut Object) {
    own(ty.name, object);
    for field in ty.own_fields() {
        if let (true, Ty::Ref(inner)) = (field.inline, field.ty) {
            fill(inner, object);
            continue;
        }
        if is_plain_struct(field) && object.get(field.name).is_none_or(Value::is_null) {
            object.insert(field.name.to_owned(), Value::Object(Object::new()));
        }
        if let Some(value) = object.get_mut(field.name)
            && field.name != "nodeAllocatableResourceClaimStatuses"
        {
            fill_value(field.ty, value);
        }
    }
}

/// Go always writes such a field, so it is there even when nobody gave it.
fn is_plain_struct(field: &Field) -> bool {
    matches!(field.ty, Ty::Ref(ty) if matches!(ty.shape, Shape::Struct(_))) && !field.pointer && !field.omitzero
}

fn fill_value(ty: Ty, value: &mut Value) {
    match (ty, value) {
        (Ty::Ref(inner), Value::Object(object)) if matches!(inner.shape, Shape::Struct(_)) => fill(inner, object),
        (Ty::List(inner), Value::Array(items)) if may_hold_structs(*inner) => {
            for item in items {
                fill_value(*inner, item);
            }
        }
        (Ty::Map(Ty::Ref(inner)), Value::Object(amounts))
            if matches!(inner.shape, Shape::Codec(Codec::Quantity, _)) =>
        {
            round(amounts);
        }
        (Ty::Map(inner), Value::Object(entries)) if may_hold_structs(*inner) => {
            for entry in entries.values_mut() {
                fill_value(*inner, entry);
            }
        }
        _ => {}
    }
}

fn may_hold_structs(ty: Ty) -> bool {
    matches!(ty, Ty::Ref(_) | Ty::List(_) | Ty::Map(_))
}

/// Amounts of resources have thousandths at the finest.
fn round(amounts: &mut Object) {
    for amount in amounts.values_mut() {
        let Some(exact) = amount.as_str().and_then(Quantity::parse) else { continue };
        let rounded = exact.rounded_to_milli();
        if rounded.compare(exact).is_ne() {
            *amount = rounded.to_string().into();
        }
    }
}

fn own(name: &str, object: &mut Object) {
    let Some(name) = name.strip_prefix("io.k8s.") else { return };
    match name {
        "api.core.v1.Pod" => pod::default_pod(object),
        "api.core.v1.PodTemplateSpec" => pod::drop_old_annotations(object),
        "api.core.v1.PodSpec" => pod::default_spec(object),
        "api.core.v1.PodStatus" => pod::default_status(object),
        "api.core.v1.Container" | "api.core.v1.EphemeralContainerCommon" => pod::default_container(object),
        "api.core.v1.ContainerPort" | "api.core.v1.EndpointPort" => super::read::fill_text(object, "protocol", "TCP"),
        "api.core.v1.Probe" => pod::default_probe(object),
        "api.core.v1.HTTPGetAction" => pod::default_http_get(object),
        "api.core.v1.GRPCAction" => super::read::fill(object, "service", ""),
        "api.core.v1.FileKeySelector" => super::read::fill(object, "optional", false),
        "api.core.v1.ObjectFieldSelector" => super::read::fill_text(object, "apiVersion", "v1"),
        "api.core.v1.Volume" => pod::volume::default_volume(object),
        name if name.ends_with("VolumeSource") || name == "api.core.v1.ServiceAccountTokenProjection" => {
            pod::volume::default_source(name, object);
        }
        "api.core.v1.ReplicationController" => workload::default_replication_controller(object),
        "api.core.v1.ReplicationControllerSpec" | "api.apps.v1.ReplicaSetSpec" => {
            super::read::fill(object, "replicas", 1);
        }
        "api.core.v1.Service" => service::default_service(object),
        "api.core.v1.PersistentVolume" => storage::default_volume(object),
        "api.core.v1.PersistentVolumeClaim" => storage::default_claim(object),
        "api.core.v1.PersistentVolumeClaimSpec" => super::read::fill(object, "volumeMode", "Filesystem"),
        "api.core.v1.LimitRangeItem" => quota::default_limit(object),
        "api.core.v1.NodeSpec" => quota::default_node_spec(object),
        "api.core.v1.NodeStatus" => quota::default_node_status(object),
        "api.apps.v1.Deployment" => workload::default_deployment(object),
        "api.apps.v1.DaemonSet" => workload::default_daemon_set(object),
        "api.apps.v1.StatefulSet" => workload::default_stateful_set(object),
        "api.batch.v1.Job" => batch::default_job(object),
        "api.batch.v1.CronJobSpec" => batch::default_cron_job(object),
        "api.batch.v1.PodFailurePolicyOnPodConditionsPattern" => super::read::fill_text(object, "status", "True"),
        "api.networking.v1.NetworkPolicySpec" => networking::default_policy(object),
        "api.networking.v1.NetworkPolicyPort" => super::read::fill(object, "protocol", "TCP"),
        "api.networking.v1.IngressClassParametersReference" => super::read::fill(object, "scope", "Cluster"),
        "api.discovery.v1.EndpointPort" => networking::default_endpoint_port(object),
        "api.autoscaling.v1.HorizontalPodAutoscaler" => autoscaling::default_v1(object),
        "api.autoscaling.v2.HorizontalPodAutoscaler" => autoscaling::default_v2(object),
        "api.storage.v1.StorageClass" => storage::default_class(object),
        "api.storage.v1.CSIDriverSpec" => storage::default_driver(object),
        "api.scheduling.v1.PriorityClass" => super::read::fill(object, "preemptionPolicy", "PreemptLowerPriority"),
        name if name.starts_with("api.admissionregistration.v1.") => admission::defaults(name, object),
        "kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference" => super::read::fill(object, "port", 443),
        _ => {}
    }
}

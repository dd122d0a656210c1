//! Pods and nodes.

use proptest::prelude::*;
use serde_json::json;

use super::kinds::{Kind, kind};
use super::shape::{Any, conditions, count, flag, int, ip, labels, list, name, one_of, time, with};

const CONTAINERS: &[&str] = &["a", "b", "c"];
const REASONS: &[&str] = &["", "Completed", "Error", "CrashLoopBackOff", "PodInitializing", "NodeLost", "Evicted"];

pub(super) fn kinds() -> Vec<Kind> {
    vec![kind("", "v1", "Pod", vec![("spec", pod_spec()), ("status", pod_status())]), node()]
}

/// A pod template.
pub(super) fn template() -> Any {
    with(vec![("metadata", with(vec![("labels", labels())])), ("spec", pod_spec())])
}

fn pod_spec() -> Any {
    with(vec![
        ("containers", list(container())),
        ("initContainers", list(container())),
        ("nodeName", name()),
        ("nodeSelector", labels()),
        ("readinessGates", list(with(vec![("conditionType", one_of(&["Ready", "Gate"]))]))),
    ])
}

fn container() -> Any {
    with(vec![
        ("name", one_of(CONTAINERS)),
        ("image", one_of(&["nginx", "registry.acme.io/db:1.2@sha256:abc"])),
        ("restartPolicy", one_of(&["Always", "Always", "Never"])),
    ])
}

fn pod_status() -> Any {
    with(vec![
        ("phase", one_of(&["Pending", "Running", "Running", "Succeeded", "Failed", ""])),
        ("reason", one_of(REASONS)),
        ("conditions", conditions(&["Ready", "Initialized", "PodScheduled", "Gate"])),
        ("podIP", ip()),
        ("podIPs", list(with(vec![("ip", ip())]))),
        ("nominatedNodeName", name()),
        ("initContainerStatuses", list(container_status())),
        ("containerStatuses", list(container_status())),
    ])
}

fn container_status() -> Any {
    with(vec![
        ("name", one_of(CONTAINERS)),
        ("restartCount", count()),
        ("ready", flag()),
        ("started", flag()),
        ("state", state()),
        ("lastState", state()),
    ])
}

fn state() -> Any {
    let exit_code = prop_oneof![Just(json!(0)), int(0..3)].boxed();
    let terminated =
        with(vec![("exitCode", exit_code), ("signal", int(0..2)), ("reason", one_of(REASONS)), ("finishedAt", time())]);
    prop_oneof![
        2 => terminated.prop_map(|terminated| json!({"terminated": terminated})),
        1 => one_of(REASONS).prop_map(|reason| json!({"waiting": {"reason": reason}})),
        1 => Just(json!({"running": {}})),
        1 => Just(json!({})),
        1 => Just(json!({"running": {}, "waiting": {}, "terminated": {"exitCode": 0}})),
    ]
    .boxed()
}

fn node() -> Kind {
    let address = with(vec![("type", one_of(&["InternalIP", "ExternalIP", "Hostname"])), ("address", ip())]);
    let version = || one_of(&["v1.36.3", "", "containerd://2.0"]);
    let info = with(vec![
        ("kubeletVersion", version()),
        ("osImage", version()),
        ("kernelVersion", version()),
        ("containerRuntimeVersion", version()),
        ("architecture", one_of(&["amd64", ""])),
    ]);
    let status =
        vec![("conditions", conditions(&["Ready", "DiskPressure"])), ("addresses", list(address)), ("nodeInfo", info)];
    kind("", "v1", "Node", vec![("spec", with(vec![("unschedulable", flag())])), ("status", with(status))])
}

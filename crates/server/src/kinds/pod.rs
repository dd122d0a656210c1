//! Pods, and the templates from which controllers make them.

mod amounts;
mod containers;
mod environment;
mod image;
mod mounts;
pub(super) mod parts;
pub(super) mod prepare;
mod probes;
mod references;
mod resources;
mod scheduling;
mod security;
pub(super) mod status;
mod systems;
pub(super) mod update;
pub(super) mod validate;
pub(super) mod volume;
mod volumes;

use rolewright_core::validate::Path;

use super::check::each_item;
use super::read::{fill, fill_text, fill_zero, flag, integer, items, items_mut, known_mut, text};
use crate::strategy::Object;

/// Annotations of clients before 1.8, which no longer mean anything.
const OLD_ANNOTATIONS: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

pub(super) fn default_pod(pod: &mut Object) {
    drop_old_annotations(pod);
    let Some(spec) = known_mut(pod, "spec") else { return };
    resources::requests_from_limits(spec);
    resources::pod_level(spec);
    fill(spec, "enableServiceLinks", true);
    if flag(spec, "hostNetwork") {
        for kind in ["containers", "initContainers"] {
            items_mut(spec, kind).for_each(take_host_ports);
        }
    }
    if integer(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), 1.into());
    }
}

fn take_host_ports(container: &mut Object) {
    for port in items_mut(container, "ports") {
        if let Some(number) = integer(port, "containerPort").filter(|number| *number != 0) {
            fill_zero(port, "hostPort", number);
        }
    }
}

/// For pods and templates of pods.
pub(super) fn drop_old_annotations(pod: &mut Object) {
    let Some(metadata) = known_mut(pod, "metadata") else { return };
    let Some(annotations) = known_mut(metadata, "annotations") else { return };
    for old in OLD_ANNOTATIONS {
        annotations.remove(old);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

pub(super) fn default_spec(spec: &mut Object) {
    fill_text(spec, "dnsPolicy", "ClusterFirst");
    fill_text(spec, "restartPolicy", "Always");
    fill(spec, "securityContext", Object::new());
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill_text(spec, "schedulerName", "default-scheduler");
    one_of_two(spec, "serviceAccountName", "serviceAccount");
}

/// Two names of one field; the first wins.
fn one_of_two(object: &mut Object, name: &str, old_name: &str) {
    let given = [name, old_name].into_iter().map(|key| text(object, key)).find(|text| !text.is_empty());
    if let Some(text) = given.map(str::to_owned) {
        object.insert(name.to_owned(), text.clone().into());
        object.insert(old_name.to_owned(), text.into());
    } else {
        object.remove(name);
        object.remove(old_name);
    }
}

/// The first address has a field of its own, which wins where both differ.
pub(super) fn default_status(status: &mut Object) {
    let first = items(status, "podIPs").next().map(|ip| text(ip, "ip").to_owned());
    let single = text(status, "podIP").to_owned();
    match first {
        Some(first) if single.is_empty() && !first.is_empty() => {
            status.insert("podIP".to_owned(), first.into());
        }
        Some(first) if single == first => {}
        _ if single.is_empty() => {}
        _ => {
            let mut ip = Object::new();
            ip.insert("ip".to_owned(), single.into());
            status.insert("podIPs".to_owned(), vec![ip].into());
        }
    }
}

pub(super) fn default_container(container: &mut Object) {
    let policy = image::pull_policy(text(container, "image"));
    fill_text(container, "imagePullPolicy", policy);
    fill_text(container, "terminationMessagePath", "/dev/termination-log");
    fill_text(container, "terminationMessagePolicy", "File");
}

pub(super) fn default_probe(probe: &mut Object) {
    fill_zero(probe, "timeoutSeconds", 1);
    fill_zero(probe, "periodSeconds", 10);
    fill_zero(probe, "successThreshold", 1);
    fill_zero(probe, "failureThreshold", 3);
}

pub(super) fn default_http_get(action: &mut Object) {
    fill_text(action, "path", "/");
    fill_text(action, "scheme", "HTTP");
}

/// Looks at the containers of all kinds, with their paths.
fn each_container<'a>(spec: &'a Object, at: Path<'_>, mut look: impl FnMut(&'a Object, Path<'_>)) {
    for kind in ["initContainers", "containers", "ephemeralContainers"] {
        each_item(spec, kind, at, &mut look);
    }
}

//! Volumes, claims and storage drivers.

use serde_json::Value;

use super::network::with_default_mark;
use super::row;
use super::shown::{Node, Shown, comma_list, list_or_none};

pub(super) fn volume(shown: Shown<'_>) -> Vec<Value> {
    let claim = shown.spec("claimRef");
    let claim = if claim.is_set() {
        format!("{}/{}", claim.get("namespace").text(), claim.get("name").text())
    } else {
        String::new()
    };
    row![
        shown.name(),
        shown.spec("capacity").get("storage").quantity(),
        access_modes(shown.spec("accessModes")),
        shown.spec("persistentVolumeReclaimPolicy").text(),
        phase(shown),
        claim,
        class(shown),
        shown.spec("volumeAttributesClassName").set_text_or("<unset>"),
        shown.status("reason").text(),
        shown.age(),
        shown.spec("volumeMode").set_text_or("<unset>"),
    ]
}

pub(super) fn claim(shown: Shown<'_>) -> Vec<Value> {
    let volume = shown.spec("volumeName").text();
    let (capacity, modes) = if volume.is_empty() {
        ("", String::new())
    } else {
        (shown.status("capacity").get("storage").quantity(), access_modes(shown.status("accessModes")))
    };
    row![
        shown.name(),
        phase(shown),
        volume,
        capacity,
        modes,
        class(shown),
        shown.spec("volumeAttributesClassName").set_text_or("<unset>"),
        shown.age(),
        shown.spec("volumeMode").set_text_or("<unset>"),
    ]
}

fn phase(shown: Shown<'_>) -> &str {
    if shown.is_deleted() { "Terminating" } else { shown.status("phase").text() }
}

fn class(shown: Shown<'_>) -> &str {
    let annotation = shown.annotation("volume.beta.kubernetes.io/storage-class");
    annotation.set_text_or(shown.spec("storageClassName").text())
}

fn access_modes(modes: Node<'_>) -> String {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let is_there = |name: &str| modes.items().any(|mode| mode.text() == name);
    comma_list(SHORT.iter().filter(|(name, _)| is_there(name)).map(|(_, short)| *short))
}

pub(super) fn storage_class(shown: Shown<'_>) -> Vec<Value> {
    let is_default =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .iter()
            .any(|annotation| shown.annotation(annotation).text() == "true");
    row![
        with_default_mark(shown.name(), is_default),
        shown.get("provisioner").text(),
        shown.get("reclaimPolicy").set_text_or("Delete"),
        shown.get("volumeBindingMode").set_text_or("Immediate"),
        shown.get("allowVolumeExpansion").flag(),
        shown.age(),
    ]
}

pub(super) fn attributes_class(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.get("driverName").text(), shown.age()]
}

pub(super) fn attachment(shown: Shown<'_>) -> Vec<Value> {
    row![
        shown.name(),
        shown.spec("attacher").text(),
        shown.spec("source").get("persistentVolumeName").text(),
        shown.spec("nodeName").text(),
        shown.status("attached").flag(),
        shown.age(),
    ]
}

pub(super) fn csi_node(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.spec("drivers").count(), shown.age()]
}

pub(super) fn csi_driver(shown: Shown<'_>) -> Vec<Value> {
    let tokens = match shown.spec("tokenRequests").set() {
        Some(tokens) => comma_list(tokens.items().map(|token| token.get("audience").text())),
        None => "<unset>".to_owned(),
    };
    row![
        shown.name(),
        shown.spec("attachRequired").set_flag().unwrap_or(true),
        shown.spec("podInfoOnMount").flag(),
        shown.spec("storageCapacity").flag(),
        tokens,
        shown.spec("requiresRepublish").flag(),
        list_or_none(shown.spec("volumeLifecycleModes").items().map(Node::text)),
        shown.age(),
    ]
}

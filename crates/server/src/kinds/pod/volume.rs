//! The volumes of pods, and the sources that persistent volumes share with them.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, json, required, supported};
use super::super::read::{child, fill, fill_text, integer, items, text};
use super::containers::check_backsteps;
use super::image;
use crate::strategy::Object;

/// What is in a volume that only has a name.
pub(in super::super) fn default_volume(volume: &mut Object) {
    if volume.iter().all(|(key, value)| key == "name" || value.is_null()) {
        volume.insert("emptyDir".to_owned(), Value::Object(Object::new()));
    }
}

/// By the name of the source's type.
pub(in super::super) fn default_source(name: &str, source: &mut Object) {
    match name.strip_prefix("api.core.v1.").unwrap_or_default() {
        "SecretVolumeSource" | "ConfigMapVolumeSource" | "DownwardAPIVolumeSource" | "ProjectedVolumeSource" => {
            fill(source, "defaultMode", 0o644);
        }
        "ServiceAccountTokenProjection" => fill(source, "expirationSeconds", 3600),
        "HostPathVolumeSource" => fill(source, "type", ""),
        "ISCSIVolumeSource" | "ISCSIPersistentVolumeSource" => fill_text(source, "iscsiInterface", "default"),
        "RBDVolumeSource" | "RBDPersistentVolumeSource" => {
            fill_text(source, "pool", "rbd");
            fill_text(source, "user", "admin");
            fill_text(source, "keyring", "/etc/ceph/keyring");
        }
        "AzureDiskVolumeSource" => {
            fill(source, "cachingMode", "ReadWrite");
            fill(source, "fsType", "ext4");
            fill(source, "readOnly", false);
            fill(source, "kind", "Shared");
        }
        "ScaleIOVolumeSource" | "ScaleIOPersistentVolumeSource" => {
            fill_text(source, "storageMode", "ThinProvisioned");
            fill_text(source, "fsType", "xfs");
        }
        "ImageVolumeSource" => {
            let policy = image::pull_policy(text(source, "reference"));
            fill_text(source, "pullPolicy", policy);
        }
        _ => {}
    }
}

/// The volumes that containers may mount.
pub(super) struct Volumes<'a>(BTreeSet<&'a str>);

impl Volumes<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
/// In the order in which Kubernetes looks at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// What is wrong with the volumes, and which of them can be mounted.
pub(super) fn check_volumes<'a>(errors: &mut Errors, spec: &'a Object, at: Path<'_>) -> Volumes<'a> {
    let mut seen = BTreeSet::new();
    let mut mountable = BTreeSet::new();
    for (i, volume) in items(spec, "volumes").enumerate() {
        let at = at.index(i);
        let before = errors.len();
        let complete = check_source(errors, volume, at);
        let name = text(volume, "name");
        required(errors, volume, "name", at);
        super::super::check::name(errors, volume, "name", at, names::dns_label);
        if seen.contains(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
        if errors.len() == before {
            mountable.insert(name);
            // A source that is not looked at here may be at fault, and then its name counts as free.
            if complete {
                seen.insert(name);
            }
        }
    }
    Volumes(mountable)
}

/// Whether all of the source could be looked at.
fn check_source(errors: &mut Errors, volume: &Object, at: Path<'_>) -> bool {
    let mut complete = true;
    let mut known = false;
    for kind in SOURCES {
        let Some(source) = child(volume, kind) else { continue };
        if std::mem::replace(&mut known, true) {
            let shown = match kind {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                kind => kind,
            };
            errors.push(FieldError::forbidden(at.child(shown), "may not specify more than 1 volume type"));
            continue;
        }
        let at = at.child(kind);
        match kind {
            "emptyDir" => {}
            "hostPath" => check_host_path(errors, source, at),
            "secret" => check_files(errors, source, "secretName", at),
            "configMap" => check_files(errors, source, "name", at),
            "persistentVolumeClaim" => required(errors, source, "claimName", at),
            "nfs" => {
                required(errors, source, "server", at);
                required(errors, source, "path", at);
                let path = text(source, "path");
                if !path.starts_with('/') {
                    errors.push(FieldError::invalid(at.child("path"), path, "must be an absolute path"));
                }
            }
            _ => complete = false,
        }
    }
    complete
}

fn check_host_path(errors: &mut Errors, source: &Object, at: Path<'_>) {
    required(errors, source, "path", at);
    let path = text(source, "path");
    if path.is_empty() {
        return;
    }
    check_backsteps(errors, path, at.child("path"));
    let kinds = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    supported(errors, text(source, "type"), at.child("type"), &kinds);
}

/// Keys of a config map or secret as files.
fn check_files(errors: &mut Errors, source: &Object, name: &str, at: Path<'_>) {
    required(errors, source, name, at);
    check_mode(errors, source, "defaultMode", at);
    let keys = at.child("items");
    for (i, item) in items(source, "items").enumerate() {
        let at = keys.index(i);
        required(errors, item, "key", at);
        required(errors, item, "path", at);
        check_reserved(errors, text(item, "path"), at.child("path"));
        check_mode(errors, item, "mode", at);
    }
}

fn check_mode(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    if let Some(mode) = integer(object, key).filter(|mode| !(0..=0o777).contains(mode)) {
        errors.push(FieldError::invalid(at.child(key), json(mode), MODE));
    }
}

/// A path below the volume that does not look like one of its own.
fn check_reserved(errors: &mut Errors, path: &str, at: Path<'_>) {
    if path.starts_with('/') {
        errors.push(FieldError::invalid(at, path, "must be a relative path"));
    }
    check_backsteps(errors, path, at);
    if path.starts_with("..") && !path.starts_with("../") {
        errors.push(FieldError::invalid(at, path, "must not start with '..'"));
    }
}

//! Defaults of the volumes of pods, and of the sources that persistent volumes share with them.

use serde_json::Value;

use super::super::read::{fill, fill_text, text};
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

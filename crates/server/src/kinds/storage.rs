//! Volumes, claims, and how volumes are made.

pub(super) mod claim;
pub(super) mod class;
pub(super) mod csi;
pub(super) mod volume;

use serde_json::Value;

use super::read::{absent, child, child_mut, fill, fill_text, known_mut, list, text};
use crate::strategy::Object;

pub(super) fn default_volume(volume: &mut Object) {
    if let Some(status) = child_mut(volume, "status") {
        fill_text(status, "phase", "Pending");
    }
    let Some(spec) = child_mut(volume, "spec") else { return };
    fill_text(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
}

pub(super) fn default_claim(claim: &mut Object) {
    if let Some(status) = child_mut(claim, "status") {
        fill_text(status, "phase", "Pending");
    }
}

pub(super) fn default_class(class: &mut Object) {
    fill(class, "reclaimPolicy", "Delete");
    fill(class, "volumeBindingMode", "Immediate");
}

pub(super) fn default_driver(spec: &mut Object) {
    fill(spec, "attachRequired", true);
    for key in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
        fill(spec, key, false);
    }
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if list(spec, "volumeLifecycleModes").is_empty() {
        spec.insert("volumeLifecycleModes".to_owned(), vec!["Persistent"].into());
    }
}

pub(super) fn prepare_volume(volume: &mut Object) {
    let created = child(volume, "metadata").and_then(|metadata| metadata.get("creationTimestamp")).cloned();
    let Some(status) = child_mut(volume, "status") else { return };
    status.insert("phase".to_owned(), "Pending".into());
    if let Some(created) = created.filter(|time| !time.is_null()) {
        status.insert("lastPhaseTransitionTime".to_owned(), created);
    }
}

pub(super) fn prepare_volume_status(volume: &mut Object, old: &Object) {
    let (Some(status), Some(old)) = (known_mut(volume, "status"), child(old, "status")) else { return };
    let moved = text(status, "phase") != text(old, "phase");
    let time = old.get("lastPhaseTransitionTime").filter(|time| !time.is_null());
    if !moved
        && absent(status, "lastPhaseTransitionTime")
        && let Some(time) = time
    {
        status.insert("lastPhaseTransitionTime".to_owned(), time.clone());
    }
}

pub(super) fn prepare_claim(claim: &mut Object) {
    if let Some(spec) = known_mut(claim, "spec") {
        sources(spec, None);
    }
}

pub(super) fn prepare_claim_update(claim: &mut Object, old: &Object) {
    if let Some(spec) = known_mut(claim, "spec") {
        sources(spec, child(old, "spec"));
    }
}

/// What a volume is filled from has two fields: one for claims and snapshots in the same namespace, one for all.
fn sources(spec: &mut Object, old: Option<&Object>) {
    let used = |key| old.is_some_and(|old| !absent(old, key));
    let foreign = child(spec, "dataSourceRef").is_some_and(|source| !text(source, "namespace").is_empty());
    if foreign && !used("dataSourceRef") {
        spec.remove("dataSourceRef");
    }
    if !used("dataSource") && !used("dataSourceRef") && absent(spec, "dataSourceRef") {
        let known = child(spec, "dataSource").is_some_and(|source| {
            matches!(
                (text(source, "kind"), text(source, "apiGroup")),
                ("PersistentVolumeClaim", "") | ("VolumeSnapshot", "snapshot.storage.k8s.io")
            )
        });
        if !known {
            spec.remove("dataSource");
        }
    }
    let (local, any) = (child(spec, "dataSource").cloned(), child(spec, "dataSourceRef").cloned());
    match (local, any) {
        (Some(source), None) => {
            spec.insert("dataSourceRef".to_owned(), Value::Object(source));
        }
        (None, Some(mut source)) if text(&source, "namespace").is_empty() => {
            source.remove("namespace");
            spec.insert("dataSource".to_owned(), Value::Object(source));
        }
        _ => {}
    }
}

/// A field of a driver that no server has unless somebody turns it on.
pub(super) fn drop_unknown(driver: &mut Object, old: Option<&Object>) {
    const FIELD: &str = "preventPodSchedulingIfMissing";
    let used = old.and_then(|old| child(old, "spec")).is_some_and(|spec| !absent(spec, FIELD));
    if let (false, Some(spec)) = (used, known_mut(driver, "spec")) {
        spec.remove(FIELD);
    }
}

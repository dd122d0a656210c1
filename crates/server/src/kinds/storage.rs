//! Volumes, claims, and how volumes are made.

use super::read::{child_mut, fill, fill_text, list};
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

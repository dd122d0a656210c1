//! What is wrong with the volumes that a container mounts or has as devices.

use std::collections::BTreeSet;

use rolewright_core::validate::{FieldError, Path};

use super::super::check::{Errors, each_item, not_found, required, supported_if};
use super::super::read::{child, flag, items, text};
use super::super::volumes::check_descending;
use super::volumes::Volumes;
use crate::strategy::Object;

pub(super) fn check_mounts(errors: &mut Errors, container: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    let list = at.child("volumeMounts");
    let privileged = child(container, "securityContext").is_some_and(|context| flag(context, "privileged"));
    let mut seen = BTreeSet::new();
    each_item(container, "volumeMounts", at, |mount, at| {
        let (name, path) = (text(mount, "name"), text(mount, "mountPath"));
        required(errors, mount, "name", at);
        if !volumes.has(name) {
            errors.push(not_found(at.child("name"), name));
        }
        required(errors, mount, "mountPath", at);
        if !seen.insert(path) {
            errors.push(FieldError::invalid(at.child("mountPath"), path, "must be unique"));
        }
        let devices = || items(container, "volumeDevices");
        if devices().any(|device| text(device, "name") == name) {
            errors.push(FieldError::invalid(at.child("name"), name, "must not already exist in volumeDevices"));
        }
        if last_paths(devices(), "devicePath").any(|device| device == path) {
            let why = "must not already exist as a path in volumeDevices";
            errors.push(FieldError::invalid(at.child("mountPath"), path, why));
        }
        // From here on Kubernetes reports the list instead of the mount.
        let (sub, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        check_descending(errors, sub, list.child("subPath"));
        if !expression.is_empty() && !sub.is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            errors.push(FieldError::invalid(at.child("subPathExpr"), expression, why));
        }
        check_descending(errors, expression, list.child("subPathExpr"));
        let modes = ["Bidirectional", "HostToContainer", "None"];
        supported_if(errors, mount, "mountPropagation", list, &modes);
        if text(mount, "mountPropagation") == "Bidirectional" && !privileged {
            let why = "Bidirectional mount propagation is available only to privileged containers";
            errors.push(FieldError::forbidden(list.child("mountPropagation"), why));
        }
        check_read_only(errors, mount, list);
    });
}

fn check_read_only(errors: &mut Errors, mount: &Object, at: Path<'_>) {
    match text(mount, "recursiveReadOnly") {
        "Enabled" | "IfPossible" => {
            let at = at.child("recursiveReadOnly");
            if !flag(mount, "readOnly") {
                errors.push(FieldError::forbidden(at, "may only be specified when readOnly is true"));
            }
            if !matches!(text(mount, "mountPropagation"), "" | "None") {
                let why = "may only be specified when mountPropagation is None or not specified";
                errors.push(FieldError::forbidden(at, why));
            }
        }
        _ => supported_if(errors, mount, "recursiveReadOnly", at, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// Of several entries with one name, the last one counts.
fn last_paths<'a>(entries: impl Iterator<Item = &'a Object>, key: &str) -> impl Iterator<Item = &'a str> {
    let entries: std::collections::BTreeMap<&str, &str> =
        entries.map(|entry| (text(entry, "name"), text(entry, key))).collect();
    entries.into_values()
}

pub(super) fn check_devices(errors: &mut Errors, container: &Object, volumes: &Volumes<'_>, at: Path<'_>) {
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    each_item(container, "volumeDevices", at, |device, at| {
        let (name, path) = (text(device, "name"), text(device, "devicePath"));
        let invalid = |key, value: &str, why| FieldError::invalid(at.child(key), value, why);
        required(errors, device, "name", at);
        if names.contains(name) {
            errors.push(invalid("name", name, "must be unique"));
        }
        if !volumes.has(name) {
            errors.push(not_found(at.child("name"), name));
        } else if !volumes.is_claim(name) {
            let why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
            errors.push(invalid("name", name, why));
        }
        required(errors, device, "devicePath", at);
        if paths.contains(path) {
            errors.push(invalid("devicePath", path, "must be unique"));
        }
        if path.split('/').any(|step| step == "..") {
            errors.push(invalid("devicePath", path, "can not contain backsteps ('..')"));
        } else {
            paths.insert(path);
        }
        let mounts = || items(container, "volumeMounts");
        if mounts().any(|mount| text(mount, "name") == name) {
            errors.push(invalid("name", name, "must not already exist in volumeMounts"));
        }
        if last_paths(mounts(), "mountPath").any(|mount| mount == path) {
            errors.push(invalid("devicePath", path, "must not already exist as a path in volumeMounts"));
        }
        if !name.is_empty() {
            names.insert(name);
        }
    });
}

//! What is wrong with the volumes of a pod.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::validate::{FieldError, Path, labels, names};
use serde_json::Value;

use super::super::check::{Errors, each_item, json, name, one_of, read_labels, required, within};
use super::super::quantity::Quantity;
use super::super::read::{child, integer, items, text};
use super::super::storage::claim::check_claim;
use super::super::volumes::{self, check_descending, check_driver, only_source};
use super::references::{check_field_ref, check_resource_ref};
use crate::strategy::Object;

/// The volumes that containers may mount.
pub(super) struct Volumes<'a>(BTreeMap<&'a str, &'a Object>);

impl Volumes<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a container may have the device itself.
    pub(super) fn is_claim(&self, name: &str) -> bool {
        let source = |volume: &&Object| child(volume, "persistentVolumeClaim").or(child(volume, "ephemeral")).is_some();
        self.0.get(name).is_some_and(source)
    }
}

/// Whose volumes they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) is_pod: bool,
    /// Empty for a template.
    pub(super) name: &'a str,
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
pub(super) fn check_volumes<'a>(errors: &mut Errors, spec: &'a Object, pod: Owner<'_>, at: Path<'_>) -> Volumes<'a> {
    let mut found = BTreeMap::new();
    for (i, volume) in items(spec, "volumes").enumerate() {
        let at = at.index(i);
        let before = errors.len();
        let name = text(volume, "name");
        only_source(errors, volume, &SOURCES, at, |errors, kind, source, source_at| {
            check_source(errors, kind, source, pod.is_pod, source_at);
            if kind == "ephemeral" && !pod.name.is_empty() && !name.is_empty() {
                let claim = format!("{}-{name}", pod.name);
                for fault in names::dns_subdomain(&claim) {
                    let why = format!("PVC name {}: {fault}", rolewright_core::quote::Quoted(&claim));
                    errors.push(FieldError::invalid(at.child("name"), name, why));
                }
            }
        });
        required(errors, volume, "name", at);
        super::super::check::name(errors, volume, "name", at, names::dns_label);
        if found.contains_key(name) {
            errors.push(FieldError::duplicate(at.child("name"), name));
        }
        if errors.len() == before {
            found.insert(name, volume);
        }
    }
    Volumes(found)
}

fn check_source(errors: &mut Errors, kind: &str, source: &Object, is_pod: bool, at: Path<'_>) {
    match kind {
        "emptyDir" => {
            let limit = source.get("sizeLimit").and_then(Value::as_str).and_then(Quantity::parse);
            if limit.is_some_and(|limit| limit.sign().is_lt()) {
                let why = "SizeLimit field must be a valid resource quantity";
                errors.push(FieldError::forbidden(at.child("sizeLimit"), why));
            }
        }
        "secret" => check_files(errors, source, "secretName", at),
        "configMap" => check_files(errors, source, "name", at),
        "downwardAPI" => {
            check_mode(errors, source, "defaultMode", at);
            items(source, "items").for_each(|file| check_downward(errors, file, at));
        }
        "projected" => {
            check_mode(errors, source, "defaultMode", at);
            check_projected(errors, source, at);
        }
        "csi" => {
            check_driver(errors, source, "driver", at);
            within(source, "nodePublishSecretRef", at, |secret, secret_at| {
                required(errors, secret, "name", secret_at);
                name(errors, secret, "name", at, names::dns_subdomain);
            });
        }
        "ephemeral" => match child(source, "volumeClaimTemplate") {
            None => errors.push(FieldError::required(at.child("volumeClaimTemplate"), "")),
            Some(template) => check_claim_template(errors, template, at.child("volumeClaimTemplate")),
        },
        "image" => {
            if is_pod {
                required(errors, source, "reference", at);
            }
            one_of(errors, source, "pullPolicy", at, &["Always", "IfNotPresent", "Never"]);
        }
        kind => volumes::check_source(errors, kind, source, false, at),
    }
}

fn check_claim_template(errors: &mut Errors, template: &Object, at: Path<'_>) {
    let labels_of = child(template, "metadata").and_then(|metadata| child(metadata, "labels"));
    errors.extend(labels(&read_labels(labels_of), at.child("metadata").child("labels")));
    if let Some(spec) = child(template, "spec") {
        check_claim(errors, spec, at.child("spec"));
    }
}

/// Keys of a config map or secret as files.
fn check_files(errors: &mut Errors, source: &Object, name: &str, at: Path<'_>) {
    required(errors, source, name, at);
    check_mode(errors, source, "defaultMode", at);
    let keys = at.child("items");
    for (i, item) in items(source, "items").enumerate() {
        check_item(errors, item, keys.index(i));
    }
}

fn check_item(errors: &mut Errors, item: &Object, at: Path<'_>) {
    required(errors, item, "key", at);
    required(errors, item, "path", at);
    check_reserved(errors, text(item, "path"), at.child("path"));
    check_mode(errors, item, "mode", at);
}

fn check_mode(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    if let Some(mode) = integer(object, key).filter(|mode| !(0..=0o777).contains(mode)) {
        errors.push(FieldError::invalid(at.child(key), json(mode), MODE));
    }
}

/// A path below the volume that does not look like one of its own.
fn check_reserved(errors: &mut Errors, path: &str, at: Path<'_>) {
    check_descending(errors, path, at);
    if path.starts_with("..") && !path.starts_with("../") {
        errors.push(FieldError::invalid(at, path, "must not start with '..'"));
    }
}

fn check_downward(errors: &mut Errors, file: &Object, at: Path<'_>) {
    required(errors, file, "path", at);
    check_reserved(errors, text(file, "path"), at.child("path"));
    match (child(file, "fieldRef"), child(file, "resourceFieldRef")) {
        (Some(field), resource) => {
            check_field_ref(errors, field, &VOLUME_FIELDS, at.child("fieldRef"));
            if resource.is_some() {
                let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(at, "resource", why));
            }
        }
        (None, Some(resource)) => check_resource_ref(errors, resource, true, at.child("resourceFieldRef")),
        (None, None) => errors.push(FieldError::required(at, "one of fieldRef and resourceFieldRef is required")),
    }
    check_mode(errors, file, "mode", at);
}

const VOLUME_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

fn check_projected(errors: &mut Errors, volume: &Object, at: Path<'_>) {
    let mut seen = BTreeSet::new();
    each_item(volume, "sources", at, |source, source_at| {
        let mut count = 0;
        for kind in ["secret", "configMap"] {
            within(source, kind, source_at, |files, files_at| {
                count += 1;
                required(errors, files, "name", files_at);
                each_item(files, "items", files_at, |item, item_at| {
                    check_item(errors, item, item_at);
                    let path = text(item, "path");
                    if !path.is_empty() && !seen.insert(path) {
                        errors.push(FieldError::invalid(at, text(files, "name"), "conflicting duplicate paths"));
                    }
                });
            });
        }
        within(source, "downwardAPI", source_at, |files, files_at| {
            count += 1;
            for file in items(files, "items") {
                check_downward(errors, file, files_at);
                let path = text(file, "path");
                if !path.is_empty() && !seen.insert(path) {
                    errors.push(FieldError::invalid(at, path, "conflicting duplicate paths"));
                }
            }
        });
        within(source, "serviceAccountToken", source_at, |token, token_at| {
            count += 1;
            let seconds = integer(token, "expirationSeconds").unwrap_or_default();
            let why = match seconds {
                ..600 => "may not specify a duration less than 10 minutes",
                600..=0x1_0000_0000 => "",
                _ => "may not specify a duration larger than 2^32 seconds",
            };
            if !why.is_empty() {
                errors.push(FieldError::invalid(token_at.child("expirationSeconds"), json(seconds), why));
            }
            required(errors, token, "path", at);
            check_reserved(errors, text(token, "path"), at.child("path"));
        });
        if count > 1 {
            errors.push(FieldError::forbidden(source_at, "may not specify more than 1 volume type per source"));
        }
    });
}

//! What is wrong with a persistent volume, or with the attachment of one.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, amounts, each, forbid, immutable, json, name, named, node_selector, positive_amount, required,
    supported, supported_if, within,
};
use super::super::internal;
use super::super::read::{absent, child, items, items_mut, known_mut, list, text};
use super::super::semantic;
use super::super::volumes::{amounts_json, check_backsteps, check_driver, check_modes, check_source, only_source};
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
/// In the order in which Kubernetes looks at them.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub(in super::super) fn volume(object: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(spec) = child(object, "spec") {
        check_volume(&mut errors, spec, false, SPEC);
    }
    errors
}

/// `inline` for what is in an attachment.
fn check_volume(errors: &mut Errors, spec: &Object, inline: bool, at: Path<'_>) {
    const INLINE: &str = "may not be specified in the context of inline volumes";
    let given = |key| child(spec, key).is_some_and(|map| !map.is_empty());
    if inline {
        forbid(errors, spec, "claimRef", at, INLINE);
        if given("capacity") {
            errors.push(FieldError::forbidden(at.child("capacity"), INLINE));
        }
        if absent(spec, "csi") {
            errors.push(FieldError::required(at.child("csi"), "has to be specified in the context of inline volumes"));
        }
    }
    if list(spec, "accessModes").is_empty() {
        errors.push(FieldError::required(at.child("accessModes"), ""));
    }
    check_modes(errors, spec, at);
    if !inline {
        check_capacity(errors, spec, at.child("capacity"));
    }
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    let policy_at = at.child("persistentVolumeReclaimPolicy");
    match policy {
        "" => {}
        "Retain" if inline => {}
        _ if inline => {
            errors.push(FieldError::forbidden(policy_at, "may only be Retain in the context of inline volumes"));
        }
        policy => supported(errors, policy, policy_at, &["Delete", "Recycle", "Retain"]),
    }
    if inline {
        forbid(errors, spec, "nodeAffinity", at, INLINE);
    } else {
        within(spec, "nodeAffinity", at, |affinity, at| match child(affinity, "required") {
            Some(selector) => node_selector(errors, selector, at.child("required")),
            None => errors.push(FieldError::required(at.child("required"), "must specify required node constraints")),
        });
    }
    only_source(errors, spec, &SOURCES, at, |errors, kind, source, source_at| match kind {
        "local" => {
            required(errors, source, "path", source_at);
            check_backsteps(errors, text(source, "path"), source_at.child("path"));
            if inline || absent(spec, "nodeAffinity") {
                errors.push(FieldError::required(at.child("nodeAffinity"), "Local volume requires node affinity"));
            }
        }
        "csi" => check_csi(errors, source, source_at),
        kind => check_source(errors, kind, source, true, source_at),
    });
    let root = child(spec, "hostPath").is_some_and(|path| is_root(text(path, "path")));
    if root && policy == "Recycle" {
        errors.push(FieldError::forbidden(policy_at, "may not be 'recycle' for a hostPath mount of '/'"));
    }
    if inline && !text(spec, "storageClassName").is_empty() {
        errors.push(FieldError::forbidden(at.child("storageClassName"), INLINE));
    } else if !inline {
        name(errors, spec, "storageClassName", at, names::dns_subdomain);
    }
    if !inline {
        supported_if(errors, spec, "volumeMode", at, &["Block", "Filesystem"]);
    } else if !absent(spec, "volumeMode") && text(spec, "volumeMode") != "Filesystem" {
        let why = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.push(FieldError::forbidden(at.child("volumeMode"), why));
    }
    if let (false, Some(class)) = (inline, spec.get("volumeAttributesClassName").and_then(Value::as_str)) {
        let class_at = at.child("volumeAttributesClassName");
        match class {
            "" => errors.push(FieldError::required(class_at, "an empty string is disallowed")),
            class => each(errors, class_at, class, names::dns_subdomain(class)),
        }
        if absent(spec, "csi") {
            let why = "has to be specified when using volumeAttributesClassName";
            errors.push(FieldError::required(at.child("csi"), why));
        }
    }
}

/// Whether all of a path's steps lead back to its start.
fn is_root(path: &str) -> bool {
    path.starts_with('/') && path.split('/').all(|step| matches!(step, "" | "." | ".."))
}

fn check_capacity(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let capacity = child(spec, "capacity");
    if capacity.is_none_or(Object::is_empty) {
        errors.push(FieldError::required(at, ""));
    }
    if !capacity.is_some_and(|map| map.len() == 1 && map.contains_key("storage")) {
        errors.push(FieldError::not_supported(at, amounts_json(spec, "capacity"), &["storage"]));
    }
    for (name, amount) in amounts(spec, "capacity") {
        if amount.sign().is_lt() {
            let why = "must be a valid resource quantity";
            errors.push(FieldError::invalid(at.key(name), json(amount.value()), why));
        }
        positive_amount(errors, amount, at.key(name));
    }
}

fn check_csi(errors: &mut Errors, source: &Object, at: Path<'_>) {
    check_driver(errors, source, "driver", at);
    required(errors, source, "volumeHandle", at);
    for key in
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]
    {
        within(source, key, at, |secret, at| {
            named(errors, secret, "name", at, names::dns_subdomain);
            named(errors, secret, "namespace", at, names::dns_label);
        });
    }
}

fn spec_type(group: &str, kind: &str) -> Option<&'static Type> {
    match type_of(group, "v1", kind)?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    }
}

pub(in super::super) fn volume_update(object: &Object, old: &Object) -> Errors {
    let mut errors = volume(object);
    let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) else { return errors };
    let mut wanted = spec.clone();
    // A secret for growing may come later.
    if let (Some(Value::Object(new)), Some(old)) = (wanted.get_mut("csi"), child(old, "csi"))
        && absent(old, "controllerExpandSecretRef")
    {
        new.remove("controllerExpandSecretRef");
    }
    let same = |key: &&str| spec_type("", "PersistentVolume").is_none_or(|ty| semantic::same_at(ty, &wanted, old, key));
    let changed: Vec<&str> = SOURCES.into_iter().filter(|key| !same(key)).collect();
    if !changed.is_empty() {
        let shown = |spec: &Object, key: &str| spec.get(key).unwrap_or(&Value::Null).to_string();
        let lines = changed.iter().map(|key| format!("-{key}: {}\n+{key}: {}\n", shown(old, key), shown(&wanted, key)));
        let why = format!("spec.persistentvolumesource is immutable after creation\n{}", lines.collect::<String>());
        errors.push(FieldError::forbidden(SPEC.child("persistentvolumesource"), why));
    }
    immutable(&mut errors, spec, old, "volumeMode", Path::Root);
    let mut before = old.clone();
    if let (Some(new), Some(old)) = (child(spec, "nodeAffinity"), known_mut(&mut before, "nodeAffinity")) {
        rename_keys(new, old);
    }
    let ty = spec_type("", "PersistentVolume");
    if !absent(old, "nodeAffinity") && ty.is_some_and(|ty| !semantic::same_at(ty, spec, &before, "nodeAffinity")) {
        let shown = match spec.get("nodeAffinity") {
            Some(value) if !value.is_null() => {
                internal::shown("", "PersistentVolume", &["spec", "nodeAffinity"], Some(value))
            }
            _ => "null".to_owned(),
        };
        let why = format!("{IMMUTABLE}, except for updating from beta label to GA");
        errors.push(FieldError::invalid(Path::field("nodeAffinity"), json(shown), why));
    }
    if !absent(old, "volumeAttributesClassName") && absent(spec, "volumeAttributesClassName") {
        let at = SPEC.child("volumeAttributesClassName");
        errors.push(FieldError::forbidden(at, "update from non-nil value to nil is forbidden"));
    }
    errors
}

/// Labels of nodes that got other names may be called by them. Kubernetes takes no key at all for the new name of others.
fn rename_keys(new: &Object, old: &mut Object) {
    let renamed = |key: &str| match key {
        "failure-domain.beta.kubernetes.io/zone" => "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region" => "topology.kubernetes.io/region",
        "beta.kubernetes.io/os" => "kubernetes.io/os",
        "beta.kubernetes.io/arch" => "kubernetes.io/arch",
        "beta.kubernetes.io/instance-type" => "node.kubernetes.io/instance-type",
        _ => "",
    };
    let (Some(new), Some(old)) = (child(new, "required"), known_mut(old, "required")) else { return };
    for (new, old) in items(new, "nodeSelectorTerms").zip(items_mut(old, "nodeSelectorTerms")) {
        for kind in ["matchExpressions", "matchFields"] {
            for (new, old) in items(new, kind).zip(items_mut(old, kind)) {
                if text(new, "key") == renamed(text(old, "key")) {
                    old.insert("key".to_owned(), text(new, "key").into());
                }
            }
        }
    }
}

pub(in super::super) fn attachment(object: &Object) -> Errors {
    const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_driver(&mut errors, spec, "attacher", SPEC);
    let empty = Object::new();
    let source = child(spec, "source").unwrap_or(&empty);
    let volume = source.get("persistentVolumeName").and_then(Value::as_str);
    let at = SPEC.child("source");
    match (volume, child(source, "inlineVolumeSpec")) {
        (None, None) => errors.push(FieldError::required(at, ONE)),
        (Some(_), Some(_)) => errors.push(FieldError::forbidden(at, ONE)),
        (Some(""), None) => {
            let why = "must specify non empty persistentVolumeName";
            errors.push(FieldError::required(at.child("persistentVolumeName"), why));
        }
        (Some(_), None) => {}
        (None, Some(inline)) => check_volume(&mut errors, inline, true, at.child("inlineVolumeSpec")),
    }
    let node = text(spec, "nodeName");
    each(&mut errors, SPEC.child("nodeName"), node, names::dns_subdomain(node));
    if let Some(status) = child(object, "status") {
        check_attachment_status(&mut errors, status, Path::field("status"));
    }
    if let Some(volume) = volume {
        each(&mut errors, Path::field("spec.source.persistentVolumeName"), volume, names::dns_subdomain(volume));
    }
    errors
}

fn check_attachment_status(errors: &mut Errors, status: &Object, at: Path<'_>) {
    const MOST: usize = 256 * 1024;
    const LONGEST_MESSAGE: usize = 1024;
    let size = |(key, value): (&String, &Value)| key.len() + value.as_str().unwrap_or_default().len();
    if child(status, "attachmentMetadata").into_iter().flatten().map(size).sum::<usize>() > MOST {
        errors.push(FieldError::too_long(at.child("attachmentMetadata"), MOST));
    }
    for key in ["attachError", "detachError"] {
        within(status, key, at, |error, at| {
            if text(error, "message").len() > LONGEST_MESSAGE {
                errors.push(FieldError::too_long(at.child("message"), MOST));
            }
            super::super::check::between(errors, error, "errorCode", at, (0, i64::from(i32::MAX)));
        });
    }
}

pub(in super::super) fn attachment_update(object: &Object, old: &Object) -> Errors {
    let mut errors = attachment(object);
    let same =
        type_of("storage.k8s.io", "v1", "VolumeAttachment").is_none_or(|ty| semantic::same_at(ty, object, old, "spec"));
    if !same {
        errors.push(FieldError::invalid(
            SPEC,
            json(internal::shown("storage.k8s.io", "VolumeAttachment", &["spec"], object.get("spec"))),
            IMMUTABLE,
        ));
    }
    errors
}

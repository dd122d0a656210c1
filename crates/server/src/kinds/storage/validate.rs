//! What is wrong with a claim or a storage class.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{Errors, IMMUTABLE, each, immutable, map_json, name, selector, supported};
use super::super::quantity::Quantity;
use super::super::read::{below, child, list, text, texts};
use super::super::semantic;
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

pub(in super::super) fn claim(object: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(spec) = child(object, "spec") {
        check_claim(&mut errors, spec, SPEC);
    }
    errors
}

/// What a claim asks for.
pub(in super::super) fn check_claim(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let modes = at.child("accessModes");
    if list(spec, "accessModes").is_empty() {
        errors.push(FieldError::required(modes, "at least 1 access mode is required"));
    }
    selector(errors, spec, "selector", at);
    for mode in texts(spec, "accessModes") {
        supported(errors, mode, modes, &MODES);
    }
    let known = |mode: &str| MODES.contains(&mode);
    let alone = texts(spec, "accessModes").any(|mode| mode == "ReadWriteOncePod");
    if alone && texts(spec, "accessModes").any(|mode| mode != "ReadWriteOncePod" && known(mode)) {
        errors.push(FieldError::forbidden(modes, "may not use ReadWriteOncePod with other access modes"));
    }
    let resources = at.child("resources");
    let storage = resources.key("storage");
    match storage_of(spec) {
        None => errors.push(FieldError::required(storage, "")),
        Some(amount) if !amount.sign().is_gt() => {
            errors.push(FieldError::invalid(storage, amount.to_string().as_str(), "must be greater than zero"));
        }
        Some(_) => {}
    }
    name(errors, spec, "storageClassName", at, names::dns_subdomain);
    if let Some(mode) = spec.get("volumeMode").and_then(Value::as_str) {
        supported(errors, mode, at.child("volumeMode"), &["Block", "Filesystem"]);
    }
}

fn storage_of(spec: &Object) -> Option<Quantity> {
    below(spec, &["resources", "requests"])?.get("storage")?.as_str().and_then(Quantity::parse)
}

fn spec_type() -> Option<&'static Type> {
    match type_of("", "v1", "PersistentVolumeClaim")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    }
}

pub(in super::super) fn claim_update(object: &Object, old_object: &Object) -> Errors {
    let mut errors = claim(object);
    let (Some(spec), Some(old)) = (child(object, "spec"), child(old_object, "spec")) else { return errors };
    let bound = child(object, "status").is_some_and(|status| text(status, "phase") == "Bound");
    let same = |key: &str| match key {
        // Once a claim has a volume, it keeps it.
        "volumeName" if text(old, "volumeName").is_empty() => true,
        // A class may be named later.
        "storageClassName" if text(old, key).is_empty() => true,
        "resources" | "volumeAttributesClassName" if bound => true,
        key => spec_type().is_none_or(|ty| semantic::same_at(ty, spec, old, key)),
    };
    let changed: Vec<&str> =
        spec_type().into_iter().flat_map(Type::fields).map(|field| field.name).filter(|key| !same(key)).collect();
    if !changed.is_empty() {
        let shown = |spec: &Object, key: &str| spec.get(key).unwrap_or(&Value::Null).to_string();
        let lines = changed.iter().map(|key| format!("-{key}: {}\n+{key}: {}\n", shown(old, key), shown(spec, key)));
        let why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
            claims";
        errors.push(FieldError::forbidden(SPEC, format!("{why}\n{}", lines.collect::<String>())));
    }
    errors
}

pub(in super::super) fn class(class: &Object) -> Errors {
    let mut errors = Errors::new();
    match text(class, "provisioner") {
        "" => errors.push(FieldError::required(Path::field("provisioner"), "")),
        provisioner => {
            let lower = provisioner.to_lowercase();
            each(&mut errors, Path::field("provisioner"), &lower, names::label_key(&lower));
        }
    }
    let policy = text(class, "reclaimPolicy");
    if !policy.is_empty() {
        supported(&mut errors, policy, Path::field("reclaimPolicy"), &["Delete", "Retain"]);
    }
    let known = ["Immediate", "WaitForFirstConsumer"];
    supported(&mut errors, text(class, "volumeBindingMode"), Path::field("volumeBindingMode"), &known);
    errors
}

pub(in super::super) fn class_update(class: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let parameters = |class: &Object| child(class, "parameters").filter(|map| !map.is_empty()).cloned();
    if parameters(class) != parameters(old) {
        let shown = map_json(child(class, "parameters"));
        errors.push(FieldError::invalid(Path::field("parameters"), shown, IMMUTABLE));
    }
    let provisioner = text(class, "provisioner");
    if provisioner != text(old, "provisioner") {
        errors.push(FieldError::invalid(Path::field("provisioner"), provisioner, IMMUTABLE));
    }
    immutable(&mut errors, class, old, "reclaimPolicy", Path::Root);
    immutable(&mut errors, class, old, "volumeBindingMode", Path::Root);
    errors
}

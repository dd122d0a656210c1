//! What is wrong with a claim.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, amounts, immutable, json, name, positive_amount, required, resource_amount, selector, supported_if, within,
};
use super::super::quantity::Quantity;
use super::super::read::{absent, below, child, list, text};
use super::super::semantic;
use super::super::volumes::check_modes;
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

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
    check_modes(errors, spec, at);
    let resources = at.child("resources");
    let storage = resources.key("storage");
    match storage_of(spec) {
        None => errors.push(FieldError::required(storage, "")),
        Some(amount) => positive_amount(errors, amount, storage),
    }
    name(errors, spec, "storageClassName", at, names::dns_subdomain);
    supported_if(errors, spec, "volumeMode", at, &["Block", "Filesystem"]);
    for key in ["dataSource", "dataSourceRef"] {
        within(spec, key, at, |source, at| check_data_source(errors, source, at));
    }
    if let (Some(local), Some(any)) = (child(spec, "dataSource"), child(spec, "dataSourceRef")) {
        let source = |source: &Object| ["apiGroup", "kind", "name"].map(|key| text(source, key).to_owned());
        let why = if !text(any, "namespace").is_empty() {
            "may not be specified when dataSourceRef.namespace is specified"
        } else if source(local) != source(any) {
            "must match dataSourceRef"
        } else {
            ""
        };
        if !why.is_empty() {
            // Kubernetes shows a path here, which has no members.
            errors.push(FieldError::invalid(at, json("{}"), why));
        }
    }
    name(errors, spec, "volumeAttributesClassName", at, names::dns_subdomain);
}

/// What a volume is filled from.
fn check_data_source(errors: &mut Errors, source: &Object, at: Path<'_>) {
    required(errors, source, "name", at);
    required(errors, source, "kind", at);
    if text(source, "apiGroup").is_empty() && text(source, "kind") != "PersistentVolumeClaim" {
        let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(FieldError::invalid(at, text(source, "kind"), why));
    }
    name(errors, source, "apiGroup", at, names::dns_subdomain);
    name(errors, source, "namespace", at, names::dns_label);
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
    check_shrinking(&mut errors, spec, old, old_object);
    // The path lacks its beginning there too.
    immutable(&mut errors, spec, old, "volumeMode", Path::Root);
    let class = spec.get("volumeAttributesClassName").and_then(Value::as_str);
    let in_use = child(old_object, "status").is_some_and(|status| !absent(status, "currentVolumeAttributesClassName"));
    if in_use && class != old.get("volumeAttributesClassName").and_then(Value::as_str) {
        let to = match class {
            None => "nil",
            Some("") => "empty string",
            Some(_) => return errors,
        };
        let why = format!("update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil");
        errors.push(FieldError::forbidden(SPEC.child("volumeAttributesClassName"), why));
    }
    errors
}

/// A claim may ask for less than before, but for more than it has.
fn check_shrinking(errors: &mut Errors, spec: &Object, old: &Object, old_object: &Object) {
    const NONE: Quantity = Quantity::NONE;
    let has = below(old_object, &["status"])
        .and_then(|status| amounts(status, "capacity").find(|(name, _)| *name == "storage"));
    let has = has.map_or(NONE, |(_, amount)| amount);
    let (now, before) = (storage_of(spec).unwrap_or(NONE), storage_of(old).unwrap_or(NONE));
    if now.compare(before).is_lt() && !now.compare(has).is_gt() {
        let requests = SPEC.child("resources");
        let requests = requests.child("requests");
        errors.push(FieldError::forbidden(requests.child("storage"), "field can not be less than status.capacity"));
    }
}

const RESIZING: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

pub(in super::super) fn claim_status(object: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(status) = child(object, "status") else { return errors };
    let at = Path::field("status");
    for (name, amount) in amounts(status, "capacity") {
        basic(&mut errors, amount, at.child("capacity").key(name));
    }
    let states = at.child("allocatedResourceStatuses");
    for (name, state) in child(status, "allocatedResourceStatuses").into_iter().flatten() {
        check_key(&mut errors, name, states);
        if !RESIZING.contains(&state.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(states, json(Value::from(name.as_str())), &RESIZING));
        }
    }
    let allocated = at.child("allocatedResources");
    for (name, amount) in amounts(status, "allocatedResources") {
        let before = errors.len();
        check_key(&mut errors, name, allocated);
        if errors.len() == before {
            basic(&mut errors, amount, allocated.key(name));
        }
        if errors.len() == before {
            resource_amount(&mut errors, "storage", amount, allocated.key(name));
        }
    }
    errors
}

fn basic(errors: &mut Errors, amount: Quantity, at: Path<'_>) {
    if amount.sign().is_lt() {
        errors.push(FieldError::invalid(at, json(amount.value()), "must be a valid resource quantity"));
    }
}

fn check_key(errors: &mut Errors, key: &str, at: Path<'_>) {
    let faults = names::label_key(key);
    if faults.is_empty() && super::super::check::is_native(key) && key != "storage" {
        errors.push(FieldError::not_supported(at, key, &["storage"]));
    }
    super::super::check::each(errors, at, key, faults);
}

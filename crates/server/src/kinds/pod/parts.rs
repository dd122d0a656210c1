//! The parts of a pod that have a subresource: containers for debugging, and how much the others may use.

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::Errors;
use super::super::read::{below, child, child_mut, items, items_mut, list, text};
use super::super::semantic;
use super::resources::qos_class;
use super::validate::check_pod;
use crate::facts::{Ty, Type, type_of};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const KINDS: [&str; 2] = ["containers", "initContainers"];

fn replace(object: &mut Object, key: &str, value: Option<Value>) {
    match value {
        Some(value) => object.insert(key.to_owned(), value),
        None => object.remove(key),
    };
}

pub(in super::super) fn take_ephemeral(pod: &mut Object, old: &Object) {
    let containers = child(pod, "spec").and_then(|spec| spec.get("ephemeralContainers")).cloned();
    replace(pod, "spec", old.get("spec").cloned());
    if let Some(spec) = child_mut(pod, "spec") {
        replace(spec, "ephemeralContainers", containers);
    }
}

pub(in super::super) fn validate_ephemeral(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    check_pod(&mut errors, pod, SPEC);
    let (Some(new), Some(old)) = (child(pod, "spec"), child(old, "spec")) else { return errors };
    let at = SPEC.child("ephemeralContainers");
    for before in items(old, "ephemeralContainers") {
        let name = Quoted(text(before, "name"));
        let now = items(new, "ephemeralContainers").filter(|now| text(now, "name") == text(before, "name")).last();
        let why = match now {
            None => format!("existing ephemeral containers {name} may not be removed\n"),
            Some(now) if now != before => format!(
                "existing ephemeral containers {name} may not be changed\n-{}\n+{}\n",
                Value::Object(before.clone()),
                Value::Object(now.clone())
            ),
            Some(_) => continue,
        };
        errors.push(FieldError::forbidden(at, why));
    }
    errors
}

pub(in super::super) fn take_resources(pod: &mut Object, old: &Object) {
    let (Some(new), Some(before)) = (child(pod, "spec"), child(old, "spec")) else { return };
    if KINDS.iter().any(|kind| list(new, kind).len() != list(before, kind).len()) {
        // What is wrong with that is told later.
        return;
    }
    let mut spec = before.clone();
    for kind in KINDS {
        let same = items(new, kind).zip(items(before, kind)).all(|(new, old)| text(new, "name") == text(old, "name"));
        if !same {
            replace(&mut spec, kind, new.get(kind).cloned());
            continue;
        }
        for (container, new) in items_mut(&mut spec, kind).zip(items(new, kind)) {
            replace(container, "resources", new.get("resources").cloned());
            replace(container, "resizePolicy", new.get("resizePolicy").cloned());
        }
    }
    replace(&mut spec, "resources", new.get("resources").cloned());
    pod.insert("spec".to_owned(), spec.into());
}

fn types() -> Option<(&'static Type, &'static Type)> {
    let Ty::Ref(spec) = type_of("", "v1", "Pod")?.field("spec")?.ty else { return None };
    match spec.field("containers")?.ty {
        Ty::List(Ty::Ref(container)) => Some((spec, container)),
        _ => None,
    }
}

pub(in super::super) fn validate_resize(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    check_pod(&mut errors, pod, SPEC);
    let (Some(new), Some(before)) = (child(pod, "spec"), child(old, "spec")) else { return errors };
    if child(before, "os").is_some_and(|os| text(os, "name") == "windows") {
        return vec![FieldError::forbidden(Path::Field(&Path::Root, ""), "windows pods cannot be resized")];
    }
    let class = below(old, &["status"]).map(|status| text(status, "qosClass")).unwrap_or_default();
    let class = if class.is_empty() { qos_class(before) } else { class };
    if class != qos_class(new) {
        let shown = below(pod, &["status"]).map(|status| text(status, "qosClass")).unwrap_or_default();
        let why = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid(SPEC, BadValue::typed_text(shown), why));
    }
    let running = |status: &&Object| below(status, &["state", "running"]).is_some();
    let statuses = child(old, "status").into_iter().flat_map(|status| items(status, "containerStatuses"));
    if statuses.into_iter().find(running).is_some_and(|status| child(status, "resources").is_none()) {
        errors.push(FieldError::forbidden(SPEC, "Pod running on node without support for resize"));
    }
    check_whole(&mut errors, new, before);
    let ordered = errors.len();
    check_order(&mut errors, new, before);
    if errors.len() > ordered {
        return errors;
    }
    check_removed(&mut errors, new, before);
    check_others(&mut errors, new, before);
    errors
}

/// Resources of the pod as a whole.
fn check_whole(errors: &mut Errors, new: &Object, old: &Object) {
    let given = |spec: &Object| {
        let all = child(spec, "resources");
        all.is_some_and(|all| {
            ["requests", "limits"].iter().any(|key| child(all, key).is_some_and(|map| !map.is_empty()))
        })
    };
    if !given(new) && !given(old) {
        return;
    }
    let at = SPEC.child("resources");
    let before = child(old, "resources");
    if before.is_some() && child(new, "resources").is_none() {
        errors.push(FieldError::forbidden(at, "pod-level resources cannot be removed"));
        return;
    }
    for key in ["requests", "limits"] {
        if before.is_some() && removed(new, old, key) {
            errors.push(FieldError::forbidden(at.child(key), format!("pod-level resource {key} cannot be removed")));
        }
    }
    let mut wanted = new.clone();
    take_measured(&mut wanted, old, true);
    let rest = child(&wanted, "resources").is_some_and(|all| all.values().any(|part| part != &serde_json::json!({})));
    if before.is_none() && !rest {
        wanted.remove("resources");
    }
    if types().is_some_and(|(spec, _)| !semantic::same_at(spec, &wanted, old, "resources")) {
        errors.push(FieldError::forbidden(SPEC, "only cpu and memory resources are mutable at pod-level"));
    }
}

/// Whether a resource is no longer named.
fn removed(new: &Object, old: &Object, key: &str) -> bool {
    let keys = |object: &Object| -> Vec<String> {
        below(object, &["resources", key]).into_iter().flat_map(Object::keys).cloned().collect()
    };
    let now = keys(new);
    keys(old).iter().any(|name| !now.contains(name))
}

fn check_order(errors: &mut Errors, new: &Object, old: &Object) {
    for kind in KINDS {
        let at = SPEC.child(kind);
        if list(new, kind).len() != list(old, kind).len() {
            errors.push(FieldError::forbidden(at, format!("{kind} may not be added or removed on resize")));
            continue;
        }
        for (i, (new, old)) in items(new, kind).zip(items(old, kind)).enumerate() {
            if text(new, "name") != text(old, "name") {
                let at = at.index(i);
                let why = format!("{kind} may not be renamed or reordered on resize");
                errors.push(FieldError::forbidden(at.child("name"), why));
            }
        }
    }
}

fn is_sidecar(container: &Object) -> bool {
    text(container, "restartPolicy") == "Always"
}

fn check_removed(errors: &mut Errors, new: &Object, old: &Object) {
    for kind in ["initContainers", "containers"] {
        for (i, (new, old)) in items(new, kind).zip(items(old, kind)).enumerate() {
            if kind == "initContainers" && !is_sidecar(old) {
                continue;
            }
            let list = SPEC.child(kind);
            let container = list.index(i);
            let at = container.child("resources");
            for key in ["requests", "limits"] {
                if removed(new, old, key) {
                    errors.push(FieldError::forbidden(at.child(key), format!("resource {key} cannot be removed")));
                }
            }
        }
    }
}

/// Anything but processors and memory stays.
fn check_others(errors: &mut Errors, new: &Object, old: &Object) {
    const ONLY: &str = "only cpu and memory resources are mutable";
    let Some((spec_type, container_type)) = types() else { return };
    let before = errors.len();
    let same = |new: &Object, old: &Object| {
        container_type.fields().all(|field| semantic::same_at(container_type, new, old, field.name))
    };
    let mut wanted = new.clone();
    for kind in KINDS {
        let list = SPEC.child(kind);
        for (i, (container, old)) in items_mut(&mut wanted, kind).zip(items(old, kind)).enumerate() {
            if kind == "initContainers" && !is_sidecar(container) {
                if !same(container, old) {
                    let why = "resources for non-sidecar init containers are immutable";
                    errors.push(FieldError::forbidden(SPEC, why));
                }
                continue;
            }
            take_measured(container, old, false);
            if !same(container, old) && kind == "containers" {
                errors.push(FieldError::forbidden(SPEC, ONLY));
            } else if !same(container, old) {
                let why = "only cpu and memory resources for init or sidecar containers are mutable";
                errors.push(FieldError::forbidden(list.index(i), why));
            }
        }
    }
    if errors.len() > before {
        return;
    }
    let same = |key: &str| key == "resources" || semantic::same_at(spec_type, &wanted, old, key);
    if !spec_type.fields().all(|field| same(field.name)) {
        errors.push(FieldError::forbidden(SPEC, ONLY));
    }
}

/// Amounts that may change, as they were.
fn take_measured(container: &mut Object, old: &Object, whole: bool) {
    let Some(resources) = child_mut(container, "resources") else { return };
    if !whole {
        resources.remove("claims");
    }
    for key in ["limits", "requests"] {
        let before = below(old, &["resources", key]);
        if before.is_none() && child(resources, key).is_none() {
            continue;
        }
        let Some(amounts) = child_mut(resources, key) else { continue };
        for name in ["cpu", "memory"] {
            replace(amounts, name, before.and_then(|before| before.get(name)).cloned());
        }
    }
}

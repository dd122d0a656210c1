//! What is wrong with a change of a pod.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::Value;

use super::super::check::{Errors, each_item, json, required};
use super::super::internal;
use super::super::read::{absent, child, child_mut, integer, items, items_mut, list, text};
use super::super::semantic;
use super::containers::check_image;
use super::scheduling::check_tolerations;
use super::validate::check_pod;
use crate::facts::{Ty, type_of};
use crate::strategy::Object;

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
    set to 1 if it was previously negative)";

pub(in super::super) fn validate_update(pod: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let (Some(new), Some(old)) = (child(pod, "spec"), child(old, "spec")) else { return errors };
    let at = Path::field("spec");
    check_pod(&mut errors, pod, at);
    for kind in ["containers", "initContainers"] {
        if list(new, kind).len() != list(old, kind).len() {
            // Kubernetes has found out by then that the others are not the same either.
            let why = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(at.child(kind), why));
            return errors;
        }
        for (i, container) in items(new, kind).enumerate() {
            let containers = at.child(kind);
            let at = containers.index(i);
            required(&mut errors, container, "image", at);
            check_image(&mut errors, container, at);
        }
    }
    if !check_deadline(&mut errors, new, old, at) {
        return errors;
    }
    check_added_tolerations(&mut errors, new, old, at);
    check_removed_gates(&mut errors, new, old, at);
    let mut wanted = new.clone();
    for key in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        match old.get(key) {
            Some(value) => wanted.insert(key.to_owned(), value.clone()),
            None => wanted.remove(key),
        };
    }
    for kind in ["containers", "initContainers"] {
        let images: Vec<Option<Value>> = items(old, kind).map(|container| container.get("image").cloned()).collect();
        for (container, image) in items_mut(&mut wanted, kind).zip(images) {
            container.insert("image".to_owned(), image.unwrap_or_default());
        }
    }
    if integer(old, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0)
        && integer(new, "terminationGracePeriodSeconds") == Some(1)
    {
        wanted.extend(
            old.get_key_value("terminationGracePeriodSeconds").map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    if !list(old, "schedulingGates").is_empty() {
        check_gated(&mut errors, &mut wanted, old, at);
    }
    let spec = type_of("", "v1", "PodSpec").or_else(|| match type_of("", "v1", "Pod")?.field("spec")?.ty {
        Ty::Ref(spec) => Some(spec),
        _ => None,
    });
    let changed: Vec<&str> = spec
        .into_iter()
        .flat_map(crate::facts::Type::fields)
        .map(|field| field.name)
        .filter(|key| spec.is_some_and(|spec| !semantic::same_at(spec, &wanted, old, key)))
        .collect();
    if !changed.is_empty() {
        let shown = |spec: &Object, key: &str| spec.get(key).unwrap_or(&Value::Null).to_string();
        let lines = changed.iter().map(|key| format!("-{key}: {}\n+{key}: {}\n", shown(old, key), shown(&wanted, key)));
        let why = format!("pod updates may not change fields other than {UPDATABLE}\n{}", lines.collect::<String>());
        errors.push(FieldError::forbidden(at, why));
    }
    errors
}

/// How long a pod may run can only become shorter. Whether it makes sense to look further.
fn check_deadline(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) -> bool {
    let at = at.child("activeDeadlineSeconds");
    let before = integer(old, "activeDeadlineSeconds");
    match integer(new, "activeDeadlineSeconds") {
        Some(now) if !(0..=i64::from(i32::MAX)).contains(&now) => {
            errors.push(FieldError::invalid(at, json(now), "must be between 0 and 2147483647, inclusive"));
            return false;
        }
        Some(now) if before.is_some_and(|before| before < now) => {
            errors.push(FieldError::invalid(at, json(now), "must be less than or equal to previous value"));
            return false;
        }
        None if before.is_some() => {
            let why = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(at, BadValue::null(), why));
        }
        _ => {}
    }
    true
}

fn check_added_tolerations(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let key = |toleration: &Object| ["key", "operator", "value", "effect"].map(|key| text(toleration, key).to_owned());
    let kept = |old: &Object| items(new, "tolerations").any(|new| key(new) == key(old));
    if items(old, "tolerations").all(kept) {
        check_tolerations(errors, new, at);
    } else {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        errors.push(FieldError::forbidden(at.child("tolerations"), why));
    }
}

fn check_removed_gates(errors: &mut Errors, new: &Object, old: &Object, at: Path<'_>) {
    let known = |gate: &str| items(old, "schedulingGates").any(|old| text(old, "name") == gate);
    each_item(new, "schedulingGates", at, |gate, at| {
        let gate = text(gate, "name");
        if !known(gate) {
            let why = format!("only deletion is allowed, but found new scheduling gate '{gate}'");
            errors.push(FieldError::forbidden(at.child("name"), why));
        }
    });
}

/// A pod that is not to be scheduled yet may still become more choosy about nodes.
fn check_gated(errors: &mut Errors, wanted: &mut Object, old: &Object, at: Path<'_>) {
    let labels = |spec: &Object| child(spec, "nodeSelector").cloned().unwrap_or_default();
    let (now, before) = (labels(wanted), labels(old));
    if now != before {
        let kept = before.iter().all(|(key, value)| now.get(key) == Some(value));
        if !kept {
            let shown = json(Value::Object(now));
            let why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            errors.push(FieldError::invalid(at.child("nodeSelector"), shown, why));
        }
        put(wanted, "nodeSelector", old.get("nodeSelector"));
    }
    let nodes = |spec: &Object| child(spec, "affinity").and_then(|all| all.get("nodeAffinity")).cloned();
    let (now, before) = (nodes(wanted), nodes(old));
    if now == before {
        return;
    }
    let affinity = at.child("affinity");
    check_narrower(errors, now.as_ref(), before.as_ref(), affinity.child("nodeAffinity"));
    let emptied = child(wanted, "affinity").is_some_and(|all| {
        child(old, "affinity").is_none() && absent(all, "podAffinity") && absent(all, "podAntiAffinity")
    });
    if emptied {
        wanted.remove("affinity");
    } else if (child(wanted, "affinity").is_some() || before.is_some())
        && let Some(all) = child_mut(wanted, "affinity")
    {
        put(all, "nodeAffinity", before.as_ref());
    }
}

fn put(object: &mut Object, key: &str, value: Option<&Value>) {
    match value {
        Some(value) => object.insert(key.to_owned(), value.clone()),
        None => object.remove(key),
    };
}

/// Terms may ask for more of a node than before, and each node that met them still must.
fn check_narrower(errors: &mut Errors, new: Option<&Value>, old: Option<&Value>, at: Path<'_>) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = |affinity: Option<&Value>| -> Vec<Value> {
        let required = affinity.and_then(Value::as_object).and_then(|affinity| child(affinity, REQUIRED));
        required.map(|required| list(required, "nodeSelectorTerms").to_vec()).unwrap_or_default()
    };
    let (new, old) = (terms(new), terms(old));
    let required = at.child(REQUIRED);
    let at = required.child("nodeSelectorTerms");
    let path = ["spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"];
    let shown = |term: &Value| internal::shown("", "Pod", &path, Some(term));
    if !old.is_empty() && old.len() != new.len() {
        let all: Vec<String> = new.iter().map(shown).collect();
        let all = if new.is_empty() { "null".to_owned() } else { format!("[{}]", all.join(",")) };
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(FieldError::invalid(at, json(all), why));
        return;
    }
    for (i, (new_term, old_term)) in new.iter().zip(&old).enumerate() {
        let rules = |term: &Value, key: &str| term.as_object().map(|term| list(term, key).to_vec()).unwrap_or_default();
        let kinds = ["matchExpressions", "matchFields"];
        let was_empty = kinds.iter().all(|key| rules(old_term, key).is_empty());
        let grew = kinds.iter().all(|key| rules(new_term, key).starts_with(&rules(old_term, key)));
        if !grew || was_empty && kinds.iter().any(|key| !rules(new_term, key).is_empty()) {
            let why = "only additions are allowed (no mutations or deletions)";
            errors.push(FieldError::invalid(at.index(i), json(shown(new_term)), why));
        }
    }
}

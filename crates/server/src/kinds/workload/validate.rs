//! What is wrong with a controller of pods.

use rolewright_core::validate::{BadValue, FieldError, IllegalValues, Path, label_selector};
use serde_json::Value;

use super::super::check::{
    Errors, chooses, immutable_selector, json, map_json, not_negative, read_selector, selector_json,
};
use super::super::pod::validate::{check_lasting, check_lasting_template, check_template};
use super::super::read::{below, child, integer, items, list, text};
use super::super::storage::claim::check_claim;
use super::replacing::{check_daemon_strategy, check_set_strategy, check_strategy};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const NO_MATCH: &str = "`selector` does not match template `labels`";

fn with_spec(object: &Object, check: fn(&mut Errors, &Object)) -> Errors {
    let mut errors = Errors::new();
    if let Some(spec) = child(object, "spec") {
        check(&mut errors, spec);
    }
    errors
}

fn with_specs(object: &Object, old: &Object, check: fn(&mut Errors, &Object, &Object)) -> Errors {
    let mut errors = Errors::new();
    if let (Some(spec), Some(old)) = (child(object, "spec"), child(old, "spec")) {
        check(&mut errors, spec, old);
    }
    errors
}

pub(in super::super) fn deployment(object: &Object) -> Errors {
    with_spec(object, check_deployment)
}

pub(in super::super) fn deployment_update(object: &Object, old: &Object) -> Errors {
    with_specs(object, old, |errors, spec, old| {
        check_deployment(errors, spec);
        immutable_selector(errors, spec, old, SPEC);
    })
}

pub(in super::super) fn replica_set(object: &Object) -> Errors {
    with_spec(object, check_replica_set)
}

pub(in super::super) fn replica_set_update(object: &Object, old: &Object) -> Errors {
    with_specs(object, old, |errors, spec, old| {
        check_replica_set(errors, spec);
        immutable_selector(errors, spec, old, SPEC);
    })
}

pub(in super::super) fn daemon_set(object: &Object) -> Errors {
    with_spec(object, check_daemon_set)
}

pub(in super::super) fn daemon_set_update(object: &Object, old: &Object) -> Errors {
    with_specs(object, old, |errors, spec, old| {
        immutable_selector(errors, spec, old, SPEC);
        check_daemon_set(errors, spec);
    })
}

pub(in super::super) fn stateful_set(object: &Object) -> Errors {
    with_spec(object, |errors, spec| check_stateful_set(errors, spec, true))
}

pub(in super::super) fn stateful_set_update(object: &Object, old: &Object) -> Errors {
    with_specs(object, old, |errors, spec, old| {
        check_stateful_set(errors, spec, false);
        let same = ["serviceName", "podManagementPolicy"].iter().all(|key| text(spec, key) == text(old, key))
            && list(spec, "volumeClaimTemplates") == list(old, "volumeClaimTemplates");
        if !same || selector_json(child(spec, "selector")) != selector_json(child(old, "selector")) {
            let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' \
                are forbidden";
            errors.push(FieldError::forbidden(SPEC, why));
        }
    })
}

pub(in super::super) fn replication_controller(object: &Object) -> Errors {
    with_spec(object, check_replication_controller)
}

pub(in super::super) fn replication_controller_update(object: &Object, _: &Object) -> Errors {
    replication_controller(object)
}

pub(in super::super) fn pod_template(object: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(template) = child(object, "template") {
        check_template(&mut errors, template, Path::field("template"));
    }
    errors
}

/// A selector that must be there and choose something.
fn check_selector(errors: &mut Errors, spec: &Object, empty: &str) {
    let at = SPEC.child("selector");
    let Some(selector) = child(spec, "selector") else {
        errors.push(FieldError::required(at, ""));
        return;
    };
    errors.extend(label_selector(&read_selector(selector), IllegalValues::Refuse, at));
    if is_empty(selector) {
        errors.push(FieldError::invalid(at, json(selector_json(Some(selector))), empty));
    }
}

fn is_empty(selector: &Object) -> bool {
    child(selector, "matchLabels").is_none_or(Object::is_empty) && list(selector, "matchExpressions").is_empty()
}

/// The template, where the selector can be used at all.
fn check_selected_template(
    errors: &mut Errors,
    spec: &Object,
    unusable: &str,
    check: fn(&mut Errors, &Object, Path<'_>),
) {
    let Some(template) = child(spec, "template") else { return };
    let at = SPEC.child("template");
    let labels = below(template, &["metadata", "labels"]);
    match child(spec, "selector").map(|selector| (selector, chooses(selector, labels))) {
        Some((selector, None)) => {
            let shown = json(selector_json(Some(selector)));
            errors.push(FieldError::invalid(SPEC.child("selector"), shown, unusable));
            return;
        }
        // A selector that is not there chooses nothing.
        None | Some((_, Some(false))) => mismatch(errors, labels, at),
        Some((_, Some(true))) => {}
    }
    check(errors, template, at);
}

fn mismatch(errors: &mut Errors, labels: Option<&Object>, at: Path<'_>) {
    let metadata = at.child("metadata");
    errors.push(FieldError::invalid(metadata.child("labels"), map_json(labels), NO_MATCH));
}

fn check_deployment(errors: &mut Errors, spec: &Object) {
    not_negative(errors, spec, "replicas", SPEC);
    check_selector(errors, spec, "empty selector is invalid for deployment");
    check_selected_template(errors, spec, "invalid label selector", |errors, template, at| {
        check_lasting_template(errors, template, "ReplicaSet", at);
    });
    if let Some(strategy) = child(spec, "strategy") {
        check_strategy(errors, strategy, SPEC.child("strategy"));
    }
    not_negative(errors, spec, "minReadySeconds", SPEC);
    not_negative(errors, spec, "revisionHistoryLimit", SPEC);
    not_negative(errors, spec, "progressDeadlineSeconds", SPEC);
    let ready = integer(spec, "minReadySeconds").unwrap_or_default();
    if let Some(deadline) = integer(spec, "progressDeadlineSeconds").filter(|deadline| *deadline <= ready) {
        let at = SPEC.child("progressDeadlineSeconds");
        errors.push(FieldError::invalid(at, json(deadline), "must be greater than minReadySeconds"));
    }
}

fn check_replica_set(errors: &mut Errors, spec: &Object) {
    not_negative(errors, spec, "replicas", SPEC);
    not_negative(errors, spec, "minReadySeconds", SPEC);
    check_selector(errors, spec, "empty selector is invalid for deployment");
    check_selected_template(errors, spec, "invalid label selector", |errors, template, at| {
        check_lasting_template(errors, template, "ReplicaSet", at);
    });
}

fn check_daemon_set(errors: &mut Errors, spec: &Object) {
    super::super::check::selector(errors, spec, "selector", SPEC);
    let Some(template) = child(spec, "template") else { return };
    let at = SPEC.child("template");
    let labels = below(template, &["metadata", "labels"]);
    let selector = child(spec, "selector");
    if selector.is_none_or(|selector| chooses(selector, labels) == Some(false)) {
        mismatch(errors, labels, at);
    }
    if let Some(selector) = selector.filter(|selector| is_empty(selector)) {
        let shown = json(selector_json(Some(selector)));
        errors.push(FieldError::invalid(SPEC.child("selector"), shown, "empty selector is invalid for daemonset"));
    }
    check_lasting_template(errors, template, "DaemonSet", at);
    not_negative(errors, spec, "minReadySeconds", SPEC);
    if let Some(strategy) = child(spec, "updateStrategy") {
        check_daemon_strategy(errors, strategy, SPEC.child("updateStrategy"));
    }
    not_negative(errors, spec, "revisionHistoryLimit", SPEC);
}

fn check_stateful_set(errors: &mut Errors, spec: &Object, new: bool) {
    let policy = text(spec, "podManagementPolicy");
    if !matches!(policy, "OrderedReady" | "Parallel") {
        let why = "must be 'OrderedReady' or 'Parallel'";
        errors.push(FieldError::invalid(SPEC.child("podManagementPolicy"), BadValue::typed_text(policy), why));
    }
    if let Some(strategy) = child(spec, "updateStrategy") {
        check_set_strategy(errors, strategy, SPEC.child("updateStrategy"));
    }
    if let Some(retention) = child(spec, "persistentVolumeClaimRetentionPolicy") {
        let at = SPEC.child("persistentVolumeClaimRetentionPolicy");
        for key in ["whenDeleted", "whenScaled"] {
            super::super::check::supported(errors, text(retention, key), at.child(key), &["Retain", "Delete"]);
        }
    }
    if new {
        let templates = SPEC.child("volumeClaimTemplates");
        for (i, claim) in items(spec, "volumeClaimTemplates").enumerate() {
            if let Some(claim) = child(claim, "spec") {
                let at = templates.index(i);
                check_claim(errors, claim, at.child("spec"));
            }
        }
    }
    not_negative(errors, spec, "replicas", SPEC);
    not_negative(errors, spec, "minReadySeconds", SPEC);
    if let Some(ordinals) = child(spec, "ordinals") {
        not_negative(errors, ordinals, "start", SPEC.child("ordinals"));
    }
    if new {
        let form = rolewright_core::validate::names::dns_label;
        super::super::check::name(errors, spec, "serviceName", SPEC, form);
    }
    check_selector(errors, spec, "empty selector is invalid for statefulset");
    let mut with_claims = spec.clone();
    add_claims(&mut with_claims, spec);
    check_selected_template(errors, &with_claims, "", check_template);
    if let Some(template) = child(spec, "template") {
        check_lasting(errors, template, "StatefulSet", SPEC.child("template"));
    }
}

/// The controller adds a volume for each claim and names the pods, so neither can be at fault.
fn add_claims(to: &mut Object, spec: &Object) {
    let claim_name = |claim: &Object| child(claim, "metadata").map(|metadata| text(metadata, "name").to_owned());
    let claims: Vec<String> = items(spec, "volumeClaimTemplates").filter_map(claim_name).collect();
    let Some(pod) = super::below_mut(to, &["template", "spec"]) else { return };
    pod.remove("hostname");
    pod.remove("subdomain");
    let own: Vec<Value> = list(pod, "volumes")
        .iter()
        .filter(|volume| {
            volume.as_object().is_some_and(|volume| !claims.iter().any(|claim| claim == text(volume, "name")))
        })
        .cloned()
        .collect();
    let mut volumes: Vec<Value> = claims
        .iter()
        .map(|claim| serde_json::json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}}))
        .collect();
    volumes.dedup();
    volumes.extend(own);
    pod.insert("volumes".to_owned(), volumes.into());
}

fn check_replication_controller(errors: &mut Errors, spec: &Object) {
    not_negative(errors, spec, "minReadySeconds", SPEC);
    let selector = child(spec, "selector").filter(|selector| !selector.is_empty());
    if selector.is_none() {
        errors.push(FieldError::required(SPEC.child("selector"), ""));
    }
    not_negative(errors, spec, "replicas", SPEC);
    let at = SPEC.child("template");
    let Some(template) = child(spec, "template") else {
        errors.push(FieldError::required(at, ""));
        return;
    };
    let labels = below(template, &["metadata", "labels"]);
    let chosen = |selector: &Object| {
        selector.iter().all(|(key, value)| labels.is_some_and(|labels| labels.get(key) == Some(value)))
    };
    if selector.is_some_and(|selector| !chosen(selector)) {
        mismatch(errors, labels, at);
    }
    check_lasting_template(errors, template, "ReplicationController", at);
}

//! Controllers of pods: deployments, replica sets, stateful sets, daemon sets and replication controllers.

mod replacing;
pub(super) mod status;
pub(super) mod validate;

use serde_json::Value;

use super::pod::prepare::template;
use super::read::{absent, below, below_mut, child, child_mut, fill, fill_text, items_mut, known_mut, text};
use super::semantic;
use crate::facts::{Ty, type_of};
use crate::strategy::Object;

/// Where the internal `templateGeneration` of a daemon set is seen.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
/// Where the internal `rollbackTo` of a deployment is seen.
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

pub(super) fn default_deployment(deployment: &mut Object) {
    if let Some(metadata) = known_mut(deployment, "metadata") {
        canonical_rollback(metadata);
    }
    let Some(spec) = child_mut(deployment, "spec") else { return };
    fill(spec, "replicas", 1);
    if let Some(strategy) = child_mut(spec, "strategy") {
        fill_text(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = child_mut(strategy, "rollingUpdate")
        {
            fill(rolling, "maxUnavailable", "25%");
            fill(rolling, "maxSurge", "25%");
        }
        zero_limits(strategy);
    }
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
}

/// The internal version has no way to leave these out.
fn zero_limits(strategy: &mut Object) {
    if let Some(rolling) = known_mut(strategy, "rollingUpdate") {
        fill(rolling, "maxUnavailable", 0);
        fill(rolling, "maxSurge", 0);
    }
}

fn canonical_rollback(metadata: &mut Object) {
    let Some(annotations) = known_mut(metadata, "annotations") else { return };
    let Some(revision) = annotations.get(ROLLBACK_TO).and_then(Value::as_str) else { return };
    if revision.is_empty() {
        annotations.remove(ROLLBACK_TO);
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    } else if let Ok(number) = revision.parse::<i64>() {
        annotations.insert(ROLLBACK_TO.to_owned(), number.to_string().into());
    }
}

pub(super) fn default_daemon_set(set: &mut Object) {
    if let Some(metadata) = child_mut(set, "metadata") {
        let generation = template_generation(metadata);
        set_template_generation(metadata, generation);
    }
    let Some(spec) = child_mut(set, "spec") else { return };
    if let Some(strategy) = child_mut(spec, "updateStrategy") {
        fill_text(strategy, "type", "RollingUpdate");
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = child_mut(strategy, "rollingUpdate")
        {
            fill(rolling, "maxUnavailable", 1);
            fill(rolling, "maxSurge", 0);
        }
        zero_limits(strategy);
    }
    fill(spec, "revisionHistoryLimit", 10);
}

fn template_generation(metadata: &Object) -> i64 {
    let annotation = child(metadata, "annotations").and_then(|all| all.get(TEMPLATE_GENERATION));
    annotation.and_then(Value::as_str).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn set_template_generation(metadata: &mut Object, generation: i64) {
    if let Some(annotations) = child_mut(metadata, "annotations") {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string().into());
    }
}

pub(super) fn default_stateful_set(set: &mut Object) {
    let Some(spec) = child_mut(set, "spec") else { return };
    fill_text(spec, "podManagementPolicy", "OrderedReady");
    if let Some(strategy) = child_mut(spec, "updateStrategy") {
        if text(strategy, "type").is_empty() {
            fill_text(strategy, "type", "RollingUpdate");
            fill(strategy, "rollingUpdate", Object::new());
        }
        if let Some(rolling) = known_mut(strategy, "rollingUpdate") {
            fill(rolling, "partition", 0);
        }
    }
    if let Some(retention) = child_mut(spec, "persistentVolumeClaimRetentionPolicy") {
        fill_text(retention, "whenDeleted", "Retain");
        fill_text(retention, "whenScaled", "Retain");
    }
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    for claim in items_mut(spec, "volumeClaimTemplates") {
        claim.insert("apiVersion".to_owned(), "v1".into());
        claim.insert("kind".to_owned(), "PersistentVolumeClaim".into());
    }
}

pub(super) fn default_replication_controller(controller: &mut Object) {
    let labels = below(controller, &["spec", "template", "metadata", "labels"]).filter(|labels| !labels.is_empty());
    let Some(labels) = labels.cloned() else { return };
    if let Some(spec) = child_mut(controller, "spec")
        && child(spec, "selector").is_none_or(Object::is_empty)
    {
        spec.insert("selector".to_owned(), Value::Object(labels.clone()));
    }
    label_as_template(controller, labels);
}

/// An object without labels has those of its template.
pub(super) fn label_as_template(object: &mut Object, labels: Object) {
    if let Some(metadata) = child_mut(object, "metadata")
        && child(metadata, "labels").is_none_or(Object::is_empty)
    {
        metadata.insert("labels".to_owned(), Value::Object(labels));
    }
}

/// Where the template is.
pub(super) const TEMPLATE: &[&str] = &["spec", "template"];

pub(super) fn prepare_daemon_set(set: &mut Object) {
    template(set, TEMPLATE, None);
    if let Some(metadata) = child_mut(set, "metadata") {
        let generation = template_generation(metadata).max(1);
        set_template_generation(metadata, generation);
    }
}

/// The template has a generation of its own.
pub(super) fn prepare_daemon_set_update(set: &mut Object, old: &Object) {
    template(set, TEMPLATE, Some(old));
    let before = child(old, "metadata").map(template_generation).unwrap_or_default();
    let changed =
        type_of("apps", "v1", "DaemonSet").and_then(|ty| ty.field("spec")).is_some_and(|spec| match spec.ty {
            Ty::Ref(spec) => match (child(set, "spec"), child(old, "spec")) {
                (Some(new), Some(old)) => !semantic::same_at(spec, new, old, "template"),
                _ => false,
            },
            _ => false,
        });
    if let Some(metadata) = child_mut(set, "metadata") {
        set_template_generation(metadata, before.saturating_add(i64::from(changed)));
    }
}

/// The generation of the template belongs to the spec.
pub(super) fn prepare_daemon_set_status(set: &mut Object, old: &Object) {
    let before = child(old, "metadata").map(template_generation).unwrap_or_default();
    if let Some(metadata) = child_mut(set, "metadata") {
        set_template_generation(metadata, before);
    }
}

pub(super) fn prepare_stateful_set(set: &mut Object) {
    template(set, TEMPLATE, None);
    drop_max_unavailable(set, None);
}

pub(super) fn prepare_stateful_set_update(set: &mut Object, old: &Object) {
    template(set, TEMPLATE, Some(old));
    drop_max_unavailable(set, Some(old));
}

/// A field that no server has unless somebody turns it on.
fn drop_max_unavailable(set: &mut Object, old: Option<&Object>) {
    const ROLLING: &[&str] = &["spec", "updateStrategy", "rollingUpdate"];
    let used = old.and_then(|old| below(old, ROLLING)).is_some_and(|rolling| !absent(rolling, "maxUnavailable"));
    if !used && let Some(rolling) = below_mut(set, ROLLING) {
        rolling.remove("maxUnavailable");
    }
}

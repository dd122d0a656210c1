//! Jobs and cron jobs.

pub(super) mod cron;
mod policies;
mod schedule;
pub(super) mod status;
pub(super) mod update;
pub(super) mod validate;

use super::pod::prepare::template;
use super::read::{absent, below, child, child_mut, fill, fill_text, flag, text};
use super::workload::{TEMPLATE, label_as_template};
use crate::strategy::Object;

pub(super) fn default_job(job: &mut Object) {
    let labels = below(job, &["spec", "template", "metadata", "labels"]).filter(|labels| !labels.is_empty()).cloned();
    if let Some(labels) = labels {
        label_as_template(job, labels);
    }
    let Some(spec) = child_mut(job, "spec") else { return };
    if absent(spec, "parallelism") {
        fill(spec, "completions", 1);
        fill(spec, "parallelism", 1);
    }
    let backoff = if absent(spec, "backoffLimitPerIndex") { 6 } else { i32::MAX };
    fill(spec, "backoffLimit", backoff);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    let replace = if absent(spec, "podFailurePolicy") { "TerminatingOrFailed" } else { "Failed" };
    fill(spec, "podReplacementPolicy", replace);
    fill(spec, "manualSelector", false);
}

pub(super) fn default_cron_job(spec: &mut Object) {
    fill_text(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
}

/// Where the template of a cron job's pods is.
pub(super) const CRON_TEMPLATE: &[&str] = &["spec", "jobTemplate", "spec", "template"];

/// A job selects its own pods by its uid, unless told how to select.
pub(super) fn prepare_job(job: &mut Object) {
    template(job, TEMPLATE, None);
    let metadata = |key| child(job, "metadata").map(|metadata| text(metadata, key).to_owned()).unwrap_or_default();
    let (name, uid) = (metadata("name"), metadata("uid"));
    let Some(spec) = child_mut(job, "spec") else { return };
    if flag(spec, "manualSelector") {
        return;
    }
    let before = below(spec, &["template", "metadata", "labels"]).cloned().unwrap_or_default();
    let labels = child_mut(spec, "template").and_then(|template| child_mut(template, "metadata"));
    if let Some(labels) = labels.and_then(|metadata| child_mut(metadata, "labels")) {
        for (label, value) in [("job-name", &name), ("controller-uid", &uid)] {
            for label in [label.to_owned(), format!("batch.kubernetes.io/{label}")] {
                labels.entry(label).or_insert_with(|| value.as_str().into());
            }
        }
    }
    if let Some(labels) = child_mut(spec, "selector").and_then(|selector| child_mut(selector, "matchLabels")) {
        labels.entry("batch.kubernetes.io/controller-uid").or_insert_with(|| uid.into());
    }
    // Labels that a job has from its template are the same map in Go, so they get the new ones too.
    let labels = below(job, &["spec", "template", "metadata", "labels"]).cloned();
    if let (Some(labels), Some(metadata)) = (labels, child_mut(job, "metadata"))
        && child(metadata, "labels").is_some_and(|own| *own == before)
    {
        metadata.insert("labels".to_owned(), labels.into());
    }
}

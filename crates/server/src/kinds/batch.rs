//! Jobs and cron jobs.

use super::read::{absent, below, child_mut, fill, fill_text};
use super::workload::label_as_template;
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

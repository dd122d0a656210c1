//! What runs pods.

use proptest::prelude::*;

use super::kinds::{Kind, kind};
use super::pods::template;
use super::shape::{
    Any, Fields, conditions, count, flag, int, labels, list, merged, moment, name, one_of, selector, time, with,
};

pub(super) fn kinds() -> Vec<Kind> {
    vec![
        kind("", "v1", "PodTemplate", vec![("template", template())]),
        scaled("", "ReplicationController", labels()),
        scaled("apps", "Deployment", selector()),
        scaled("apps", "ReplicaSet", selector()),
        scaled("apps", "StatefulSet", selector()),
        kind("apps", "v1", "ControllerRevision", vec![("revision", int(0..i64::MAX))]),
        kind(
            "apps",
            "v1",
            "DaemonSet",
            vec![
                ("spec", with(vec![("selector", selector()), ("template", template())])),
                (
                    "status",
                    with(counts(&[
                        "desiredNumberScheduled",
                        "currentNumberScheduled",
                        "numberReady",
                        "updatedNumberScheduled",
                        "numberAvailable",
                    ])),
                ),
            ],
        ),
        kind("batch", "v1", "Job", vec![("spec", job_spec()), ("status", job_status())]),
        cron_job(),
        kind(
            "policy",
            "v1",
            "PodDisruptionBudget",
            vec![
                ("spec", with(vec![("minAvailable", limit()), ("maxUnavailable", limit())])),
                ("status", with(counts(&["disruptionsAllowed"]))),
            ],
        ),
        kind(
            "autoscaling",
            "v1",
            "Scale",
            vec![("spec", with(counts(&["replicas"]))), ("status", with(counts(&["replicas"])))],
        ),
    ]
}

fn counts(fields: &[&'static str]) -> Fields {
    fields.iter().map(|field| (*field, count())).collect()
}

fn scaled(group: &'static str, name: &'static str, selector: Any) -> Kind {
    let spec = vec![("replicas", count()), ("selector", selector), ("template", template())];
    let status = counts(&["replicas", "readyReplicas", "updatedReplicas", "availableReplicas"]);
    kind(group, "v1", name, vec![("spec", with(spec)), ("status", with(status))])
}

fn job_spec() -> Any {
    with(vec![("completions", count()), ("parallelism", count()), ("selector", selector()), ("template", template())])
}

fn job_status() -> Any {
    let running = with(vec![("startTime", time())]);
    let done = with(vec![("startTime", moment()), ("completionTime", moment())]);
    let times = prop_oneof![1 => running, 3 => done];
    let rest = with(vec![
        ("conditions", conditions(&["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"])),
        ("succeeded", count()),
    ]);
    (times, rest).prop_map(|(times, rest)| merged(times, rest)).boxed()
}

fn cron_job() -> Kind {
    let spec = vec![
        ("schedule", one_of(&["* * * * *", "@daily"])),
        ("timeZone", one_of(&["Etc/UTC", ""])),
        ("suspend", flag()),
        ("jobTemplate", with(vec![("spec", job_spec())])),
    ];
    let status = vec![("active", list(with(vec![("name", name())]))), ("lastScheduleTime", time())];
    kind("batch", "v1", "CronJob", vec![("spec", with(spec)), ("status", with(status))])
}

fn limit() -> Any {
    prop_oneof![count(), one_of(&["50%", "3"])].boxed()
}

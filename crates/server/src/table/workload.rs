//! What runs pods: deployments, sets and jobs, with their budgets and revisions.

use serde_json::Value;

use super::shown::{Node, Shown, comma_list, lower_case};
use super::{duration, labels, row};

/// Names and images of the containers in a pod template.
pub(super) fn containers(template: Node<'_>) -> (String, String) {
    let containers = template.get("spec").get("containers");
    let all = |field: &'static str| comma_list(containers.items().map(|container| container.get(field).text()));
    (all("name"), all("image"))
}

pub(super) fn deployment(shown: Shown<'_>) -> Vec<Value> {
    let (names, images) = containers(shown.spec("template"));
    row![
        shown.name(),
        ready_of_desired(shown),
        shown.status("updatedReplicas").int(),
        shown.status("availableReplicas").int(),
        shown.age(),
        names,
        images,
        labels::expression(shown.spec("selector")).unwrap_or_else(|labels::Invalid| "<invalid>".to_owned()),
    ]
}

pub(super) fn stateful_set(shown: Shown<'_>) -> Vec<Value> {
    let (names, images) = containers(shown.spec("template"));
    row![shown.name(), ready_of_desired(shown), shown.age(), names, images]
}

fn ready_of_desired(shown: Shown<'_>) -> String {
    format!("{}/{}", shown.status("readyReplicas").int(), shown.spec("replicas").int())
}

pub(super) fn replica_set(shown: Shown<'_>) -> Vec<Value> {
    replicas(shown, labels::selector(shown.spec("selector")))
}

pub(super) fn replication_controller(shown: Shown<'_>) -> Vec<Value> {
    replicas(shown, labels::labels(shown.spec("selector")))
}

fn replicas(shown: Shown<'_>, selector: String) -> Vec<Value> {
    let (names, images) = containers(shown.spec("template"));
    row![
        shown.name(),
        shown.spec("replicas").int(),
        shown.status("replicas").int(),
        shown.status("readyReplicas").int(),
        shown.age(),
        names,
        images,
        selector,
    ]
}

pub(super) fn daemon_set(shown: Shown<'_>) -> Vec<Value> {
    let (names, images) = containers(shown.spec("template"));
    row![
        shown.name(),
        shown.status("desiredNumberScheduled").int(),
        shown.status("currentNumberScheduled").int(),
        shown.status("numberReady").int(),
        shown.status("updatedNumberScheduled").int(),
        shown.status("numberAvailable").int(),
        labels::labels(shown.spec("template").get("spec").get("nodeSelector")),
        shown.age(),
        names,
        images,
        labels::selector(shown.spec("selector")),
    ]
}

pub(super) fn job(shown: Shown<'_>) -> Vec<Value> {
    let (names, images) = containers(shown.spec("template"));
    row![
        shown.name(),
        job_status(shown),
        completions(shown),
        job_duration(shown),
        shown.age(),
        names,
        images,
        labels::selector(shown.spec("selector")),
    ]
}

fn job_status(shown: Shown<'_>) -> &'static str {
    let conditions = shown.status("conditions");
    let first_of = |kinds: &[&'static str]| kinds.iter().copied().find(|kind| conditions.condition(kind).holds());
    if let Some(end) = first_of(&["Complete", "Failed"]) {
        end
    } else if shown.is_deleted() {
        "Terminating"
    } else {
        first_of(&["Suspended", "FailureTarget", "SuccessCriteriaMet"]).unwrap_or("Running")
    }
}

fn completions(shown: Shown<'_>) -> String {
    let succeeded = shown.status("succeeded").int();
    match (shown.spec("completions").set_int(), shown.spec("parallelism").int()) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn job_duration(shown: Shown<'_>) -> String {
    let Some(start) = shown.status("startTime").time() else { return String::new() };
    duration::human(match shown.status("completionTime").time() {
        Some(end) => end.duration_since(start),
        None => shown.until_now(start),
    })
}

pub(super) fn cron_job(shown: Shown<'_>) -> Vec<Value> {
    let job = shown.spec("jobTemplate").get("spec");
    let (names, images) = containers(job.get("template"));
    let last = shown.status("lastScheduleTime");
    row![
        shown.name(),
        shown.spec("schedule").text(),
        shown.spec("timeZone").set_text_or("<none>"),
        match shown.spec("suspend").set_flag() {
            Some(true) => "True",
            Some(false) => "False",
            None => "<unset>",
        },
        shown.status("active").count(),
        if last.is_set() { shown.since(last.time()) } else { "<none>".to_owned() },
        shown.age(),
        names,
        images,
        labels::selector(job.get("selector")),
    ]
}

pub(super) fn disruption_budget(shown: Shown<'_>) -> Vec<Value> {
    let limit = |field: &str| match shown.spec(field).value() {
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
        None => "N/A".to_owned(),
    };
    row![
        shown.name(),
        limit("minAvailable"),
        limit("maxUnavailable"),
        shown.status("disruptionsAllowed").int(),
        shown.age(),
    ]
}

pub(super) fn controller_revision(shown: Shown<'_>) -> Vec<Value> {
    let mut owners = shown.metadata("ownerReferences").items();
    let controller = match owners.find(|owner| owner.get("controller").flag()) {
        Some(owner) => {
            let group = owner.get("apiVersion").text().split_once('/').map_or("", |(group, _)| group);
            let (kind, name) = (owner.get("kind").text(), owner.get("name").text());
            match (kind, group) {
                ("", "") => name.to_owned(),
                (_, "") => format!("{}/{name}", lower_case(kind)),
                _ => format!("{}.{}/{name}", lower_case(kind), lower_case(group)),
            }
        }
        None => "<none>".to_owned(),
    };
    row![shown.name(), controller, shown.get("revision").int(), shown.age()]
}

pub(super) fn scale(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.spec("replicas").int(), shown.status("replicas").int(), shown.age()]
}

//! Pods: what their containers tell about them.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::row;
use super::shown::{Node, Shown};

pub(super) fn pod(shown: Shown<'_>) -> Vec<Value> {
    let sidecars = Sidecars::of(shown.spec("initContainers"));
    let state = State::of(shown, &sidecars);
    let containers = shown.spec("containers").items().len() + sidecars.count;
    let restarts = match state.restarts.last {
        Some(last) if state.restarts.count != 0 => {
            format!("{} ({} ago)", state.restarts.count, shown.since(Some(last)))
        }
        _ => state.restarts.count.to_string(),
    };
    row![
        shown.name(),
        format!("{}/{containers}", state.ready),
        state.reason,
        restarts,
        shown.age(),
        address(shown),
        shown.spec("nodeName").text_or("<none>"),
        shown.status("nominatedNodeName").text_or("<none>"),
        readiness_gates(shown),
    ]
}

/// What a row says about a pod that has ended.
pub(super) fn conditions(shown: Shown<'_>) -> Option<Value> {
    let reason = shown.status("phase").text();
    let message = match reason {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn address(shown: Shown<'_>) -> &str {
    let first = shown.status("podIPs").items().next().map_or("", |address| address.get("ip").text());
    shown.status("podIP").text_or(if first.is_empty() { "<none>" } else { first })
}

fn readiness_gates(shown: Shown<'_>) -> String {
    let gates = shown.spec("readinessGates").items();
    let count = gates.len();
    if count == 0 {
        return "<none>".to_owned();
    }
    // Both lists may be long; of conditions with the same type, the first one counts.
    let conditions = shown.status("conditions").items().rev();
    let holds: HashMap<&str, bool> =
        conditions.map(|condition| (condition.get("type").text(), condition.holds())).collect();
    let open = gates.filter(|gate| holds.get(gate.get("conditionType").text()) == Some(&true)).count();
    format!("{open}/{count}")
}

/// Init containers that keep running beside the others.
struct Sidecars<'a> {
    by_name: HashMap<&'a str, bool>,
    count: usize,
}

impl<'a> Sidecars<'a> {
    fn of(containers: Node<'a>) -> Self {
        let is_sidecar = |container: Node<'_>| container.get("restartPolicy").text() == "Always";
        Self {
            by_name: containers
                .items()
                .map(|container| (container.get("name").text(), is_sidecar(container)))
                .collect(),
            count: containers.items().filter(|container| is_sidecar(*container)).count(),
        }
    }

    fn contains(&self, status: Node<'_>) -> bool {
        self.by_name.get(status.get("name").text()).copied().unwrap_or_default()
    }
}

/// How often containers were restarted, and when last.
#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, status: Node<'_>) {
        self.count = self.count.saturating_add(status.get("restartCount").int());
        self.last = self.last.max(status.get("lastState").get("terminated").get("finishedAt").time());
    }
}

/// What all containers together say.
struct State {
    reason: String,
    ready: usize,
    restarts: Restarts,
}

impl State {
    fn of(shown: Shown<'_>, sidecars: &Sidecars<'_>) -> Self {
        let mut state = Self { reason: of_the_pod_itself(shown).to_owned(), ready: 0, restarts: Restarts::default() };
        let (sidecar_restarts, is_initializing) = state.initialize(shown, sidecars);
        if !is_initializing || shown.status("conditions").condition("Initialized").holds() {
            state.restarts = sidecar_restarts;
            state.run(shown);
        }
        if shown.is_deleted() {
            if shown.status("reason").text() == "NodeLost" {
                "Unknown".clone_into(&mut state.reason);
            } else if !matches!(shown.status("phase").text(), "Succeeded" | "Failed") {
                "Terminating".clone_into(&mut state.reason);
            }
        }
        state
    }

    /// Walks the init containers up to the one that is not done. Returns the restarts of sidecars, and whether there is
    /// such a one.
    fn initialize(&mut self, shown: Shown<'_>, sidecars: &Sidecars<'_>) -> (Restarts, bool) {
        let mut of_sidecars = Restarts::default();
        for (at, status) in shown.status("initContainerStatuses").items().enumerate() {
            let is_sidecar = sidecars.contains(status);
            self.restarts.add(status);
            if is_sidecar {
                of_sidecars.add(status);
            }
            let terminated = status.get("state").get("terminated");
            if terminated.is_set() && terminated.get("exitCode").int() == 0 {
                continue;
            }
            if is_sidecar && status.get("started").flag() {
                self.ready += usize::from(status.get("ready").flag());
                continue;
            }
            let waiting = status.get("state").get("waiting").get("reason").text();
            self.reason = if terminated.is_set() {
                format!("Init:{}", ending(terminated))
            } else if waiting.is_empty() || waiting == "PodInitializing" {
                format!("Init:{at}/{}", shown.spec("initContainers").items().len())
            } else {
                format!("Init:{waiting}")
            };
            return (of_sidecars, true);
        }
        (of_sidecars, false)
    }

    /// Walks the containers from the last to the first, whose word counts most.
    fn run(&mut self, shown: Shown<'_>) {
        let mut is_running = false;
        let mut failure = None;
        for status in shown.status("containerStatuses").items().rev() {
            self.restarts.add(status);
            let state = status.get("state");
            let (waiting, terminated) = (state.get("waiting").get("reason").text(), state.get("terminated"));
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if terminated.is_set() {
                self.reason = ending(terminated);
                if terminated.get("exitCode").int() != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if status.get("ready").flag() && state.get("running").is_set() {
                is_running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" {
            let conditions = shown.status("conditions");
            let is_ready =
                conditions.items().any(|condition| condition.get("type").text() == "Ready" && condition.holds());
            if is_running && is_ready {
                "Running".clone_into(&mut self.reason);
            } else if let Some(failure) = failure {
                self.reason = failure;
            } else if is_running {
                "NotReady".clone_into(&mut self.reason);
            }
        }
    }
}

fn of_the_pod_itself(shown: Shown<'_>) -> &str {
    let is_gated = shown.status("conditions").items().any(|condition| {
        condition.get("type").text() == "PodScheduled" && condition.get("reason").text() == "SchedulingGated"
    });
    if is_gated { "SchedulingGated" } else { shown.status("reason").text_or(shown.status("phase").text()) }
}

/// Why a container ended.
fn ending(terminated: Node<'_>) -> String {
    match (terminated.get("reason").text(), terminated.get("signal").int()) {
        ("", 0) => format!("ExitCode:{}", terminated.get("exitCode").int()),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

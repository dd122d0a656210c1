//! What came of a sync, in one condition.

use super::kinds::CONDITION;
use super::survey::{Obstacle, Origin, Survey};
use super::{RoleRefs, index, words};
use crate::diagnostic::{Code, Diagnostic};
use crate::object::{Condition, ObjectRef, Status};
use crate::op::{Plan, Report};
use crate::snapshot::Snapshot;

/// What is to be given and is not there yet. While there is such an entry, nothing else is the reason.
pub(super) const PENDING: &str = "Pending";
/// So many entries are told one by one.
const TOLD: usize = 64;
/// So many problems of a kind are told one by one.
const FEW: usize = 3;
/// What is told beside the entries.
const ASIDE: [Code; 6] = [
    Code::OverridesMisspelt,
    Code::ClusterAdminByDefault,
    Code::SharedBindingForeign,
    Code::RoleEscalates,
    Code::ReconcilerAwaited,
    Code::ReconcilerReleased,
];

impl RoleRefs {
    /// What came of a sync: each of its entries with its state, what is wrong first.
    pub(super) fn told(&self, snapshot: &Snapshot, key: &ObjectRef, plan: &Plan) -> Option<Report> {
        let live = snapshot.get(key)?;
        let said = |code: Code| plan.diagnostics.iter().find(|known| known.code == code);
        let waiting = said(Code::ReconcilerAwaited).map(|known| known.message.clone());
        let with_it = |message: String| [message].into_iter().chain(waiting.clone()).collect::<Vec<_>>().join("; ");
        if let Some(refusal) = self.refusal(snapshot, key) {
            return Some(alone(Status::False, refusal.code.reason(), with_it(refusal.message)));
        }
        if let Some(paused) = said(Code::Paused) {
            return Some(alone(Status::Unknown, paused.code.reason(), paused.message.clone()));
        }
        let survey = match self.survey(snapshot, key, live) {
            Ok(survey) => survey,
            Err(why) => return Some(alone(Status::False, Code::Invalid.reason(), with_it(why))),
        };
        let account = words::account(key);
        let mut states = states(snapshot, &account, &survey, plan);
        states.sort_by_key(|(_, state)| (*state != PENDING, *state == "Bound"));
        let (status, reason) = verdict(&states, &survey, plan);
        let text = message(&states, &survey, plan);
        let conditions = vec![Condition::new(CONDITION, status, reason, text)];
        Some(Report { conditions, fields: vec![("reconciler", account)] })
    }
}

fn states(snapshot: &Snapshot, account: &str, survey: &Survey, plan: &Plan) -> Vec<(String, &'static str)> {
    let state = |(entry, obstacle): &(super::entry::Entry, Obstacle)| {
        let binding = entry.binding(account);
        let refused = plan.diagnostics.iter().find(|known| known.object == binding);
        let is_there = snapshot.get(&binding).is_some_and(index::is_ours);
        let state = match obstacle {
            Obstacle::Forbidden => "Forbidden",
            Obstacle::NamespaceMissing => "NamespaceMissing",
            _ if refused.is_some_and(|known| known.code == Code::Refused) => "Forbidden",
            _ if refused.is_some_and(|known| known.code == Code::NameTaken) => "NameTaken",
            _ if !is_there => PENDING,
            Obstacle::RoleMissing => "RoleMissing",
            Obstacle::None => "Bound",
        };
        (entry.to_string(), state)
    };
    survey.entries.iter().map(state).collect()
}

fn alone(status: Status, reason: &str, message: String) -> Report {
    Report { conditions: vec![Condition::new(CONDITION, status, reason, message)], fields: Vec::new() }
}

fn verdict(states: &[(String, &'static str)], survey: &Survey, plan: &Plan) -> (Status, &'static str) {
    let is_error = |known: &&Diagnostic| matches!(known.code, Code::Refused | Code::NameTaken);
    let is_foreign = |known: &&Diagnostic| known.code == Code::SharedBindingForeign;
    match states.first() {
        Some((_, state)) if *state == PENDING => (Status::False, PENDING),
        _ if !survey.bad.is_empty() => (Status::False, Code::RoleRefInvalid.reason()),
        _ if survey.origin == Origin::Misspelt => (Status::False, Code::OverridesMisspelt.reason()),
        Some((_, state)) if *state != "Bound" => (Status::False, state),
        _ if plan.diagnostics.iter().any(|known| is_error(&known)) => (Status::False, Code::Refused.reason()),
        _ if plan.diagnostics.iter().any(|known| is_foreign(&known)) => {
            (Status::False, Code::SharedBindingForeign.reason())
        }
        _ if survey.origin == Origin::Default => (Status::True, "BoundByDefault"),
        None => (Status::True, "BaseOnly"),
        Some(_) => (Status::True, "Bound"),
    }
}

fn message(states: &[(String, &'static str)], survey: &Survey, plan: &Plan) -> String {
    let mut parts: Vec<String> = survey.bad.clone();
    for code in ASIDE {
        parts.extend(
            plan.diagnostics.iter().filter(|known| known.code == code).take(FEW).map(|known| known.message.clone()),
        );
    }
    parts.extend(states.iter().take(TOLD).map(|(entry, state)| format!("{entry}: {state}")));
    if states.len() > TOLD {
        parts.push(format!("and {} more", states.len() - TOLD));
    }
    let refused = plan.diagnostics.iter().filter(|known| matches!(known.code, Code::Refused | Code::NameTaken));
    parts.extend(refused.take(FEW).map(|known| format!("{}: {}", known.object, known.message)));
    if parts.is_empty() {
        return "no roles beyond what every reconciler has".to_owned();
    }
    parts.join("; ")
}

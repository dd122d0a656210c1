//! What came of a sync, in one condition.

use super::kinds::CONDITION;
use super::survey::{Obstacle, Origin, Survey};
use super::{RoleRefs, index, words};
use crate::diagnostic::{Code, Diagnostic};
use crate::object::{Condition, ObjectRef, Status};
use crate::op::{Plan, Report};
use crate::snapshot::Snapshot;

/// So many entries are told one by one.
const TOLD: usize = 64;

impl RoleRefs {
    /// What came of a sync: each of its entries with its state, what is wrong first.
    pub(super) fn told(&self, snapshot: &Snapshot, key: &ObjectRef, plan: &Plan) -> Option<Report> {
        let live = snapshot.get(key)?;
        let said = |code: Code| plan.diagnostics.iter().find(|known| known.code == code);
        if let Some(refusal) = self.refusal(snapshot, key) {
            return Some(alone(Status::False, refusal.code.reason(), refusal.message));
        }
        if let Some(paused) = said(Code::Paused) {
            return Some(alone(Status::Unknown, paused.code.reason(), paused.message.clone()));
        }
        let survey = match self.survey(snapshot, key, live) {
            Ok(survey) => survey,
            Err(why) => return Some(alone(Status::False, Code::Invalid.reason(), why)),
        };
        let account = words::account(key);
        let mut states = states(snapshot, &account, &survey, plan);
        states.sort_by_key(|(_, state)| *state == "Bound");
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
            Obstacle::RoleMissing => "RoleMissing",
            Obstacle::None if is_there => "Bound",
            Obstacle::None => "Pending",
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
    match states.first() {
        _ if !survey.bad.is_empty() => (Status::False, Code::RoleRefInvalid.reason()),
        _ if survey.origin == Origin::Misspelt => (Status::False, Code::OverridesMisspelt.reason()),
        Some((_, state)) if *state != "Bound" => (Status::False, state),
        _ if plan.diagnostics.iter().any(|known| is_error(&known)) => (Status::False, Code::Refused.reason()),
        _ if survey.origin == Origin::Default => (Status::True, "BoundByDefault"),
        None => (Status::True, "BaseOnly"),
        Some(_) => (Status::True, "Bound"),
    }
}

fn message(states: &[(String, &'static str)], survey: &Survey, plan: &Plan) -> String {
    let mut parts: Vec<String> = survey.bad.clone();
    let aside =
        [Code::OverridesMisspelt, Code::ClusterAdminByDefault, Code::ReconcilerAwaited, Code::ReconcilerReleased];
    parts
        .extend(plan.diagnostics.iter().filter(|known| aside.contains(&known.code)).map(|known| known.message.clone()));
    parts.extend(states.iter().take(TOLD).map(|(entry, state)| format!("{entry}: {state}")));
    if states.len() > TOLD {
        parts.push(format!("and {} more", states.len() - TOLD));
    }
    let refused = plan.diagnostics.iter().filter(|known| matches!(known.code, Code::Refused | Code::NameTaken));
    parts.extend(refused.take(3).map(|known| format!("{}: {}", known.object, known.message)));
    if parts.is_empty() {
        return "no roles beyond what every reconciler has".to_owned();
    }
    parts.join("; ")
}

//! The conditions that say what came of a key.

use crate::Time;
use crate::diagnostic::{Diagnostic, Severity};
use crate::kind::Reports;
use crate::object::{Condition, Live, ObjectRef, Status};
use crate::op::{Op, Phase, Plan, Report, Write};
use crate::snapshot::Snapshot;

/// The write that brings the status of a key's object up to date, if its kind has one and it says something else.
pub(super) fn report(snapshot: &Snapshot, key: &ObjectRef, plan: &Plan, own: Option<Report>, now: Time) -> Option<Op> {
    let (name, always) = match key.kind.reports {
        Reports::Never => return None,
        Reports::Always(name) => (name, true),
        Reports::Trouble(name) => (name, false),
    };
    let live = snapshot.get(key)?;
    let mut report =
        own.unwrap_or_else(|| Report { conditions: vec![ready(name, key, &plan.diagnostics)], fields: Vec::new() });
    let mut is_told = true;
    for condition in &mut report.conditions {
        condition.observed_generation = live.meta.generation;
        is_told &= is_known(live, condition, always, now);
    }
    if is_told {
        return None;
    }
    let write = Write::Report { uid: live.meta.uid.clone(), report };
    let because = "its state is another".to_owned();
    Some(Op { phase: Phase::Report, object: key.clone(), write, because, repairs: false })
}

/// Whether the object says so already; if not, since when it is so is filled in.
fn is_known(live: &Live, condition: &mut Condition, always: bool, now: Time) -> bool {
    let known = live.conditions.iter().find(|known| known.name == condition.name);
    condition.last_transition_time = match known {
        Some(known) if known.status == condition.status => known.last_transition_time.clone(),
        _ => now.to_rfc3339().into(),
    };
    known.map_or(!always && condition.status == Status::True, |known| known.says_as(condition))
}

fn ready(name: &str, key: &ObjectRef, diagnostics: &[Diagnostic]) -> Condition {
    let worst =
        diagnostics.iter().max_by_key(|diagnostic| (diagnostic.code.severity(), std::cmp::Reverse(*diagnostic)));
    let (status, reason, message) = match worst {
        Some(worst) if worst.code.severity() > Severity::Note => {
            (Status::False, worst.code.reason(), format!("{}: {}", worst.object, worst.message))
        }
        Some(note) if note.object == *key => (Status::Unknown, note.code.reason(), note.message.clone()),
        Some(note) => (Status::Unknown, note.code.reason(), format!("{}: {}", note.object, note.message)),
        None => (Status::True, "Applied", String::new()),
    };
    Condition::new(name, status, reason, message)
}

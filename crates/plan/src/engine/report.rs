//! The condition that says what came of a key.

use crate::diagnostic::{Diagnostic, Severity};
use crate::kind::Reports;
use crate::object::{Condition, ObjectRef, Status};
use crate::op::{Op, Phase, Plan, Write};
use crate::snapshot::Snapshot;
use crate::{Name, Time};

/// The write that brings the conditions of a key's object up to date, if its kind has any and they say something else.
pub(super) fn report(snapshot: &Snapshot, key: &ObjectRef, plan: &Plan, now: Time) -> Option<Op> {
    let (name, always) = match key.kind.reports {
        Reports::Never => return None,
        Reports::Always(name) => (name, true),
        Reports::Trouble(name) => (name, false),
    };
    let live = snapshot.get(key)?;
    let mut ready = ready(name, &plan.diagnostics, live.meta.generation);
    let known = live.conditions.iter().find(|condition| condition.name == ready.name);
    let is_told = known.map_or(!always && ready.status == Status::True, |known| known.says_as(&ready));
    if is_told {
        return None;
    }
    ready.last_transition_time = match known {
        Some(known) if known.status == ready.status => known.last_transition_time.clone(),
        _ => now.to_rfc3339().into(),
    };
    let write = Write::Report { uid: live.meta.uid.clone(), conditions: vec![ready] };
    let because = "its state is another".to_owned();
    Some(Op { phase: Phase::Report, object: key.clone(), write, because, repairs: false })
}

fn ready(name: &str, diagnostics: &[Diagnostic], generation: i64) -> Condition {
    let worst =
        diagnostics.iter().max_by_key(|diagnostic| (diagnostic.code.severity(), std::cmp::Reverse(*diagnostic)));
    let (status, reason, message) = match worst {
        Some(worst) if worst.code.severity() > Severity::Note => {
            (Status::False, Name::new(worst.code.reason()), format!("{}: {}", worst.object, worst.message))
        }
        Some(note) => (Status::Unknown, Name::new(note.code.reason()), note.message.clone()),
        None => (Status::True, Name::new("Applied"), String::new()),
    };
    Condition {
        name: Name::new(name),
        status,
        reason,
        message,
        observed_generation: generation,
        last_transition_time: Name::default(),
    }
}

//! What a write does to what there is, in a few words.

use std::hash::Hash;

use rolewright_plan::op::Write;
use rolewright_plan::rbac::{BindingBody, RoleBody};
use rolewright_plan::{Content, Live, ObjectRef, Op, Phase, Snapshot};
use rustc_hash::FxHashSet;

use super::message::{Sign, What};
use crate::render::count;

/// How much more and how much less there is of something after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// What is counted.
    noun: &'static str,
    more: usize,
    less: usize,
}

impl Change {
    pub(super) fn of(snapshot: &Snapshot, op: &Op) -> Self {
        let Some(live) = snapshot.get(&op.object) else { return Self::default() };
        match &op.write {
            Write::Rules { rules, .. } => Self::between("rule", rules_of(live), rules),
            Write::Update { shape, .. } => match &shape.content {
                Content::Role { rules: Some(rules), .. } => Self::between("rule", rules_of(live), rules),
                Content::Role { aggregation: Some(selectors), .. } => {
                    let before = live.body::<RoleBody>().and_then(|role| role.aggregation.as_deref());
                    Self::between("selector", before.unwrap_or_default(), selectors)
                }
                Content::Binding { subjects, .. } => {
                    let before = live.body::<BindingBody>().map_or(&[][..], |binding| &binding.subjects);
                    Self::between("subject", before, subjects)
                }
                _ => Self::default(),
            },
            _ => Self::default(),
        }
    }

    fn between<T: Eq + Hash>(noun: &'static str, before: &[T], after: &[T]) -> Self {
        let only_in = |one: &[T], other: &[T]| {
            let other: FxHashSet<&T> = other.iter().collect();
            one.iter().filter(|item| !other.contains(item)).count()
        };
        Self { noun, more: only_in(after, before), less: only_in(before, after) }
    }

    /// What is said of a write, and why it is done.
    pub(super) fn words(self, snapshot: &Snapshot, op: &Op, key: &ObjectRef) -> (What, String) {
        let sign = match &op.write {
            Write::Create(_) => Sign::Create,
            Write::Delete { .. } => Sign::Delete,
            _ => Sign::Update,
        };
        let what = match (&op.write, op.phase) {
            (Write::Report { .. }, _) => What::Reported,
            _ if op.repairs => What::Repaired(sign),
            // The rules of aggregated roles are all written at once.
            (Write::Rules { .. }, _) if self.less > 0 => What::Revoked(sign),
            (_, Phase::Narrow | Phase::Unbind | Phase::Drop) => What::Revoked(sign),
            _ => What::Wrote(sign),
        };
        (what, self.cause(snapshot, op, key))
    }

    fn cause(self, snapshot: &Snapshot, op: &Op, key: &ObjectRef) -> String {
        let because = match &op.write {
            Write::Delete { .. } if snapshot.get(key).is_none() => format!("{} {} is gone", key.kind, key.name),
            Write::Delete { .. } => format!("{} {} no longer needs it", key.kind, key.name),
            // Aggregation counts its rules itself, and says where they come from.
            Write::Rules { .. } if op.object == *key && self.more == 0 && self.less > 0 => {
                format!("{}: no role that it gathers has it any more", op.because)
            }
            Write::Rules { .. } => op.because.clone(),
            _ if op.object == *key || op.because.contains(key.name.as_str()) => self.counted(&op.because),
            _ => self.counted(&format!("{} {}: {}", key.kind, key.name, op.because)),
        };
        match (op.repairs, &op.write) {
            (true, Write::Create(_)) => format!("somebody deleted it; {because}"),
            (true, _) => format!("somebody changed it; {because}"),
            (false, _) => because,
        }
    }

    fn counted(self, because: &str) -> String {
        let more = (self.more > 0).then(|| format!("+{}", count(self.more, self.noun)));
        let less = (self.less > 0).then(|| format!("-{}", count(self.less, self.noun)));
        let counts: Vec<String> = more.into_iter().chain(less).collect();
        if counts.is_empty() { because.to_owned() } else { format!("{}: {because}", counts.join(", ")) }
    }
}

fn rules_of(live: &Live) -> &[rolewright_core::Rule] {
    live.body::<RoleBody>().map_or(&[], |role| &role.rules)
}

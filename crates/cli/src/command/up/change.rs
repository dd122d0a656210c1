//! What a write does to what there is, in a few words.

mod past;

use std::hash::Hash;

use rolewright_core::{LabelSelector, Name, Rule};
use rolewright_plan::kind::NAMESPACE;
use rolewright_plan::op::Write;
use rolewright_plan::rbac::{BindingBody, RoleBody};
use rolewright_plan::{Content, Live, ObjectRef, Op, Phase, Snapshot};
use rustc_hash::FxHashSet;

use super::message::{Sign, What};
use crate::render::{self, count};

pub(super) use past::Past;

/// How much more and how much less there is of something after a write, and why there is less.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// What is counted.
    noun: &'static str,
    more: usize,
    less: usize,
    /// Why something is lost, as far as that can be told.
    loss: Option<String>,
}

impl Change {
    pub(super) fn of(snapshot: &Snapshot, past: &Past, op: &Op, key: &ObjectRef) -> Self {
        let Some(live) = snapshot.get(&op.object) else { return Self::default() };
        match &op.write {
            Write::Rules { rules, .. } => {
                let (change, lost) = Self::between("rule", rules_of(live), rules);
                change.because(|| past.ungathered(snapshot, &op.object.name, &lost))
            }
            Write::Update { shape, .. } => match &shape.content {
                Content::Role { rules: Some(rules), .. } => {
                    let (change, lost) = Self::between("rule", rules_of(live), rules);
                    change.because(|| Some(past.unbrought(snapshot, &lost, rules)))
                }
                Content::Role { aggregation: Some(selectors), .. } => {
                    let before = live.body::<RoleBody>().and_then(|role| role.aggregation.as_deref());
                    let (change, lost) = Self::between("selector", before.unwrap_or_default(), selectors);
                    change.because(|| Some(unselected(&lost, selectors, key)))
                }
                Content::Binding { subjects, .. } => {
                    let before = live.body::<BindingBody>().map_or(&[][..], |binding| &binding.subjects);
                    let (change, lost) = Self::between("subject", before, subjects);
                    let who = lost.first().and_then(|subject| subject.principal(&op.object.namespace));
                    change.because(|| Some(format!("{} no longer needs it", render::subject(&who?))))
                }
                _ => Self::default(),
            },
            _ => Self::default(),
        }
    }

    /// The difference, and what there is no longer.
    fn between<'a, T: Eq + Hash>(noun: &'static str, before: &'a [T], after: &[T]) -> (Self, Vec<&'a T>) {
        let known: FxHashSet<&T> = before.iter().collect();
        let kept: FxHashSet<&T> = after.iter().collect();
        let lost: Vec<&T> = before.iter().filter(|item| !kept.contains(item)).collect();
        let more = after.iter().filter(|item| !known.contains(item)).count();
        (Self { noun, more, less: lost.len(), loss: None }, lost)
    }

    fn because(mut self, loss: impl FnOnce() -> Option<String>) -> Self {
        if self.less > 0 {
            self.loss = loss();
        }
        self
    }

    /// What is said of a write, and why it is done.
    pub(super) fn words(&self, snapshot: &Snapshot, op: &Op, key: &ObjectRef) -> (What, String) {
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

    fn cause(&self, snapshot: &Snapshot, op: &Op, key: &ObjectRef) -> String {
        let because = match &op.write {
            Write::Delete { .. } => match snapshot.get(key) {
                None => format!("{} {} is gone", key.kind, key.name),
                Some(live) if live.meta.deleting => format!("{} {} is being deleted", key.kind, key.name),
                Some(_) if *key.kind == NAMESPACE => format!("{} {} enables nothing any more", key.kind, key.name),
                Some(_) => format!("{} {} no longer needs it", key.kind, key.name),
            },
            // Aggregation counts its rules itself, and says where they come from.
            Write::Rules { .. } if op.object == *key && self.less > 0 => {
                let loss = self.loss.as_deref().unwrap_or("no role that it gathers has it");
                format!("{}: {loss}", op.because)
            }
            Write::Rules { .. } => op.because.clone(),
            // What it is for says why it has to be as it was, but not why it is to be less.
            _ if !op.repairs
                && let Some(loss) = &self.loss =>
            {
                self.counted(loss)
            }
            _ if op.object == *key || op.because.contains(key.name.as_str()) => self.counted(&op.because),
            _ => self.counted(&format!("{} {}: {}", key.kind, key.name, op.because)),
        };
        match (op.repairs, &op.write) {
            (true, Write::Create(_)) => format!("somebody deleted it; {because}"),
            (true, _) => format!("somebody changed it; {because}"),
            (false, _) => because,
        }
    }

    fn counted(&self, because: &str) -> String {
        let more = (self.more > 0).then(|| format!("+{}", count(self.more, self.noun)));
        let less = (self.less > 0).then(|| format!("-{}", count(self.less, self.noun)));
        let counts: Vec<String> = more.into_iter().chain(less).collect();
        if counts.is_empty() { because.to_owned() } else { format!("{}: {because}", counts.join(", ")) }
    }
}

fn rules_of(live: &Live) -> &[Rule] {
    live.body::<RoleBody>().map_or(&[], |role| &role.rules)
}

/// What selectors that are gone selected, and the others do not.
fn unselected(lost: &[&LabelSelector], kept: &[LabelSelector], key: &ObjectRef) -> String {
    let is_kept = |key: &Name, value: &Name| kept.iter().any(|one| one.match_labels.get(key) == Some(value));
    let labels = lost.iter().flat_map(|selector| &selector.match_labels).filter(|(key, value)| !is_kept(key, value));
    match labels.map(|(_, value)| format!("`{value}`")).collect::<Vec<_>>() {
        names if *key.kind == NAMESPACE && !names.is_empty() => {
            format!("namespace `{}` no longer enables {}", key.name, names.join(", "))
        }
        _ => {
            let lost: Vec<String> = lost.iter().map(|selector| render::selector(selector)).collect();
            format!("it no longer selects {}", lost.join("; "))
        }
    }
}

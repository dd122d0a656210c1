//! From what a module wants and what there is to what must be written.

mod shape;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Claim, Content, Hold, Intent, Shape, Wanted};
use crate::kind::Kind;
use crate::object::{Live, Meta, ObjectRef};
use crate::op::{Op, Phase, Plan, Write};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, RoleBody};
use crate::snapshot::Snapshot;

use rolewright_core::Rule;

/// The writes that make it so, in order; also to what is paused if nobody heeds that.
pub(crate) fn difference(snapshot: &Snapshot, intent: Intent, heeds_pause: bool) -> Plan {
    let Intent { wanted, held, holds, diagnostics, wake_at } = intent;
    let mut plan = Plan { ops: Vec::new(), diagnostics, wake_at };
    for object in held {
        if !wanted.iter().any(|wanted| wanted.object == object) {
            plan.remove(snapshot, object, heeds_pause);
        }
    }
    for wanted in wanted {
        plan.reach(snapshot, wanted, heeds_pause);
    }
    for hold in holds {
        plan.hold(snapshot, hold, heeds_pause);
    }
    plan.ops.sort_by(|a, b| (a.phase, &a.object).cmp(&(b.phase, &b.object)));
    plan
}

impl Plan {
    fn remove(&mut self, snapshot: &Snapshot, object: ObjectRef, heeds_pause: bool) {
        let Some(live) = snapshot.get(&object).filter(|live| !live.meta.deleting) else { return };
        if heeds_pause && live.meta.is_paused() {
            return self.paused(object);
        }
        let write = Write::Delete { uid: live.meta.uid.clone() };
        let (phase, because) = (Phase::removing(object.kind), "nobody needs it".to_owned());
        self.ops.push(Op { phase, object, write, because, repairs: false });
    }

    fn reach(&mut self, snapshot: &Snapshot, wanted: Wanted, heeds_pause: bool) {
        let Some(live) = snapshot.get(&wanted.object) else {
            if wanted.claim != Claim::RulesOnly {
                let Wanted { object, shape, because, .. } = wanted;
                let phase = Phase::growing(object.kind);
                self.ops.push(Op { phase, object, write: Write::Create(shape), because, repairs: false });
            }
            return;
        };
        let writes = match () {
            // What is on its way out is created anew once it is gone.
            () if live.meta.deleting && wanted.claim != Claim::RulesOnly => return,
            () if !wanted.claim.holds(&live.meta) => return self.taken(wanted, live),
            () => writes(&wanted, live),
        };
        if heeds_pause && !writes.is_empty() && live.meta.is_paused() {
            return self.paused(wanted.object);
        }
        let Wanted { object, because, .. } = wanted;
        let op = |(phase, write)| Op { phase, object: object.clone(), write, because: because.clone(), repairs: false };
        self.ops.extend(writes.into_iter().map(op));
    }

    fn hold(&mut self, snapshot: &Snapshot, hold: Hold, heeds_pause: bool) {
        let Hold { object, finalizer, holds, because } = hold;
        let Some(live) = snapshot.get(&object) else { return };
        // What is on its way out can only be let go.
        if live.meta.finalizers.contains(&finalizer) == holds || (holds && live.meta.deleting) {
            return;
        }
        if heeds_pause && live.meta.is_paused() {
            return self.paused(object);
        }
        let uid = live.meta.uid.clone();
        let (phase, write) = if holds {
            (Phase::Hold, Write::Hold { uid, finalizer })
        } else {
            (Phase::Release, Write::Release { uid, finalizer })
        };
        self.ops.push(Op { phase, object, write, because, repairs: false });
    }

    fn paused(&mut self, object: ObjectRef) {
        self.diagnostics.push(Diagnostic::new(Code::Paused, object, "one write waits"));
    }

    fn taken(&mut self, wanted: Wanted, live: &Live) {
        let who = match live.meta.controller() {
            Some(owner) => format!("it is controlled by {} `{}`", owner.kind, owner.name),
            None => "nothing says that it is ours".to_owned(),
        };
        self.diagnostics.push(Diagnostic::new(Code::NameTaken, wanted.object, format!("{who}; {}", wanted.because)));
    }
}

impl Claim {
    fn holds(&self, meta: &Meta) -> bool {
        let given = || meta.is_given();
        match self {
            // One that nobody controls is ours if we made it: somebody took its owner away, or all of it.
            Self::Controlled(uid) => meta
                .controller()
                .map_or_else(|| meta.ours.is_some() || meta.revived || given(), |owner| owner.uid == *uid),
            // Whoever puts another value there takes it from us; whoever takes the label away says nothing.
            Self::Labelled(key, value) => {
                (meta.ours.is_some() && meta.labels.get(key).is_none_or(|there| there == value))
                    || meta.revived
                    || given()
            }
            Self::Made(before) => meta.ours.is_some() || meta.is_from(before) || given(),
            Self::RulesOnly => true,
        }
    }
}

impl Phase {
    fn growing(kind: &Kind) -> Self {
        match () {
            () if is_role(kind) => Self::Grant,
            () if is_binding(kind) => Self::Bind,
            () => Self::Ground,
        }
    }

    fn shrinking(kind: &Kind) -> Self {
        match () {
            () if is_role(kind) => Self::Narrow,
            () if is_binding(kind) => Self::Unbind,
            () => Self::Ground,
        }
    }

    fn removing(kind: &Kind) -> Self {
        match () {
            () if is_role(kind) => Self::Drop,
            () if is_binding(kind) => Self::Unbind,
            () => Self::Clear,
        }
    }
}

fn is_role(kind: &Kind) -> bool {
    *kind == CLUSTER_ROLE || *kind == ROLE
}

fn is_binding(kind: &Kind) -> bool {
    *kind == CLUSTER_ROLE_BINDING || *kind == ROLE_BINDING
}

/// What leads from an object to what it should be: nothing, one write, or first both and then only what is wanted.
fn writes(wanted: &Wanted, live: &Live) -> Vec<(Phase, Write)> {
    let kind = wanted.object.kind;
    let uid = || live.meta.uid.clone();
    if wanted.claim == Claim::RulesOnly {
        return rules_only(wanted, live).into_iter().collect();
    }
    let mut all = Vec::new();
    if live.meta.inherited.is_some() {
        all.push((Phase::Ground, Write::Inherit { uid: uid() }));
    }
    if shape::says(live, &wanted.shape) {
        return all;
    }
    let seen = shape::seen(live, &wanted.shape);
    if gathers_for_others(&seen, &wanted.shape, live) {
        all.push((Phase::Ground, Write::Ungather { uid: uid() }));
    }
    all.extend(hand_over(&seen, &wanted.shape).map(|rules| (Phase::Ground, Write::Rules { uid: uid(), rules })));
    all.extend(steps(kind, live, &seen, wanted));
    all
}

/// Whether a role that holds its own rules was made to gather others by somebody else.
fn gathers_for_others(seen: &Shape, wanted: &Shape, live: &Live) -> bool {
    let gathers = |shape: &Shape| matches!(shape.content, Content::Role { aggregation: Some(_), .. });
    gathers(seen) && !gathers(wanted) && !live.meta.all_ours().gathers
}

/// The rules of a role that we no longer write but let others gather. They are first given to whoever gathers them, for
/// what nobody says any more goes.
fn hand_over(seen: &Shape, wanted: &Shape) -> Option<Vec<Rule>> {
    match (&seen.content, &wanted.content) {
        (Content::Role { rules: Some(rules), .. }, Content::Role { rules: None, .. }) => Some(rules.clone()),
        _ => None,
    }
}

fn steps(kind: &Kind, live: &Live, seen: &Shape, wanted: &Wanted) -> Vec<(Phase, Write)> {
    let uid = || live.meta.uid.clone();
    if let (Content::Binding { role_ref: old, .. }, Content::Binding { role_ref: new, .. }) =
        (&seen.content, &wanted.shape.content)
        && old != new
    {
        return vec![(Phase::Bind, Write::Replace { uid: uid(), shape: wanted.shape.clone() })];
    }
    let both = shape::both(seen, &wanted.shape);
    let target = Write::Update { uid: uid(), shape: wanted.shape.clone() };
    if both == wanted.shape {
        vec![(Phase::growing(kind), target)]
    } else if both == *seen {
        vec![(Phase::shrinking(kind), target)]
    } else {
        let first = Write::Update { uid: uid(), shape: both };
        vec![(Phase::growing(kind), first), (Phase::shrinking(kind), target)]
    }
}

/// The rules of somebody else's role go in one write: whoever reads it sees either the old or the new.
fn rules_only(wanted: &Wanted, live: &Live) -> Option<(Phase, Write)> {
    let Content::Role { rules: Some(rules), .. } = &wanted.shape.content else { return None };
    let stored: &[Rule] = live.body::<RoleBody>().map_or(&[], |role| &role.rules);
    if rules == stored {
        return None;
    }
    Some((Phase::Grant, Write::Rules { uid: live.meta.uid.clone(), rules: rules.clone() }))
}

//! How a sync goes: its reconciler first, with all its rights; then the bindings, then the account, then the sync.

use super::kinds::REPO_SYNC;
use super::{RoleRefs, words};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Hold, Intent};
use crate::kind::NAMESPACE;
use crate::object::{Live, ObjectRef};
use crate::rbac::{CLUSTER_ROLE_BINDING, ROLE_BINDING};
use crate::snapshot::Snapshot;

/// Whether a sync that is being deleted still waits for its reconciler to clean up.
pub(super) fn waits(live: &Live) -> bool {
    live.meta.finalizers.iter().any(|finalizer| *finalizer == words::RECONCILER_FINALIZER)
}

impl RoleRefs {
    /// One step after the other: what goes next goes only when what goes before it is gone.
    pub(super) fn leave(&self, snapshot: &Snapshot, key: &ObjectRef, held: Vec<ObjectRef>) -> Intent {
        let is_binding = |object: &ObjectRef| *object.kind == CLUSTER_ROLE_BINDING || *object.kind == ROLE_BINDING;
        let (bindings, others): (Vec<_>, Vec<_>) = held.into_iter().partition(is_binding);
        let mut intent = Intent::default();
        if !bindings.is_empty() {
            intent.held = bindings;
        } else if self.is_shared_still(snapshot, key) {
            // That binding is looked after on its own; it still names the account.
        } else if !others.is_empty() {
            intent.held = others;
        } else {
            intent.holds.push(release(key, words::FINALIZER, "nothing of it is left"));
        }
        intent
    }

    /// Whether the account of a sync is still among the subjects of a binding that all share.
    fn is_shared_still(&self, snapshot: &Snapshot, key: &ObjectRef) -> bool {
        let account = words::account(key);
        let is_its = self.index.holder(snapshot, &account, &self.settings.namespace) == Some(key);
        is_its && self.index.is_shared(&account)
    }
}

/// While the reconciler cleans up, everything stays as it is; unless somebody says that it never will.
pub(super) fn await_reconciler(snapshot: &Snapshot, key: &ObjectRef, live: &Live, intent: &mut Intent) {
    let namespace = ObjectRef::cluster(&NAMESPACE, key.namespace.clone());
    let is_ending = |namespace: &Live| namespace.meta.deleting;
    // Who says nothing gives no reason.
    let said = live.meta.annotations.get(words::RELEASE).map(|said| said.trim()).filter(|said| !said.is_empty());
    let reason = match said {
        Some(reason) => Some(format!("somebody says that its reconciler is dead: {reason}")),
        // Its bindings go with the namespace, so it could not clean up. It cannot outlive the namespace: one that is not
        // there has not been seen yet.
        None if *key.kind == REPO_SYNC && snapshot.get(&namespace).is_some_and(is_ending) => {
            Some("its namespace is being deleted".to_owned())
        }
        None => None,
    };
    let Some(reason) = reason else {
        let message = format!(
            "its rights stay until its reconciler has cleaned up; if that is dead, annotate `{}: WHY`",
            words::RELEASE
        );
        intent.diagnostics.push(Diagnostic::new(Code::ReconcilerAwaited, key.clone(), message));
        return;
    };
    intent.holds.push(release(key, words::RECONCILER_FINALIZER, &reason));
    intent.diagnostics.push(Diagnostic::new(Code::ReconcilerReleased, key.clone(), reason));
}

fn release(key: &ObjectRef, finalizer: &str, because: &str) -> Hold {
    Hold { object: key.clone(), finalizer: Name::new(finalizer), holds: false, because: because.to_owned() }
}

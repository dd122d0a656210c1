//! Bindings that Config Sync's own manager shares between syncs. We share none: as each sync gets its own, its account
//! goes from these.

use rolewright_core::{Labels, Subject};

use super::kinds::CONDITION;
use super::state::PENDING;
use super::{RoleRefs, words};
use crate::Name;
use crate::intent::{Content, Intent, Shape, Wanted};
use crate::object::{Live, ObjectRef, Status};
use crate::rbac::{BindingBody, CLUSTER_ROLE_BINDING, ROLE_BINDING};
use crate::snapshot::Snapshot;

/// For the whole cluster, and in namespaces.
const CLUSTER: [&str; 3] = [
    "configsync.gke.io:root-reconciler",
    "configsync.gke.io:root-reconciler-base",
    "configsync.gke.io:ns-reconciler:cluster-scope",
];
const NAMESPACED: &str = "configsync.gke.io:ns-reconciler";

/// Whether an object is such a binding.
pub(super) fn is_shared(object: &ObjectRef) -> bool {
    (*object.kind == CLUSTER_ROLE_BINDING && CLUSTER.contains(&object.name.as_str()))
        || (*object.kind == ROLE_BINDING && object.name == NAMESPACED)
}

/// Whether this is the name of such a binding.
pub(super) fn is_shared_name(name: &str) -> bool {
    CLUSTER.contains(&name) || name == NAMESPACED
}

/// The account of a reconciler that a subject is.
pub(super) fn account_of<'a>(subject: &'a Subject, home: &Name) -> Option<&'a str> {
    let is_one = subject.kind == "ServiceAccount" && subject.namespace == *home && words::is_account(&subject.name);
    is_one.then_some(subject.name.as_str())
}

impl RoleRefs {
    /// What is left of a shared binding: whoever is not ours, and whoever has no binding of its own yet.
    pub(super) fn intend_shared(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let mut intent = Intent::default();
        let Some(live) = snapshot.get(key).filter(|live| super::index::is_ours(live)) else { return intent };
        let Some(binding) = live.body::<BindingBody>() else { return intent };
        intent.held.push(key.clone());
        let stays = |subject: &&Subject| !self.is_moved(snapshot, subject);
        let subjects: Vec<Subject> = binding.subjects.iter().filter(stays).cloned().collect();
        if !subjects.is_empty() {
            let labels = live.meta.labels.iter().filter(|(key, _)| words::is_config_syncs(key));
            let labels: Labels = labels.map(|(key, value)| (key.clone(), value.clone())).collect();
            let content = Content::binding(binding.role_ref.clone(), subjects);
            let shape = Shape { labels, content, ..Shape::default() };
            let because = "some of its subjects have no binding of their own".to_owned();
            intent.wanted.push(Wanted { object: key.clone(), claim: words::CLAIM, shape, because });
        }
        intent
    }

    /// Whether an account needs no shared binding: its sync is gone, or has been given all that could be given.
    fn is_moved(&self, snapshot: &Snapshot, subject: &Subject) -> bool {
        let home = &self.settings.namespace;
        let Some(account) = account_of(subject, home) else { return false };
        let Some(sync) = self.index.holder(snapshot, account, home) else {
            return super::index::is_known(snapshot, account);
        };
        let Some(live) = snapshot.get(sync) else { return true };
        if live.meta.deleting && !super::departure::waits(live) {
            return true;
        }
        let bindings = self.wanted(snapshot, sync, live);
        let is_there = |wanted: &Wanted| snapshot.get(&wanted.object).is_some_and(super::index::is_ours);
        // What is refused will not come, and must not keep what is to go. What was said of an earlier wish does not count.
        let is_current = |seen: i64| seen == 0 || seen == live.meta.generation;
        let tried = live.conditions.iter().any(|known| {
            let is_no = known.name == CONDITION && known.status == Status::False && known.reason != PENDING;
            is_no && is_current(known.observed_generation)
        });
        let has_base = bindings.iter().filter(|wanted| super::is_base(&wanted.object)).all(is_there);
        !bindings.is_empty() && has_base && (tried || bindings.iter().all(is_there))
    }
}

/// Whether we may look after an object: it was made by us or by those whose job we do.
pub(super) fn keys(snapshot: &Snapshot) -> Vec<ObjectRef> {
    let cluster = snapshot
        .all(&CLUSTER_ROLE_BINDING)
        .map(|live| ObjectRef::cluster(&CLUSTER_ROLE_BINDING, live.meta.name.clone()));
    let inside =
        |live: &Live| ObjectRef::namespaced(&ROLE_BINDING, live.meta.namespace.clone(), live.meta.name.clone());
    cluster.chain(snapshot.all(&ROLE_BINDING).map(inside)).filter(is_shared).collect()
}

//! What belongs to which sync, and which syncs look at what.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::Entry;
use super::kinds::{REPO_SYNC, ROOT_SYNC, Sync};
use super::{Settings, base, escalation, legacy, words};
use crate::Name;
use crate::kind::{Kind, NAMESPACE};
use crate::object::{Live, ObjectRef};
use crate::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING};
use crate::snapshot::{Change, Service, Snapshot};
use crate::vocabulary::manager;
use crate::workload::SERVICE_ACCOUNT;

/// The kinds of what is made for a sync.
const MADE: [&Kind; 4] = [&CLUSTER_ROLE_BINDING, &ROLE_BINDING, &ROLE, &SERVICE_ACCOUNT];

/// What belongs to which sync, and which syncs look at what.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Syncs by the account of their reconciler: one each, but for names that are made to collide.
    accounts: BTreeMap<Name, BTreeSet<ObjectRef>>,
    /// What was made by us or before us, by the accounts in its name and among its subjects.
    made_for: BTreeMap<Name, BTreeSet<ObjectRef>>,
    /// Syncs by the roles and namespaces that they name.
    named: BTreeMap<ObjectRef, BTreeSet<ObjectRef>>,
    /// Bindings of the names that syncs share, and of which nothing says that they are ours, by the accounts in them.
    foreign: BTreeMap<Name, BTreeSet<ObjectRef>>,
}

/// Whether a kind is one of syncs.
pub(super) fn is_sync(kind: &Kind) -> bool {
    *kind == ROOT_SYNC || *kind == REPO_SYNC
}

fn is_made(kind: &Kind) -> bool {
    MADE.contains(&kind)
}

/// Whether we wrote an object, or those did whose job we do; or somebody gave it to us under a name that we look after.
pub(super) fn is_ours(live: &Live) -> bool {
    let meta = &live.meta;
    let is_named = || words::is_account(words::stem(&meta.name)) || legacy::is_shared_name(&meta.name);
    meta.ours.is_some() || meta.is_from(manager::CONFIG_SYNC) || (meta.is_given() && is_named())
}

/// Whether it can be told if an account still has its sync: those of a kind that is not served may all be there.
pub(super) fn is_known(snapshot: &Snapshot, account: &str) -> bool {
    !words::is_of_repo(account) || snapshot.service(&REPO_SYNC) != Service::Unserved
}

/// The accounts of reconcilers in an object's name and among its subjects.
fn terms(live: &Live, home: &Name) -> BTreeSet<Name> {
    let subjects = live.body::<BindingBody>().into_iter().flat_map(|binding| &binding.subjects);
    let accounts = subjects.filter_map(|subject| legacy::account_of(subject, home));
    accounts.chain([words::stem(&live.meta.name)]).filter(|name| words::is_account(name)).map(Name::new).collect()
}

/// What a sync looks at: the roles that it names, and the namespaces in which they count.
fn looks_at(key: &ObjectRef, live: &Live, settings: &Settings) -> BTreeSet<ObjectRef> {
    let written = live.body::<Sync>().and_then(|sync| sync.role_refs.as_deref().ok()).unwrap_or_default();
    let entry = |written| {
        if *key.kind == ROOT_SYNC { Entry::of_root(written) } else { Entry::of_repo(written, &key.namespace) }
    };
    let mut all = BTreeSet::from([ObjectRef::cluster(&NAMESPACE, key.namespace.clone())]);
    let default = settings.default_role.clone().filter(|_| written.is_empty() && *key.kind == ROOT_SYNC);
    let entries = written.iter().filter_map(|written| entry(written).ok());
    for entry in entries.chain(default.map(Entry::Cluster)) {
        all.insert(entry.role());
        all.extend(entry.namespace().map(|namespace| ObjectRef::cluster(&NAMESPACE, namespace.clone())));
    }
    all
}

impl Index {
    /// Takes in a change; marks the keys whose intent may differ now.
    pub(super) fn follow(
        &mut self,
        snapshot: &Snapshot,
        change: &Change,
        settings: &Settings,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        let (object, before, now) = (&change.object, change.before.as_deref(), snapshot.get(&change.object));
        if is_sync(object.kind) {
            self.follow_sync(object, before, now, settings, mark);
        } else if is_made(object.kind) {
            for (live, is_there) in before.map(|live| (live, false)).into_iter().chain(now.map(|live| (live, true))) {
                self.follow_made(object, live, is_there, settings, mark);
            }
            if legacy::is_shared(object) || self.owner(snapshot, object, &settings.namespace).as_ref() == Some(object) {
                mark(object.clone());
            }
        }
        let is_base = base::STANDING.iter().any(|standing| standing.key() == *object);
        if is_base {
            mark(object.clone());
        }
        // Of what a role grants only that matters with which its holder can take more.
        let is_known = |live: Option<&Live>| live.map(|live| (live.meta.deleting, escalation::of(live)));
        let matters = *object.kind == ROLE || *object.kind == CLUSTER_ROLE || *object.kind == NAMESPACE;
        if matters && is_known(before) != is_known(now) {
            self.named.get(object).into_iter().flatten().cloned().for_each(mark);
        }
    }

    fn follow_sync(
        &mut self,
        key: &ObjectRef,
        before: Option<&Live>,
        now: Option<&Live>,
        settings: &Settings,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        let account = words::account(key);
        if words::misplaced(key, &settings.namespace).is_some() {
            return mark(key.clone());
        }
        if before.is_some() != now.is_some() {
            if now.is_some() {
                self.accounts.entry(account.clone()).or_default().insert(key.clone());
            } else {
                forget(&mut self.accounts, &account, key);
            }
            base::STANDING.iter().map(|standing| standing.key()).for_each(&mut *mark);
        }
        for term in before.map(|live| looks_at(key, live, settings)).into_iter().flatten() {
            forget(&mut self.named, &term, key);
        }
        for term in now.map(|live| looks_at(key, live, settings)).into_iter().flatten() {
            self.named.entry(term).or_default().insert(key.clone());
        }
        // Whoever shares the account may have it now, what all share may no longer name it, and what is left is nobody's.
        self.accounts.get(&account).into_iter().flatten().cloned().for_each(&mut *mark);
        self.made_for.get(&account).into_iter().flatten().cloned().for_each(&mut *mark);
        mark(key.clone());
    }

    fn follow_made(
        &mut self,
        object: &ObjectRef,
        live: &Live,
        is_there: bool,
        settings: &Settings,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        if !is_ours(live) {
            // Somebody else's may have the name of what we want, or give what nobody else should.
            let is_shared = legacy::is_shared(object);
            let inside = if is_shared { terms(live, &settings.namespace) } else { BTreeSet::new() };
            for term in &inside {
                note(&mut self.foreign, term.clone(), object, is_there);
            }
            let stem = words::stem(&object.name);
            let terms = inside.iter().map(Name::as_str).chain([stem]);
            return terms.filter_map(|term| self.accounts.get(term)).flatten().cloned().for_each(mark);
        }
        for term in terms(live, &settings.namespace) {
            self.accounts.get(&term).into_iter().flatten().cloned().for_each(&mut *mark);
            note(&mut self.made_for, term, object, is_there);
        }
        // What is shared waits for what replaces it.
        let shared = terms(live, &settings.namespace).into_iter().filter_map(|term| self.made_for.get(&term)).flatten();
        shared.filter(|object| legacy::is_shared(object)).cloned().for_each(mark);
    }

    /// The sync that an account belongs to: the one that it was made for, or the first of those that want it.
    pub(super) fn holder(&self, snapshot: &Snapshot, account: &str, home: &Name) -> Option<&ObjectRef> {
        let all = self.accounts.get(account)?;
        let live = snapshot.get(&ObjectRef::namespaced(&SERVICE_ACCOUNT, home.clone(), account));
        let made_for = live.filter(|live| is_ours(live)).and_then(|live| words::labelled(&live.meta));
        made_for.and_then(|sync| all.get(&sync)).or_else(|| all.first())
    }

    /// What an object of ours was made for: the sync whose account is in its name, or among its subjects; or itself, if there
    /// is no such sync. Labels say so as well, and can be changed.
    pub(super) fn owner(&self, snapshot: &Snapshot, object: &ObjectRef, home: &Name) -> Option<ObjectRef> {
        let live = snapshot.get(object).filter(|live| is_ours(live))?;
        if !is_made(object.kind) || legacy::is_shared(object) {
            return None;
        }
        let stem = words::stem(&object.name);
        if !is_known(snapshot, stem) {
            return None;
        }
        let holder = |term: &str| self.holder(snapshot, term, home).cloned();
        holder(stem)
            .or_else(|| terms(live, home).iter().find_map(|term| holder(term)))
            .or_else(|| words::is_account(stem).then(|| object.clone()))
    }

    /// Everything that was made for a sync.
    pub(super) fn held(&self, snapshot: &Snapshot, sync: &ObjectRef, home: &Name) -> Vec<ObjectRef> {
        let all = self.made_for.get(&words::account(sync)).into_iter().flatten();
        all.filter(|object| self.owner(snapshot, object, home).as_ref() == Some(sync)).cloned().collect()
    }

    /// Whether an account is among the subjects of a binding that syncs share.
    pub(super) fn is_shared(&self, account: &str) -> bool {
        self.made_for.get(account).into_iter().flatten().any(legacy::is_shared)
    }

    /// Bindings of the names that syncs share which give an account something, and which are not ours.
    pub(super) fn foreign(&self, account: &str) -> impl Iterator<Item = &ObjectRef> {
        self.foreign.get(account).into_iter().flatten()
    }

    /// Everything of ours.
    pub(super) fn made(&self) -> impl Iterator<Item = &ObjectRef> {
        self.made_for.values().flatten()
    }
}

fn note<K: Ord>(index: &mut BTreeMap<K, BTreeSet<ObjectRef>>, key: K, object: &ObjectRef, is_there: bool) {
    if is_there {
        index.entry(key).or_default().insert(object.clone());
    } else {
        forget(index, &key, object);
    }
}

fn forget<K: Ord>(index: &mut BTreeMap<K, BTreeSet<ObjectRef>>, key: &K, object: &ObjectRef) {
    if let Some(all) = index.get_mut(key) {
        all.remove(object);
        if all.is_empty() {
            index.remove(key);
        }
    }
}

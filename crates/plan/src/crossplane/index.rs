//! What changed, and whom it concerns.

mod revisions;

use std::collections::{BTreeMap, BTreeSet};

use super::composite::served_as;
use super::kinds::{DEFINITION, Definition, MANAGED_RESOURCE, REVISION, SERVED_RESOURCE};
use super::materialized::Target;
use super::namespace::{self, enabled, mentioned};
use super::people::{self, Standing};
use super::provider::{FAMILY_PREFIX, bound_role, family_of};
use super::settings::{FamilyRoles, Manage, UserRoles};
use super::words::{label_value, namespace_role};
use super::{Crossplane, words};
use crate::Name;
use crate::kind::NAMESPACE;
use crate::object::{Live, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, RoleBody};
use crate::snapshot::{Change, Snapshot};
use crate::workload::{DEPLOYMENT, SERVICE_ACCOUNT};

type Index<T> = BTreeMap<Name, BTreeSet<T>>;

fn enter<T: Clone + Ord>(index: &mut Index<T>, key: &Name, entry: &T) {
    index.entry(key.clone()).or_default().insert(entry.clone());
}

fn leave<T: Ord>(index: &mut Index<T>, key: &Name, entry: &T) {
    if let Some(entries) = index.get_mut(key) {
        entries.remove(entry);
        if entries.is_empty() {
            index.remove(key);
        }
    }
}

impl Crossplane {
    /// Takes in one change; returns the keys that it concerns.
    pub(super) fn follow(&mut self, snapshot: &Snapshot, change: &Change, mark: &mut dyn FnMut(ObjectRef)) {
        let Change { object, before } = change;
        let now = snapshot.get(object);
        let kind = object.kind;
        match () {
            () if *kind == DEFINITION => self.follow_definition(object, before.as_deref(), now, mark),
            () if *kind == REVISION => {
                self.stale.insert(object.name.clone());
                self.follow_revision(snapshot, object, before.as_deref(), now, mark);
            }
            () if *kind == NAMESPACE => self.follow_namespace(snapshot, object, before.as_deref(), now, mark),
            () if *kind == SERVED_RESOURCE || *kind == MANAGED_RESOURCE => {
                let owned = |live: &Live| live.meta.owners.clone();
                if before.as_deref().map(owned) == now.map(owned) {
                    return;
                }
                for revision in owners(before.as_deref(), now, REVISION.kind) {
                    self.stale.insert(revision.clone());
                    self.mark_relatives(snapshot, &revision, mark);
                }
                // Crossplane keeps what is served through its definition alone.
                if *kind == SERVED_RESOURCE {
                    let defined = snapshot.get(&ObjectRef { kind: &MANAGED_RESOURCE, ..object.clone() });
                    for revision in owners(None, defined, REVISION.kind) {
                        mark(ObjectRef::cluster(&REVISION, revision));
                    }
                }
                // Whoever defines something of this name has it only if nobody else does.
                let claimed = self.claimed.get(&object.name).into_iter().flatten();
                for definition in claimed.chain([&object.name]) {
                    let key = ObjectRef::cluster(&DEFINITION, definition.clone());
                    if snapshot.get(&key).is_some() {
                        mark(key);
                    }
                }
            }
            () if *kind == SERVICE_ACCOUNT || *kind == DEPLOYMENT => {
                for revision in owners(before.as_deref(), now, REVISION.kind) {
                    self.mark_revision(snapshot, &revision, mark);
                }
            }
            () => self.follow_rbac(snapshot, object, before.as_deref(), now, mark),
        }
    }

    fn follow_definition(
        &mut self,
        object: &ObjectRef,
        before: Option<&Live>,
        now: Option<&Live>,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        mark(object.clone());
        let claimed = |live: Option<&Live>| {
            let Definition { spec } = live?.body()?;
            Some(served_as(spec.claim_names.as_ref()?, &spec.group))
        };
        let (old, new) = (claimed(before), claimed(now));
        if old != new {
            if let Some(name) = old {
                leave(&mut self.claimed, &name, &object.name);
            }
            if let Some(name) = new {
                enter(&mut self.claimed, &name, &object.name);
            }
        }
        if before.is_some() == now.is_some() {
            return;
        }
        let label = label_value(&object.name);
        match now {
            Some(_) => drop(self.definitions.insert(label.clone(), object.name.clone())),
            None => drop(self.definitions.remove(&label)),
        }
        // A namespace says when it enables what is not defined, or spells wrongly that it does.
        for namespace in self.mentioning.get(&label).into_iter().flatten() {
            mark(ObjectRef::cluster(&NAMESPACE, namespace.clone()));
        }
    }

    fn follow_namespace(
        &mut self,
        snapshot: &Snapshot,
        object: &ObjectRef,
        before: Option<&Live>,
        now: Option<&Live>,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        let old = before.map(|live| mentioned(&live.meta)).unwrap_or_default();
        let new = now.map(|live| mentioned(&live.meta)).unwrap_or_default();
        old.difference(&new).for_each(|name| leave(&mut self.mentioning, name, &object.name));
        new.difference(&old).for_each(|name| enter(&mut self.mentioning, name, &object.name));
        let new = now.map(|live| enabled(&live.meta)).unwrap_or_default();
        for role in namespace::ROLES {
            let target = (!new.is_empty()).then(|| Target {
                selectors: namespace::selectors(&new, role),
                labels: rolewright_core::Labels::new(),
            });
            self.gather(snapshot, &namespace_role(&object.name, role), target, mark);
        }
        let says = |live: &Live| live.meta.annotations.keys().any(|key| key.starts_with(words::PREFIX));
        // One that is gone may have stopped saying anything before.
        if now.is_none_or(says) || before.is_some_and(says) {
            mark(object.clone());
        }
    }

    fn follow_rbac(
        &mut self,
        snapshot: &Snapshot,
        object: &ObjectRef,
        before: Option<&Live>,
        now: Option<&Live>,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        for (live, comes) in [(before, false), (now, true)] {
            let Some((revision, _)) = live.and_then(bound_role) else { continue };
            let revision = Name::new(revision);
            if comes {
                enter(&mut self.bindings, &revision, object);
            } else {
                leave(&mut self.bindings, &revision, object);
            }
            self.mark_revision(snapshot, &revision, mark);
        }
        for definition in owners(before, now, DEFINITION.kind) {
            mark(ObjectRef::cluster(&DEFINITION, definition));
        }
        // What a family shares has all its members as owners; whom that concerns is found out later.
        let revisions =
            if family_of(&object.name).is_some() { BTreeSet::new() } else { owners(before, now, REVISION.kind) };
        for revision in revisions {
            mark(ObjectRef::cluster(&REVISION, revision.clone()));
            // Who waits for its roles.
            if let Some(live) = snapshot.get(&ObjectRef::cluster(&REVISION, revision)) {
                self.mark_siblings(live, mark);
                if self.settings.family_roles == FamilyRoles::Replicated {
                    self.family_role(live).into_iter().for_each(&mut *mark);
                }
            }
        }
        for namespace in owners(before, now, NAMESPACE.kind) {
            mark(ObjectRef::cluster(&NAMESPACE, namespace));
        }
        if let Some(key) = key_of(&object.name) {
            mark(key);
        }
        if *object.kind == CLUSTER_ROLE && self.settings.boundary_role.as_ref() == Some(&object.name) {
            let rules = |live: Option<&Live>| live.and_then(Live::body::<RoleBody>).map(|role| role.rules.clone());
            if rules(before) != rules(now) {
                self.families.rebound();
                snapshot.all(&REVISION).for_each(|live| mark(ObjectRef::cluster(&REVISION, live.meta.name.clone())));
                self.families.roles().for_each(mark);
            }
        }
    }

    /// Sets what a role gathers, where we gather.
    pub(super) fn gather(
        &mut self,
        snapshot: &Snapshot,
        role: &Name,
        target: Option<Target>,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        if self.settings.user_roles == UserRoles::Aggregated || self.settings.manage < Manage::All {
            return;
        }
        for name in self.materialized.target(snapshot, role, target) {
            key_of(&name).into_iter().for_each(&mut *mark);
        }
    }
}

/// Whether we would give a role or binding this name.
pub(crate) fn is_name_of_ours(name: &str) -> bool {
    key_of(name).is_some()
}

/// The key on whose behalf there is a role or binding of this name.
pub(super) fn key_of(name: &str) -> Option<ObjectRef> {
    if let Some(standing) = Standing::of(name) {
        return Some(standing.key());
    }
    if let Some(rest) = name.strip_prefix("crossplane:composite:") {
        return rest.rsplit_once(':').map(|(name, _)| ObjectRef::cluster(&DEFINITION, name));
    }
    if let Some(rest) = name.strip_prefix("crossplane:provider:") {
        return rest.rsplit_once(':').map(|(name, _)| ObjectRef::cluster(&REVISION, name));
    }
    if name.starts_with(FAMILY_PREFIX) {
        return Some(ObjectRef::cluster(&CLUSTER_ROLE, name));
    }
    let namespace = name.strip_prefix("crossplane-ns-")?.rsplit_once('-')?.0;
    Some(ObjectRef::cluster(&NAMESPACE, namespace))
}

/// The owners of a kind that an object has or had.
fn owners(before: Option<&Live>, now: Option<&Live>, kind: &str) -> BTreeSet<Name> {
    let all = before.into_iter().chain(now).flat_map(|live| &live.meta.owners);
    all.filter(|owner| owner.kind == kind).map(|owner| owner.name.clone()).collect()
}

/// Every standing role, as what it gathers.
pub(super) fn standing_targets() -> impl Iterator<Item = (Name, Target)> {
    people::ALL.into_iter().filter_map(|standing| {
        let selectors = standing.selectors()?;
        Some((standing.key().name, Target { selectors, labels: standing.labels() }))
    })
}

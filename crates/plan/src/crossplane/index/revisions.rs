//! What changed about provider revisions, and which of their families and packages it concerns.

use std::collections::BTreeSet;

use super::{enter, leave};
use crate::Name;
use crate::crossplane::Crossplane;
use crate::crossplane::kinds::{REVISION, Revision};
use crate::crossplane::provider::{brought, family_of};
use crate::crossplane::settings::FamilyRoles;
use crate::crossplane::words::PACKAGE;
use crate::object::{Live, ObjectRef};
use crate::snapshot::{Change, Snapshot};

impl Crossplane {
    /// Finds anew what revisions bring, once for all that changed about them.
    pub(in crate::crossplane) fn follow_resources(&mut self, snapshot: &Snapshot) {
        for revision in std::mem::take(&mut self.stale) {
            match snapshot.get(&ObjectRef::cluster(&REVISION, revision.clone())) {
                Some(live) => {
                    let new = brought(snapshot, live);
                    match self.resources.get_mut(&revision) {
                        // What follows from it stays.
                        Some(known) if known.resources == new.resources => known.problems = new.problems,
                        _ => {
                            self.resources.insert(revision, new);
                            if let Some((family, party)) = self.belonging(live) {
                                self.families.renew(family, party.as_ref());
                            }
                        }
                    }
                }
                None => drop(self.resources.remove(&revision)),
            }
        }
    }

    pub(super) fn follow_revision(
        &mut self,
        snapshot: &Snapshot,
        object: &ObjectRef,
        before: Option<&Live>,
        now: Option<&Live>,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        mark(object.clone());
        let same = match (before, now) {
            (Some(before), Some(now)) => {
                before.body::<Revision>() == now.body::<Revision>()
                    && before.meta.labels == now.meta.labels
                    && before.meta.uid == now.meta.uid
                    && before.meta.deleting == now.meta.deleting
            }
            _ => false,
        };
        if same {
            return;
        }
        let of_family = |live: &Live| self.belonging(live).map(|(family, party)| (family.clone(), party));
        let stays = before.map(of_family) == now.map(of_family);
        // Both those whom it left and those whom it joined have to look.
        if let Some(before) = before {
            self.mark_siblings(before, mark);
            self.family_role(before).into_iter().for_each(&mut *mark);
            if !stays {
                self.mark_family(before, mark);
                if let Some((family, party)) = self.belonging(before) {
                    self.families.leave(family, party.as_ref(), &object.name);
                }
            }
            before.meta.labels.get(PACKAGE).into_iter().for_each(|name| leave(&mut self.packages, name, &object.name));
        }
        if let Some(now) = now {
            now.meta.labels.get(PACKAGE).into_iter().for_each(|name| enter(&mut self.packages, name, &object.name));
            if stays {
                let lists =
                    |live: &Live| live.body::<Revision>().and_then(|revision| revision.status.object_refs.clone());
                if before.map(|before| (lists(before), &before.meta.uid)) != Some((lists(now), &now.meta.uid)) {
                    self.mark_union(snapshot, now, mark);
                }
            } else {
                if let Some((family, party)) = self.belonging(now) {
                    self.families.enter(family, party, &object.name);
                }
                self.mark_family(now, mark);
            }
            self.mark_siblings(now, mark);
            self.family_role(now).into_iter().for_each(&mut *mark);
        }
    }

    pub(super) fn mark_revision(&self, snapshot: &Snapshot, name: &Name, mark: &mut dyn FnMut(ObjectRef)) {
        let key = ObjectRef::cluster(&REVISION, name.clone());
        let role = snapshot.get(&key).and_then(|live| self.family_role(live));
        role.into_iter().chain([key]).for_each(mark);
    }

    /// A revision that brings something else, and those of its family who have to look.
    pub(super) fn mark_relatives(&self, snapshot: &Snapshot, name: &Name, mark: &mut dyn FnMut(ObjectRef)) {
        self.mark_revision(snapshot, name, mark);
        if let Some(live) = snapshot.get(&ObjectRef::cluster(&REVISION, name.clone())) {
            self.mark_siblings(live, mark);
            self.mark_union(snapshot, live, mark);
        }
    }

    /// Those who look at what families share, once all that they bring is known.
    pub(in crate::crossplane) fn follow_sharing(
        &self,
        snapshot: &Snapshot,
        changes: &[Change],
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        if self.settings.family_roles == FamilyRoles::Shared {
            let changed = changes.iter().filter(|change| family_of(&change.object.name).is_some());
            for name in changed.map(|change| &change.object.name).collect::<BTreeSet<_>>() {
                self.mark_sharing(snapshot, name, mark);
            }
        }
    }

    /// All in the family of a revision, whoever publishes them.
    fn mark_family(&self, live: &Live, mark: &mut dyn FnMut(ObjectRef)) {
        let Some((family, _)) = self.belonging(live) else { return };
        self.families.revisions(family).for_each(|name| mark(ObjectRef::cluster(&REVISION, name.clone())));
    }

    pub(super) fn mark_siblings(&self, live: &Live, mark: &mut dyn FnMut(ObjectRef)) {
        let names = live.meta.labels.get(PACKAGE).and_then(|package| self.packages.get(package)).into_iter().flatten();
        names.for_each(|name| mark(ObjectRef::cluster(&REVISION, name.clone())));
    }
}

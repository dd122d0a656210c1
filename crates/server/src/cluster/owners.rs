//! Who owns whom, by uid.

use std::collections::BTreeSet;

use rolewright_core::Name;
use rustc_hash::FxHashMap;

use super::{Entry, ObjectName};

/// Objects by uid, and the objects that each uid owns.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    by_uid: FxHashMap<Name, ObjectName>,
    dependents: FxHashMap<Name, BTreeSet<ObjectName>>,
    /// Objects that the garbage collector has to look at.
    work: BTreeSet<ObjectName>,
}

impl Owners {
    pub(super) fn add(&mut self, at: &ObjectName, entry: &Entry, old: Option<&Entry>) {
        if let Some(old) = old {
            if old.uid != entry.uid {
                self.gone(old);
            }
            self.disown(at, old);
        }
        self.by_uid.insert(entry.uid.clone(), at.clone());
        for owner in &entry.owners {
            self.dependents.entry(owner.clone()).or_default().insert(at.clone());
            if !self.by_uid.contains_key(owner) {
                self.work.insert(at.clone());
            }
        }
        if entry.collecting {
            self.work.insert(at.clone());
        }
        // A dependent that no longer blocks may be what a deleted owner waits for, and so may one that starts to go.
        if old.is_some_and(|old| old.owners != entry.owners || old.deleting != entry.deleting) {
            self.wake_owners(old.map_or(&[][..], |old| &old.owners));
        }
    }

    /// Knows an object by its uid. All are known before the first is added, so that no owner seems to be gone.
    pub(super) fn meet(&mut self, at: ObjectName, entry: &Entry) {
        self.by_uid.insert(entry.uid.clone(), at);
    }

    pub(super) fn remove(&mut self, at: &ObjectName, entry: &Entry) {
        self.disown(at, entry);
        self.gone(entry);
        self.wake_owners(&entry.owners);
    }

    fn gone(&mut self, entry: &Entry) {
        self.by_uid.remove(&entry.uid);
        self.work.extend(self.dependents.get(&entry.uid).into_iter().flatten().cloned());
    }

    fn disown(&mut self, at: &ObjectName, entry: &Entry) {
        for owner in &entry.owners {
            if let Some(owned) = self.dependents.get_mut(owner) {
                owned.remove(at);
                if owned.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
    }

    fn wake_owners(&mut self, owners: &[Name]) {
        self.work.extend(owners.iter().filter_map(|owner| self.by_uid.get(owner)).cloned());
    }

    /// The object with this uid.
    pub(crate) fn find(&self, uid: &str) -> Option<&ObjectName> {
        self.by_uid.get(uid)
    }

    /// The objects that name this uid as an owner.
    pub(crate) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectName> {
        self.dependents.get(uid).into_iter().flatten()
    }

    pub(super) fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    pub(super) fn take_work(&mut self) -> BTreeSet<ObjectName> {
        std::mem::take(&mut self.work)
    }
}

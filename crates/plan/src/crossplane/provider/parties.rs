//! Who is of which family, and who publishes them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rolewright_core::Rule;

use super::resources::Stock;
use crate::Name;
use crate::crossplane::kinds::REVISION;
use crate::digest::hex;
use crate::object::{Live, ObjectRef};
use crate::rbac::CLUSTER_ROLE;
use crate::snapshot::Snapshot;

/// The roles of families begin with this.
pub(in crate::crossplane) const PREFIX: &str = "crossplane:provider-family:";

/// Revisions by family, and within it by publisher; `None` for those whose publisher cannot be told.
#[derive(Debug, Default)]
pub(in crate::crossplane) struct Families(pub(super) BTreeMap<Name, BTreeMap<Option<Name>, Party>>);

/// Revisions of one family and one publisher.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) revisions: BTreeSet<Name>,
    /// The name of the role that they share, if they do; `None` if nobody knows who publishes them.
    pub(super) role: Option<Name>,
    /// What all of them bring, for as long as none of them brings something else.
    pub(super) union: OnceLock<Stock>,
    /// What they may do with it, for as long as the boundary is the same as well.
    pub(super) bounded: OnceLock<Vec<Rule>>,
}

impl Party {
    fn of(family: &str, publisher: Option<&Name>) -> Self {
        let role = publisher.map(|publisher| role_name(family, publisher));
        Self { revisions: BTreeSet::new(), role, union: OnceLock::new(), bounded: OnceLock::new() }
    }

    /// Forgets what follows from what they bring.
    fn renew(&mut self) {
        self.union.take();
        self.bounded.take();
    }

    pub(super) fn members<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a Live> {
        self.revisions.iter().filter_map(|name| snapshot.get(&ObjectRef::cluster(&REVISION, name.clone())))
    }

    /// Their role; `None` if nobody shares with anybody.
    pub(super) fn role(&self) -> Option<ObjectRef> {
        let role = self.role.as_ref().filter(|_| self.revisions.len() > 1)?;
        Some(ObjectRef::cluster(&CLUSTER_ROLE, role.clone()))
    }
}

impl Families {
    pub(in crate::crossplane) fn enter(&mut self, family: &Name, party: Option<Name>, revision: &Name) {
        let party = match self.0.entry(family.clone()).or_default().entry(party) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let party = Party::of(family, new.key().as_ref());
                new.insert(party)
            }
        };
        party.revisions.insert(revision.clone());
        party.renew();
    }

    pub(in crate::crossplane) fn leave(&mut self, family: &Name, party: Option<&Name>, revision: &Name) {
        let party = party.cloned();
        let Some(parties) = self.0.get_mut(family) else { return };
        if let Some(known) = parties.get_mut(&party) {
            known.revisions.remove(revision);
            known.renew();
            if known.revisions.is_empty() {
                parties.remove(&party);
            }
        }
        if parties.is_empty() {
            self.0.remove(family);
        }
    }

    /// All revisions of a family, whoever publishes them.
    pub(in crate::crossplane) fn revisions(&self, family: &str) -> impl Iterator<Item = &Name> {
        self.0.get(family).into_iter().flat_map(BTreeMap::values).flat_map(|party| &party.revisions)
    }

    /// A revision brings something else than before.
    pub(in crate::crossplane) fn renew(&mut self, family: &Name, party: Option<&Name>) {
        if let Some(party) = self.0.get_mut(family).and_then(|parties| parties.get_mut(&party.cloned())) {
            party.renew();
        }
    }

    /// The boundary is another.
    pub(in crate::crossplane) fn rebound(&mut self) {
        self.0.values_mut().flat_map(BTreeMap::values_mut).for_each(|party| drop(party.bounded.take()));
    }

    /// The roles of all families in which somebody shares with somebody.
    pub(in crate::crossplane) fn roles(&self) -> impl Iterator<Item = ObjectRef> {
        self.0.values().flat_map(BTreeMap::values).filter_map(Party::role)
    }

    /// Those who share a role.
    pub(super) fn sharing(&self, role: &Name) -> Option<&Party> {
        let parties = self.0.get(family_of(role)?)?;
        parties.values().find(|party| party.role().is_some_and(|shared| shared.name == *role))
    }
}

/// The family whose role has this name.
pub(in crate::crossplane) fn family_of(role: &str) -> Option<&str> {
    let rest = role.strip_prefix(PREFIX)?.strip_suffix(":system")?;
    rest.rsplit_once(':').map(|(family, _)| family)
}

/// `crossplane:provider-family:<family>:<who publishes it>:system`.
fn role_name(family: &str, party: &str) -> Name {
    Name::new(format!("{PREFIX}{family}:{}:system", hex(party, 8)))
}

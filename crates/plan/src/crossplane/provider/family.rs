//! Families: providers of one publisher that use each other's resources.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rolewright_core::{Labels, RoleRef, Subject};

use super::holds;
use super::resources::Stock;
use crate::Name;
use crate::crossplane::kinds::{REVISION, Revision};
use crate::crossplane::people::made_by_us;
use crate::crossplane::settings::FamilyRoles;
use crate::crossplane::words::{self, FAMILY};
use crate::crossplane::{Crossplane, owner};
use crate::diagnostic::{Code, Diagnostic};
use crate::digest::hex;
use crate::intent::{Claim, Content, Intent, Shape, Wanted};
use crate::object::{Live, ObjectRef};
use crate::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING, RoleBody};
use crate::snapshot::Snapshot;

/// The roles of families begin with this.
pub(in crate::crossplane) const PREFIX: &str = "crossplane:provider-family:";

/// Whom a revision shares with.
#[derive(Debug, Default)]
pub(super) struct Relatives<'a> {
    /// Those of the same publisher, itself among them.
    pub(super) members: Vec<&'a Live>,
    /// Those that say they belong to the family and are published by others.
    pub(super) strangers: Vec<&'a Live>,
}

/// Revisions by family, and within it by publisher; `None` for those whose publisher cannot be told.
#[derive(Debug, Default)]
pub(in crate::crossplane) struct Families(BTreeMap<Name, BTreeMap<Option<Name>, Party>>);

/// Revisions of one family and one publisher.
#[derive(Debug)]
struct Party {
    revisions: BTreeSet<Name>,
    /// The name of the role that they share, if they do; `None` if nobody knows who publishes them.
    role: Option<Name>,
    /// What all of them bring, for as long as none of them brings something else.
    union: OnceLock<Stock>,
}

impl Party {
    fn of(family: &str, publisher: Option<&Name>) -> Self {
        let role = publisher.map(|publisher| role_name(family, publisher));
        Self { revisions: BTreeSet::new(), role, union: OnceLock::new() }
    }

    /// Their role; `None` if nobody shares with anybody.
    fn role(&self) -> Option<ObjectRef> {
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
        party.union.take();
    }

    pub(in crate::crossplane) fn leave(&mut self, family: &Name, party: Option<&Name>, revision: &Name) {
        let party = party.cloned();
        let Some(parties) = self.0.get_mut(family) else { return };
        if let Some(known) = parties.get_mut(&party) {
            known.revisions.remove(revision);
            known.union.take();
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
            party.union.take();
        }
    }

    /// The roles of all families in which somebody shares with somebody.
    pub(in crate::crossplane) fn roles(&self) -> impl Iterator<Item = ObjectRef> {
        self.0.values().flat_map(BTreeMap::values).filter_map(Party::role)
    }

    /// Those who share a role.
    fn sharing(&self, role: &Name) -> Option<&Party> {
        let parties = self.0.get(family_of(role)?)?;
        parties.values().find(|party| party.role().is_some_and(|shared| shared.name == *role))
    }
}

impl Crossplane {
    /// The family that a revision says it belongs to, and who publishes it.
    pub(in crate::crossplane) fn belonging<'a>(&self, live: &'a Live) -> Option<(&'a Name, Option<Name>)> {
        let family = live.meta.labels.get(FAMILY).filter(|family| !family.is_empty())?;
        let party = live.body::<Revision>().and_then(|revision| self.trust.party(&revision.spec.image));
        Some((family, party))
    }

    /// Everyone in the family of a revision; nobody if it has none.
    pub(super) fn relatives<'a>(&self, snapshot: &'a Snapshot, live: &'a Live) -> Relatives<'a> {
        let Some((family, party)) = self.belonging(live) else { return Relatives::default() };
        let get = |name: &Name| snapshot.get(&ObjectRef::cluster(&REVISION, name.clone()));
        let mut relatives = Relatives { members: vec![live], strangers: Vec::new() };
        for (other, of_other) in self.families.0.get(family).into_iter().flatten() {
            let others = of_other.revisions.iter().filter(|name| **name != live.meta.name).filter_map(get);
            if party.is_some() && *other == party {
                relatives.members.extend(others);
            } else {
                relatives.strangers.extend(others);
            }
        }
        relatives
    }

    /// Says who is left out of a family, and why.
    pub(super) fn strangers(&self, key: &ObjectRef, live: &Live, strangers: &[&Live]) -> Option<Diagnostic> {
        let first = strangers.first()?;
        let (family, _) = self.belonging(live)?;
        let of = |live: &Live| {
            self.belonging(live).and_then(|(_, party)| party).unwrap_or_else(|| Name::new("an unknown publisher"))
        };
        let others = match strangers.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!(
            "`{}`{others} is of the family `{family}` but from `{}`, not from `{}`: neither reaches the other's resources",
            first.meta.name,
            of(first),
            of(live),
        );
        Some(Diagnostic::new(Code::FamilyStranger, key.clone(), message))
    }

    /// The role of the family of a revision; `None` if it shares with nobody.
    pub(in crate::crossplane) fn family_role(&self, live: &Live) -> Option<ObjectRef> {
        self.party(live)?.role()
    }

    fn party(&self, live: &Live) -> Option<&Party> {
        let (family, party) = self.belonging(live)?;
        self.families.0.get(family)?.get(&party)
    }

    /// What a revision and all who share with it bring.
    pub(super) fn union(&self, live: &Live) -> &Stock {
        match self.party(live) {
            Some(party) if party.role.is_some() => self.union_of(party),
            _ => self.brought(live),
        }
    }

    fn union_of<'a>(&'a self, party: &'a Party) -> &'a Stock {
        let brought = || party.revisions.iter().filter_map(|name| self.resources.get(name));
        party.union.get_or_init(|| Stock::new(brought().flat_map(|stock| &stock.resources).cloned().collect()))
    }

    /// Whether a revision keeps its own copy of the union: because that is how families work here, because somebody bound
    /// its roles to others, or because the family's role does not give it everything yet.
    pub(super) fn keeps_copy(&self, snapshot: &Snapshot, live: &Live, union: &Stock) -> bool {
        if self.settings.family_roles == FamilyRoles::Replicated || self.is_bound_by_others(snapshot, live) {
            return true;
        }
        let Some(role) = self.family_role(live) else { return true };
        let binding = ObjectRef { kind: &CLUSTER_ROLE_BINDING, ..role.clone() };
        let holds = snapshot.body::<RoleBody>(&role).is_some_and(|role| holds(role, union.reconcile()));
        let binding = snapshot.body::<BindingBody>(&binding);
        let is_bound = |subject: &Subject| binding.is_some_and(|binding| binding.subjects.contains(subject));
        !(holds && self.subjects(snapshot, live).iter().all(is_bound))
    }

    fn is_bound_by_others(&self, snapshot: &Snapshot, live: &Live) -> bool {
        let bindings = self.bindings.get(&live.meta.name).into_iter().flatten();
        bindings.into_iter().any(|binding| {
            snapshot
                .get(binding)
                .is_some_and(|binding| binding.meta.controller().is_none_or(|owner| owner.uid != live.meta.uid))
        })
    }

    /// What there should be for a family: one role with all that its members bring, bound to all their accounts.
    pub(in crate::crossplane) fn intend_family(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let binding = ObjectRef { kind: &CLUSTER_ROLE_BINDING, ..key.clone() };
        let ours = |object: &&ObjectRef| snapshot.get(object).is_some_and(|live| made_by_us(&live.meta));
        let held: Vec<ObjectRef> = [&binding, key].into_iter().filter(ours).cloned().collect();
        let mut intent = Intent { held, ..Intent::default() };
        let Some(party) = self.families.sharing(&key.name) else { return intent };
        let get = |name: &Name| snapshot.get(&ObjectRef::cluster(&REVISION, name.clone()));
        let members: Vec<&Live> = party.revisions.iter().filter_map(get).collect();
        let union = self.union_of(party);
        let wanted = match self.settings.family_roles {
            FamilyRoles::Shared => !union.is_empty(),
            // It goes when nobody needs it any more.
            FamilyRoles::Replicated => {
                !intent.held.is_empty() && !members.iter().all(|member| holds_union(snapshot, member, union))
            }
        };
        if !wanted {
            return intent;
        }
        let (label, value) = words::managed();
        let claim = Claim::Labelled(label.clone(), value.clone());
        let shape = |content| Shape {
            labels: Labels::from_iter([(label.clone(), value.clone())]),
            owners: members.iter().map(|member| owner(member, &REVISION, false)).collect(),
            content,
            ..Shape::default()
        };
        let because = format!("{} providers of one family use each other's resources", members.len());
        let rules = self.bound(snapshot, key, union.reconcile().to_vec(), &mut intent.diagnostics);
        let subjects: BTreeSet<_> = members.iter().flat_map(|member| self.subjects(snapshot, member)).collect();
        let role = Wanted {
            object: key.clone(),
            claim: claim.clone(),
            shape: shape(Content::rules(rules)),
            because: because.clone(),
        };
        intent.wanted.push(role);
        if !subjects.is_empty() {
            let subjects: Vec<_> = subjects.into_iter().collect();
            let content = Content::binding(RoleRef::cluster_role(key.name.clone()), subjects);
            intent.wanted.push(Wanted { object: binding, claim, shape: shape(content), because });
        }
        intent
    }

    /// Whether a binding is one to a revision's role, and to which revision's.
    pub(in crate::crossplane) fn bound_revision(live: &Live) -> Option<Name> {
        let binding = live.body::<BindingBody>()?;
        let rest = binding.role_ref.name.strip_prefix("crossplane:provider:")?;
        let (revision, _) = rest.rsplit_once(':')?;
        Some(Name::new(revision))
    }

    /// Kinds of bindings by which somebody may lean on a revision's role.
    pub(in crate::crossplane) fn is_binding(object: &ObjectRef) -> bool {
        *object.kind == CLUSTER_ROLE_BINDING || *object.kind == ROLE_BINDING
    }
}

/// Whether a member's own role gives everything that the family's gives.
fn holds_union(snapshot: &Snapshot, member: &Live, union: &Stock) -> bool {
    let role = ObjectRef::cluster(&CLUSTER_ROLE, words::provider_role(&member.meta.name, "system"));
    snapshot.body::<RoleBody>(&role).is_some_and(|role| holds(role, union.reconcile()))
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

//! Families: providers of one publisher that use each other's resources.

use std::collections::BTreeSet;

use rolewright_core::{Labels, RoleRef, Rule, RuleSet, Subject};

use super::parties::Party;
use super::resources::{Resource, Resources, Stock};
use super::{ROLE_NAMES, every_provider, holds, own_role};
use crate::Name;
use crate::crossplane::kinds::{REVISION, Revision};
use crate::crossplane::people::made_by_us;
use crate::crossplane::settings::FamilyRoles;
use crate::crossplane::words::{self, FAMILY};
use crate::crossplane::{Crossplane, owner};
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Claim, Content, Intent, Shape, Wanted};
use crate::object::{Live, ObjectRef};
use crate::rbac::{BindingBody, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RoleBody};
use crate::snapshot::Snapshot;

/// What a family has in common.
struct Common<'a> {
    /// Whether its role gives all that it should.
    holds: bool,
    binding: Option<&'a BindingBody>,
}

impl Crossplane {
    /// The family that a revision says it belongs to, and who publishes it.
    pub(in crate::crossplane) fn belonging<'a>(&self, live: &'a Live) -> Option<(&'a Name, Option<Name>)> {
        let family = live.meta.labels.get(FAMILY).filter(|family| !family.is_empty())?;
        let party = live.body::<Revision>().and_then(|revision| self.trust.party(&revision.spec.image));
        Some((family, party))
    }

    /// Tells a revision that it is left out of its family, and why. The family is where most of its members come from: these
    /// need not know of everybody who says to be one of them.
    pub(super) fn left_out(&self, key: &ObjectRef, live: &Live) -> Option<Diagnostic> {
        let (family, party) = self.belonging(live)?;
        let parties = self.families.0.get(family)?;
        // Whoever cannot be told from others is alone.
        let size = |party: &Option<Name>, of: &Party| if party.is_some() { of.revisions.len() } else { 1 };
        let is_other = |other: &Option<Name>| party.is_none() || *other != party;
        let others = || parties.iter().filter(|(other, _)| is_other(other));
        let own = parties.get(&party).map_or(1, |of| size(&party, of));
        if others().all(|(other, of)| size(other, of) < own) {
            return None;
        }
        let mut strangers = others()
            .flat_map(|(other, of)| of.revisions.iter().map(move |name| (name, other)))
            .filter(|(name, _)| **name != live.meta.name);
        let (first, from) = strangers.next()?;
        let others = match strangers.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        let of = |party: &Option<Name>| party.clone().unwrap_or_else(|| Name::new("an unknown publisher"));
        let message = format!(
            "`{first}`{others} is of the family `{family}` but from `{}`, not from `{}`: neither reaches the other's resources",
            of(from),
            of(&party),
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

    /// What the accounts of a family may do with all that it brings: what its role holds.
    fn bounded<'a>(&'a self, snapshot: &Snapshot, party: &'a Party) -> &'a [Rule] {
        party.bounded.get_or_init(|| self.within_boundary(snapshot, self.union_of(party).reconcile().to_vec()))
    }

    /// Whether a revision keeps its own copy of the union: because that is how families work here, or because the family's
    /// role does not give it everything yet. Where somebody else bound its role, a copy would be theirs as well.
    pub(super) fn keeps_copy(&self, snapshot: &Snapshot, live: &Live) -> bool {
        if self.settings.family_roles == FamilyRoles::Replicated {
            return true;
        }
        let common = self.party(live).and_then(|party| self.common(snapshot, party));
        !self.is_bound_by_others(snapshot, live, &["system"])
            && common.is_none_or(|common| self.lacks(snapshot, live, &common))
    }

    /// What a family has in common at the moment; `None` if nobody shares with anybody.
    fn common<'a>(&'a self, snapshot: &'a Snapshot, party: &'a Party) -> Option<Common<'a>> {
        let role = party.role()?;
        let binding = ObjectRef { kind: &CLUSTER_ROLE_BINDING, ..role.clone() };
        let holds = snapshot.body::<RoleBody>(&role).is_some_and(|role| holds(role, self.bounded(snapshot, party)));
        Some(Common { holds, binding: snapshot.body(&binding) })
    }

    /// Whether what a family has in common is not enough for a member.
    fn lacks(&self, snapshot: &Snapshot, live: &Live, common: &Common<'_>) -> bool {
        let is_bound = |subject: &Subject| common.binding.is_some_and(|binding| binding.subjects.contains(subject));
        !common.holds || !self.subjects(snapshot, live).iter().all(is_bound)
    }

    /// Marks those who have to look because a member brings something else.
    pub(in crate::crossplane) fn mark_union(&self, snapshot: &Snapshot, live: &Live, mark: &mut dyn FnMut(ObjectRef)) {
        let Some(party) = self.party(live) else { return };
        let Some(role) = party.role() else { return };
        let binding = ObjectRef { kind: &CLUSTER_ROLE_BINDING, ..role.clone() };
        // Whoever leans on the family's role has nothing to do, if that is going to be written. Should the write fail, so
        // would that of a copy.
        let is_left = |object: &ObjectRef| {
            snapshot
                .get(object)
                .is_some_and(|live| live.meta.deleting || live.meta.is_paused() || !made_by_us(&live.meta))
        };
        let all = self.settings.family_roles == FamilyRoles::Replicated || is_left(&role) || is_left(&binding);
        let concerned = |member: &&Live| {
            all || self.is_bound_by_others(snapshot, member, &ROLE_NAMES)
                || !self.has(snapshot, member, self.brought(member))
        };
        party.members(snapshot).filter(concerned).for_each(|member| mark(key(member)));
        mark(role);
    }

    /// Marks those who have to look because a role that they share, or its binding, is another.
    pub(in crate::crossplane) fn mark_sharing(
        &self,
        snapshot: &Snapshot,
        role: &Name,
        mark: &mut dyn FnMut(ObjectRef),
    ) {
        let Some(party) = self.families.sharing(role) else { return };
        let Some(common) = self.common(snapshot, party) else { return };
        let concerned = |member: &&Live| {
            let lacks = self.lacks(snapshot, member, &common);
            !self.has(snapshot, member, if lacks { self.union_of(party) } else { self.brought(member) })
                || self.is_bound_by_others(snapshot, member, &["system"])
        };
        party.members(snapshot).filter(concerned).for_each(|member| mark(key(member)));
    }

    /// Whether a member's own role begins as one that is made of a stock does.
    fn has(&self, snapshot: &Snapshot, member: &Live, stock: &Stock) -> bool {
        // What a boundary leaves of it is not worth finding out.
        let rules =
            snapshot.body::<RoleBody>(&system_role(member)).filter(|_| !self.bounds_all()).map(|role| &role.rules);
        let [first, _] = every_provider();
        let rest = rules.and_then(|rules| rules.strip_prefix(stock.reconcile()));
        rest.is_some_and(|rest| rest.first() == Some(&first))
    }

    /// What a role of a revision holds for those who bound it, if somebody did: what the revision brings, and what the role
    /// still has of its family. Whoever took a role with all of it loses nothing; whoever takes one that has less gets no
    /// more, because the API server has not asked whether they may give that.
    pub(super) fn kept(&self, snapshot: &Snapshot, live: &Live, role: &str) -> Option<Stock> {
        if !self.is_bound_by_others(snapshot, live, &[role]) {
            return None;
        }
        let held =
            own_role(snapshot, live, role).and_then(Live::body::<RoleBody>).map(|role| RuleSet::new(&role.rules));
        let is_held = |resource: &&Resource| {
            let rules = match role {
                "system" => self.within_boundary(snapshot, resource.rules(role)),
                _ => resource.rules(role),
            };
            held.as_ref().is_some_and(|held| rules.iter().all(|rule| held.covers(rule)))
        };
        let mut resources: Resources = self.union(live).resources.iter().filter(is_held).cloned().collect();
        resources.extend(self.brought(live).resources.iter().cloned());
        Some(Stock::new(resources))
    }

    /// Whether somebody else bound one of these roles of a revision.
    fn is_bound_by_others(&self, snapshot: &Snapshot, live: &Live, roles: &[&str]) -> bool {
        let bindings = self.bindings.get(&live.meta.name).into_iter().flatten();
        let bindings = bindings.filter_map(|binding| snapshot.get(binding));
        let mut others = bindings.filter(|it| it.meta.controller().is_none_or(|owner| owner.uid != live.meta.uid));
        others.any(|it| bound_role(it).is_some_and(|(_, role)| roles.contains(&role)))
    }

    /// What there should be for a family: one role with all that its members bring, bound to all their accounts.
    pub(in crate::crossplane) fn intend_family(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let binding = ObjectRef { kind: &CLUSTER_ROLE_BINDING, ..key.clone() };
        let ours = |object: &&ObjectRef| snapshot.get(object).is_some_and(|live| made_by_us(&live.meta));
        let held: Vec<ObjectRef> = [&binding, key].into_iter().filter(ours).cloned().collect();
        let mut intent = Intent { held, ..Intent::default() };
        let Some(party) = self.families.sharing(&key.name) else { return intent };
        if self.settings.family_roles == FamilyRoles::Replicated && intent.held.is_empty() {
            return intent;
        }
        let members: Vec<&Live> = party.members(snapshot).collect();
        let union = self.union_of(party);
        let rules = self.bounded(snapshot, party);
        let wanted = match self.settings.family_roles {
            FamilyRoles::Shared => !union.is_empty(),
            // It goes when nobody needs it any more.
            FamilyRoles::Replicated => !members.iter().all(|member| has_copy(snapshot, member, rules)),
        };
        if !wanted {
            return intent;
        }
        intent.diagnostics.extend(self.beyond_boundary(snapshot, key, union.reconcile()));
        let (label, value) = words::managed();
        let claim = Claim::Labelled(label.clone(), value.clone());
        let shape = |content| Shape {
            labels: Labels::from_iter([(label.clone(), value.clone())]),
            owners: members.iter().map(|member| owner(member, &REVISION, false)).collect(),
            content,
            ..Shape::default()
        };
        let because = format!("{} providers of one family use each other's resources", members.len());
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
}

/// The revision and the role of it that a binding gives, if it gives one.
pub(in crate::crossplane) fn bound_role(binding: &Live) -> Option<(&str, &str)> {
    let RoleRef { kind, name, .. } = &binding.body::<BindingBody>()?.role_ref;
    let name = name.strip_prefix("crossplane:provider:").filter(|_| kind == CLUSTER_ROLE.kind)?;
    name.rsplit_once(':')
}

/// Whether a member's own role gives everything that the family's gives.
fn has_copy(snapshot: &Snapshot, member: &Live, rules: &[Rule]) -> bool {
    snapshot.body::<RoleBody>(&system_role(member)).is_some_and(|role| holds(role, rules))
}

fn system_role(member: &Live) -> ObjectRef {
    ObjectRef::cluster(&CLUSTER_ROLE, words::provider_role(&member.meta.name, "system"))
}

fn key(member: &Live) -> ObjectRef {
    ObjectRef::cluster(&REVISION, member.meta.name.clone())
}

//! The roles of a provider's revision: what its account does, and what others do with its resources.

mod boundary;
mod family;
mod organisation;
mod parties;
mod resources;

use std::collections::BTreeSet;

use rolewright_core::{Labels, RoleRef, Rule, RuleSet, Subject};

use super::kinds::{MANAGED_RESOURCE, REVISION, Revision, SERVED_RESOURCE};
use super::rules::{EVERYTHING, VIEW, rule};
use super::settings::{InactiveRevisions, Manage};
use super::words::{self, PACKAGE, SYSTEM, aggregate_to, aggregating, label_value, provider_role};
use super::{Crossplane, controlled, held, present};
use crate::Name;
use crate::diagnostic::{Code, Diagnostic};
use crate::intent::{Content, Intent, Shape, Wanted};
use crate::object::{Live, ObjectRef};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, RoleBody};
use crate::snapshot::Snapshot;
use crate::workload::{DEPLOYMENT, Deployment, SERVICE_ACCOUNT};

pub(super) use family::bound_role;
pub(super) use organisation::Trust;
pub(super) use parties::{Families, PREFIX as FAMILY_PREFIX, family_of};
pub(super) use resources::{Stock, brought};

use resources::Resources;

const ROLE_NAMES: [&str; 3] = ["aggregate-to-edit", "aggregate-to-view", "system"];

/// What is known of one revision.
struct Facts<'a> {
    live: &'a Live,
    revision: &'a Revision,
    /// What its account works on: what it brings, with what its family brings if it keeps a copy of that.
    stock: &'a Stock,
    /// Whether it has anything to work on, be it only what its family brings.
    works: bool,
}

/// For whom the resources of a revision are granted because of it.
#[derive(Clone, Copy)]
struct Serves {
    people: bool,
    core: bool,
}

impl Crossplane {
    /// What a revision brings.
    fn brought(&self, live: &Live) -> &Stock {
        static NOTHING: Stock = Stock::new(Resources::new());
        self.resources.get(&live.meta.name).unwrap_or(&NOTHING)
    }

    pub(super) fn intend_revision(&self, snapshot: &Snapshot, key: &ObjectRef) -> Intent {
        let names = ROLE_NAMES.map(|role| provider_role(&key.name, role));
        let live = match present(snapshot, key, &names) {
            Ok(live) => live,
            Err(without) => return without,
        };
        let Some(revision) = live.body::<Revision>() else { return Intent::default() };
        let mut intent = Intent { held: held(snapshot, live, &names), ..Intent::default() };
        let told = |(code, message): &(Code, String)| Diagnostic::new(*code, key.clone(), message.clone());
        intent.diagnostics.extend(self.brought(live).problems.iter().map(told));
        intent.diagnostics.extend(self.left_out(key, live));
        let (own, union) = (self.brought(live), self.union(live));
        let works = !own.is_empty() || !union.is_empty();
        let kept = if self.keeps_copy(snapshot, live) { None } else { Some(self.kept(snapshot, live, "system")) };
        let stock = kept.as_ref().map_or(union, |kept| kept.as_ref().unwrap_or(own));
        let facts = Facts { live, revision, stock, works };
        intent.wanted.extend(self.human_roles(snapshot, live, self.serves(snapshot, live, revision)));
        intent.wanted.extend(self.system(snapshot, key, &facts, &mut intent.diagnostics));
        intent
    }

    /// For whom the resources are granted because of this revision. Crossplane deactivates an old revision before the new
    /// one is there; nobody loses access in between, and nobody gets anew what goes.
    fn serves(&self, snapshot: &Snapshot, live: &Live, revision: &Revision) -> Serves {
        let mut successors = self.successors(snapshot, live).peekable();
        if revision.is_active() || self.settings.inactive == InactiveRevisions::Keep || successors.peek().is_none() {
            return Serves { people: true, core: true };
        }
        let is_followed = successors.any(|sibling| self.is_served_by(snapshot, sibling));
        let still = |role: &str, label: &str| {
            let has = |role: &Live| role.meta.labels.contains_key(&aggregate_to(label));
            !is_followed && own_role(snapshot, live, role).is_some_and(has)
        };
        Serves {
            people: still("aggregate-to-edit", "edit") || still("aggregate-to-view", "view"),
            core: still("aggregate-to-edit", "crossplane") || is_served_for(snapshot, live),
        }
    }

    /// Other revisions of the package that are active, and have taken over what this one brings.
    fn successors<'a>(&'a self, snapshot: &'a Snapshot, live: &'a Live) -> impl Iterator<Item = &'a Live> {
        let package = live.meta.labels.get(PACKAGE).and_then(|package| self.packages.get(package));
        let siblings = package.into_iter().flatten().filter(|name| **name != live.meta.name);
        let siblings = siblings.filter_map(|name| snapshot.get(&ObjectRef::cluster(&REVISION, name.clone())));
        // Resources change hands one by one; only once all have is the list of the new revision written.
        let lists = |live: &Live| live.body().is_some_and(|revision| !resources::declared(revision).is_empty());
        siblings.filter(move |sibling| {
            let is_active = sibling.body::<Revision>().is_some_and(Revision::is_active);
            let is_complete = !self.brought(sibling).is_empty() && (lists(sibling) || !lists(live));
            is_active && is_complete && !sibling.meta.deleting
        })
    }

    /// Whether the roles by which others use a revision's resources are there, with all of them.
    fn is_served_by(&self, snapshot: &Snapshot, revision: &Live) -> bool {
        let roles: &[(&str, &str)] = match self.settings.manage {
            Manage::ServiceAccounts => &[("edit", "crossplane")],
            Manage::Basic | Manage::All => &[("edit", "edit"), ("view", "view")],
        };
        let brought = self.brought(revision);
        roles.iter().all(|(role, label)| {
            let rules = if *role == "edit" { brought.edit() } else { brought.view() };
            own_role(snapshot, revision, &format!("aggregate-to-{role}")).is_some_and(|role| {
                role.meta.labels.contains_key(&aggregate_to(label))
                    && role.body::<RoleBody>().is_some_and(|role| holds(role, rules))
            })
        })
    }

    fn human_roles(&self, snapshot: &Snapshot, live: &Live, serves: Serves) -> Vec<Wanted> {
        let people = serves.people && self.settings.manage >= Manage::Basic;
        let mut edit = Labels::new();
        if serves.core {
            edit.extend(aggregating(&["crossplane"]));
        }
        let mut view = Labels::new();
        if people {
            edit.extend(aggregating(&["edit", "admin"]));
            view.extend(aggregating(&["view"]));
        }
        let mut wanted = Vec::new();
        for (role, mut labels) in [("aggregate-to-edit", edit), ("aggregate-to-view", view)] {
            // People reach what a family brings through each member's own roles, so that what only an old revision brings
            // goes with that one.
            let kept = self.kept(snapshot, live, role);
            let offered = kept.as_ref().unwrap_or(self.brought(live));
            // Nobody gathers it any more, but somebody bound it.
            let is_leaned_on = kept.is_some() && self.settings.manage >= Manage::Basic;
            let stands = is_leaned_on && own_role(snapshot, live, role).is_some();
            if offered.is_empty() || (labels.is_empty() && !stands) {
                continue;
            }
            labels.extend([words::managed()]);
            let content = Content::rules(if role == "aggregate-to-edit" { offered.edit() } else { offered.view() });
            let because = format!("others use what `{}` brings", live.meta.name);
            wanted.push(revision_object(live, &CLUSTER_ROLE, role, labels, content, because));
        }
        wanted
    }

    /// The role of a provider's account, and its binding.
    fn system(
        &self,
        snapshot: &Snapshot,
        key: &ObjectRef,
        facts: &Facts<'_>,
        problems: &mut Vec<Diagnostic>,
    ) -> Vec<Wanted> {
        let Facts { live, revision, stock, works, .. } = facts;
        let requests = revision.status.permission_requests.as_deref().unwrap_or_default();
        let granted = self.grant_requests(snapshot, key, requests, problems);
        if !works && granted.is_empty() {
            return Vec::new();
        }
        let mut rules = stock.reconcile().to_vec();
        rules.extend(every_provider());
        if revision.starts_safely() {
            rules.push(rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], &VIEW));
        }
        rules.extend(granted);
        problems.extend(self.beyond_boundary(snapshot, key, &rules));
        let rules = self.within_boundary(snapshot, rules);
        let name = &live.meta.name;
        let labels: Labels = [(Name::new(SYSTEM), label_value(name)), words::managed()].into();
        let because = format!("`{name}` works on its resources");
        let role = revision_object(live, &CLUSTER_ROLE, "system", labels, Content::rules(rules), because.clone());
        let subjects = self.subjects(snapshot, live);
        let mut wanted = vec![role];
        if !subjects.is_empty() {
            let content = Content::binding(RoleRef::cluster_role(provider_role(name, "system")), subjects);
            let labels = Labels::from_iter([words::managed()]);
            wanted.push(revision_object(live, &CLUSTER_ROLE_BINDING, "system", labels, content, because));
        }
        wanted
    }

    /// The accounts that a revision runs as: those of the deployments that it controls where providers run, and before there
    /// is one, those that it controls itself. Crossplane deletes neither the account of a revision that it deactivates, nor
    /// one that its deployment no longer runs as.
    fn subjects(&self, snapshot: &Snapshot, live: &Live) -> Vec<Subject> {
        let is_active = live.body::<Revision>().is_some_and(Revision::is_active);
        let (mut waiting, mut running) = (BTreeSet::new(), BTreeSet::new());
        for object in snapshot.owned_by(&live.meta.uid) {
            let Some(owned) = snapshot.get(object).filter(|owned| is_controlled_by(owned, live)) else { continue };
            if !self.settings.runs_providers(&object.namespace) {
                continue;
            }
            if *object.kind == SERVICE_ACCOUNT && is_active {
                waiting.insert((object.namespace.clone(), object.name.clone()));
            } else if *object.kind == DEPLOYMENT
                && let Some(Deployment { service_account, .. }) = owned.body()
                && !service_account.is_empty()
            {
                running.insert((object.namespace.clone(), service_account.clone()));
            }
        }
        let accounts = if running.is_empty() { waiting } else { running };
        accounts.into_iter().map(|(namespace, name)| Subject::service_account(namespace, name)).collect()
    }
}

/// A role that is there on behalf of a revision.
fn own_role<'a>(snapshot: &'a Snapshot, live: &Live, role: &str) -> Option<&'a Live> {
    let role = snapshot.get(&ObjectRef::cluster(&CLUSTER_ROLE, provider_role(&live.meta.name, role)))?;
    role.meta.controller().is_some_and(|owner| owner.uid == live.meta.uid).then_some(role)
}

/// Whether anything is served that a revision owns, or that is defined by what it owns.
fn is_served_for(snapshot: &Snapshot, live: &Live) -> bool {
    let is_served = |object: &ObjectRef| {
        *object.kind == SERVED_RESOURCE
            || (*object.kind == MANAGED_RESOURCE
                && snapshot.get(&ObjectRef { kind: &SERVED_RESOURCE, ..object.clone() }).is_some())
    };
    snapshot.owned_by(&live.meta.uid).any(is_served)
}

/// Whether a role gives everything that rules give.
fn holds(role: &RoleBody, rules: &[Rule]) -> bool {
    // Mostly it has just been written.
    if role.rules == rules {
        return true;
    }
    let held = RuleSet::new(&role.rules);
    rules.iter().all(|rule| held.covers(rule))
}

fn is_controlled_by(owned: &Live, revision: &Live) -> bool {
    owned.meta.controller().is_some_and(|owner| {
        let group = owner.api_version.split('/').next().unwrap_or_default();
        owner.uid == revision.meta.uid && owner.kind == REVISION.kind && group == REVISION.group
    })
}

fn revision_object(
    live: &Live,
    kind: &'static crate::Kind,
    role: &str,
    labels: Labels,
    content: Content,
    because: String,
) -> Wanted {
    let shape = Shape { labels, owners: vec![controlled(live, &REVISION)], content, ..Shape::default() };
    let object = ObjectRef::cluster(kind, provider_role(&live.meta.name, role));
    Wanted::controlled(object, &live.meta.uid, shape, because)
}

/// What every provider does: tell what happens, keep credentials and state, elect a leader.
fn every_provider() -> [Rule; 2] {
    [
        rule(["", "coordination.k8s.io"], ["secrets", "configmaps", "events", "leases"], &EVERYTHING),
        rule(["events.k8s.io"], ["events"], &EVERYTHING),
    ]
}

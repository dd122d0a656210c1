//! Crossplane's permissions: who may use what providers bring and definitions define.
//!
//! Everything that is written hangs on an object of the cluster: the roles of a definition on the definition, those of a
//! provider on its revision, those of a namespace on the namespace. Only the few roles that people are bound to stand for
//! themselves.

mod composite;
mod custom;
mod index;
mod kinds;
mod materialized;
mod namespace;
mod people;
mod provider;
mod rules;
mod settings;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::{RBAC_GROUP, Rule};

use crate::intent::{Intent, Wanted};
use crate::kind::{Kind, NAMESPACE};
use crate::module::{Module, SharedLease, Turn, Watch};
use crate::object::{Live, Meta, ObjectRef, Owner};
use crate::rbac::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING};
use crate::snapshot::{Change, Snapshot};
use crate::vocabulary::manager;
use crate::{Name, Time};

pub use crate::workload::{DEPLOYMENT, SERVICE_ACCOUNT};
pub(crate) use index::is_name_of_ours;
use index::{key_of, standing_targets};
pub use kinds::{DEFINITION, MANAGED_RESOURCE, REVISION, SERVED_RESOURCE};
use materialized::Materialized;
pub use materialized::gathered;
use people::Standing;
use provider::{Families, Stock, Trust};
pub use settings::{Boundary, FamilyRoles, InactiveRevisions, Manage, Settings, UserRoles};

/// The lease that Crossplane's own manager holds: while it does, we only plan.
const LEASE: &str = "crossplane-leader-election-rbac";

/// The module.
#[derive(Debug, Default)]
pub struct Crossplane {
    settings: Settings,
    trust: Trust,
    /// Definitions by the value of the label that names them.
    definitions: BTreeMap<Name, Name>,
    /// Definitions by the resources that they define for claims.
    claimed: BTreeMap<Name, BTreeSet<Name>>,
    /// Namespaces by what they say something about.
    mentioning: BTreeMap<Name, BTreeSet<Name>>,
    /// Revisions by family, and within it by publisher.
    families: Families,
    /// What each revision brings.
    resources: BTreeMap<Name, Stock>,
    /// Revisions of which that must be found anew.
    stale: BTreeSet<Name>,
    /// Revisions by package.
    packages: BTreeMap<Name, BTreeSet<Name>>,
    /// Bindings by the revision to one of whose roles they bind.
    bindings: BTreeMap<Name, BTreeSet<ObjectRef>>,
    materialized: Materialized,
}

impl Crossplane {
    /// The module, working like this.
    pub fn new(settings: Settings) -> Self {
        let mut module = Self { trust: Trust::new(&settings.trusted), settings, ..Self::default() };
        if module.settings.user_roles == UserRoles::Materialized {
            module.materialized = Materialized::new(standing_targets(), module.bases());
        }
        module
    }
}

impl Module for Crossplane {
    fn name(&self) -> &'static str {
        "crossplane"
    }

    fn watches(&self) -> Vec<Watch> {
        let mut watches = [
            &DEFINITION,
            &REVISION,
            &SERVED_RESOURCE,
            &CLUSTER_ROLE,
            &CLUSTER_ROLE_BINDING,
            // Whoever bound a role of a provider leans on what it has always held.
            &ROLE_BINDING,
            &DEPLOYMENT,
            &SERVICE_ACCOUNT,
        ]
        .map(Watch::needed)
        .to_vec();
        watches.push(Watch::optional(&MANAGED_RESOURCE));
        if self.settings.manage == Manage::All {
            watches.push(Watch::needed(&NAMESPACE));
        }
        watches
    }

    fn writes(&self) -> Vec<Rule> {
        let finalizers = |kind: &Kind| format!("{}/finalizers", kind.plural);
        let mut rules = vec![
            Rule::resources(
                [RBAC_GROUP],
                ["clusterroles", "clusterrolebindings"],
                ["create", "delete", "get", "patch"],
            ),
            // Nobody holds all that providers and definitions bring, so the API server must be told not to ask for it.
            Rule::resources([RBAC_GROUP], ["clusterroles"], ["bind", "escalate"]),
            // To own is to be able to hold up the deletion of the owner.
            Rule::resources([DEFINITION.group], [finalizers(&DEFINITION).as_str()], ["update"]),
            Rule::resources([REVISION.group], [finalizers(&REVISION).as_str()], ["update"]),
        ];
        if self.settings.manage == Manage::All {
            rules.push(Rule::resources([""], [finalizers(&NAMESPACE).as_str()], ["update"]));
        }
        rules
    }

    fn lease(&self) -> Option<SharedLease> {
        let flag = "--crossplane-namespace";
        Some(SharedLease { namespace: self.settings.namespace.clone(), name: Name::new(LEASE), flag })
    }

    fn is_peers(&self, object: &ObjectRef) -> bool {
        let is_on_behalf = |key: ObjectRef| *key.kind == DEFINITION || *key.kind == REVISION;
        (*object.kind == CLUSTER_ROLE || *object.kind == CLUSTER_ROLE_BINDING)
            && key_of(&object.name).is_some_and(is_on_behalf)
    }

    fn observe(&mut self, snapshot: &Snapshot, changes: &[Change], _: Time, mark: &mut dyn FnMut(ObjectRef)) {
        if self.settings.user_roles == UserRoles::Materialized {
            let concerned = self.materialized.feed(snapshot, changes);
            concerned.iter().filter_map(|name| key_of(name)).for_each(&mut *mark);
        }
        for change in changes {
            self.follow(snapshot, change, mark);
        }
        self.follow_resources(snapshot);
        self.follow_sharing(snapshot, changes, mark);
    }

    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, _: Time) -> Intent {
        match () {
            () if *key.kind == DEFINITION => self.intend_composite(snapshot, key),
            () if *key.kind == REVISION => self.intend_revision(snapshot, key),
            () if *key.kind == NAMESPACE => self.intend_namespace(snapshot, key),
            () => match Standing::of(&key.name) {
                Some(standing) => self.intend_standing(snapshot, standing),
                None => self.intend_family(snapshot, key),
            },
        }
    }

    fn turn(&self, key: &ObjectRef) -> Turn {
        let stands = || Standing::of(&key.name).is_some_and(|standing| standing.selectors().is_some());
        let gathers = || *key.kind == NAMESPACE || (*key.kind == CLUSTER_ROLE && stands());
        match () {
            () if self.settings.user_roles == UserRoles::Materialized && gathers() => Turn::Gathers,
            // Who would copy what its family's role does not hold yet first lets that be written.
            () if self.settings.family_roles == FamilyRoles::Shared && *key.kind == REVISION => Turn::Follows,
            () => Turn::Brings,
        }
    }

    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef> {
        let all =
            |kind: &'static Kind| snapshot.all(kind).map(move |live| ObjectRef::cluster(kind, live.meta.name.clone()));
        let mut keys: Vec<ObjectRef> = people::ALL.into_iter().map(Standing::key).collect();
        keys.extend(all(&DEFINITION).chain(all(&REVISION)));
        keys.extend(self.mentioning.values().flatten().map(|name| ObjectRef::cluster(&NAMESPACE, name.clone())));
        keys.extend(self.families.roles());
        // Whatever is left of what is no longer there or no longer wanted.
        let ours = snapshot.all(&CLUSTER_ROLE).chain(snapshot.all(&CLUSTER_ROLE_BINDING));
        let is_ours = |meta: &Meta| meta.ours.is_some() || meta.is_from(manager::CROSSPLANE) || meta.revived;
        let ours = ours.filter(|live| is_ours(&live.meta));
        keys.extend(ours.filter_map(|live| key_of(&live.meta.name)));
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// The roles and bindings that exist for an object that is there: those that it controls and that are ours, or have a name
/// that we would give; and those of ours of such a name from which somebody took their owner away.
fn held(snapshot: &Snapshot, live: &Live, names: &[Name]) -> Vec<ObjectRef> {
    let uid = &live.meta.uid;
    let is_held = |object: &&ObjectRef| {
        let is_kind = *object.kind == CLUSTER_ROLE || *object.kind == CLUSTER_ROLE_BINDING;
        let is_ours = |held: &Live| {
            held.meta.controller().is_some_and(|owner| owner.uid == *uid)
                && (held.meta.ours.is_some() || names.contains(&object.name))
        };
        is_kind && snapshot.get(object).is_some_and(is_ours)
    };
    let is_orphan = |object: &ObjectRef| {
        let is_ours = |meta: &Meta| meta.ours.is_some() || meta.revived;
        snapshot.get(object).is_some_and(|held| is_ours(&held.meta) && held.meta.controller().is_none())
    };
    snapshot.owned_by(uid).filter(is_held).cloned().chain(of_names(names).filter(is_orphan)).collect()
}

/// What is left of an object that is gone, or whose kind we no longer look at. Kubernetes collects it as well.
fn left_of(snapshot: &Snapshot, key: &ObjectRef, names: &[Name]) -> Vec<ObjectRef> {
    let is_left = |object: &ObjectRef| {
        snapshot.get(object).is_some_and(|left| {
            (left.meta.ours.is_some() || left.meta.revived)
                && left.meta.controller().is_none_or(|owner| owner.kind == key.kind.kind && owner.name == key.name)
        })
    };
    of_names(names).filter(is_left).collect()
}

/// All objects that have one of these names.
fn of_names(names: &[Name]) -> impl Iterator<Item = ObjectRef> {
    let kinds = [&CLUSTER_ROLE, &CLUSTER_ROLE_BINDING];
    names.iter().flat_map(move |name| kinds.map(|kind| ObjectRef::cluster(kind, name.clone())))
}

/// The object of a key, or what to do without it: one that is being deleted keeps what it has until it is gone.
fn present<'a>(snapshot: &'a Snapshot, key: &ObjectRef, names: &[Name]) -> Result<&'a Live, Intent> {
    match snapshot.get(key) {
        Some(live) if !live.meta.deleting => Ok(live),
        Some(_) => Err(Intent::default()),
        None => Err(Intent { held: left_of(snapshot, key, names), ..Intent::default() }),
    }
}

/// A live object as the controller of what is made for it.
fn controlled(live: &Live, kind: &Kind) -> Owner {
    owner(live, kind, true)
}

fn owner(live: &Live, kind: &Kind, controller: bool) -> Owner {
    Owner {
        api_version: kind.api_version(kind.best_version()).into(),
        kind: kind.kind.into(),
        name: live.meta.name.clone(),
        uid: live.meta.uid.clone(),
        controller,
    }
}

impl Wanted {
    /// An object that is controlled by the one with this uid.
    fn controlled(object: ObjectRef, uid: &Name, shape: crate::intent::Shape, because: String) -> Self {
        Self { object, claim: crate::intent::Claim::Controlled(uid.clone()), shape, because }
    }
}

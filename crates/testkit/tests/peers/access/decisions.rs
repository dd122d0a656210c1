//! Where we differ from Crossplane's own manager on purpose. A row that nothing needs any more is a fault, too.

use std::collections::BTreeSet;

use rolewright_core::access::Scope;
use rolewright_core::subject::{Principal, service_account_of};

use crate::world::{Expected, HOME, Known, Resource, SHOP, Way};

/// A right that one of both managers gives, and the other one does not.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    who: Principal,
    scope: Scope,
    /// Whether it is Crossplane's that gives it.
    lost: bool,
    group: String,
    resource: String,
    /// The resource that it is about, subresources aside.
    at: Resource,
    verb: String,
}

/// One decision.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) explains: fn(&Expected<'_>, &Difference) -> bool,
}

pub(crate) const DECISIONS: [Row; 12] = [
    Row { name: "events are told in their new API as well", explains: events },
    Row { name: "a provider deletes who uses its configurations", explains: usages },
    Row { name: "what only inactive revisions bring is not for people", explains: inactive },
    Row { name: "only what a revision controls where providers run names its accounts", explains: strangers },
    Row { name: "an account that a revision controls is its account", explains: own_accounts },
    Row { name: "what a revision owns counts though it does not list it", explains: unlisted },
    Row { name: "a definition can be paused", explains: paused },
    Row { name: "a definition gives nothing that somebody else controls", explains: controlled },
    Row { name: "a name may be longer than a label", explains: long },
    Row { name: "an account without a name does not spoil a binding", explains: unnamed },
    Row { name: "a namespace has roles of its own", explains: namespaces },
    Row { name: "what a revision no longer brings is taken away", explains: left_behind },
];

impl Difference {
    pub(crate) fn new(who: &Principal, scope: &Scope, lost: bool, group: &str, resource: &str, verb: &str) -> Self {
        let base = resource.split('/').next().unwrap_or_default();
        Self {
            who: who.clone(),
            scope: scope.clone(),
            lost,
            group: group.to_owned(),
            resource: resource.to_owned(),
            at: (group.to_owned(), base.to_owned()),
            verb: verb.to_owned(),
        }
    }

    fn user(&self) -> Option<&str> {
        match &self.who {
            Principal::User(name) => Some(name),
            Principal::Group(_) => None,
        }
    }

    /// Whether it is about the account of some provider.
    fn is_provider(&self) -> bool {
        self.user().and_then(service_account_of).is_some_and(|account| account != (HOME, "crossplane"))
    }

    /// Whether it is on one of these resources.
    fn is_on(&self, resources: &BTreeSet<Resource>) -> bool {
        resources.contains(&self.at)
            || (self.resource == "*/finalizers" && resources.iter().any(|(group, _)| *group == self.group))
    }

    /// Whether it is on resources that others have because of a revision.
    fn is_of(&self, revision: &Known, way: Way) -> bool {
        self.is_on(&revision.offered[way as usize])
    }

    /// Whether a role on these resources gives it to the accounts of a revision.
    fn is_of_role(&self, revision: &Known, resources: &BTreeSet<Resource>) -> bool {
        let of_all = match self.group.as_str() {
            "" | "coordination.k8s.io" => ["secrets", "configmaps", "events", "leases"].contains(&&*self.resource),
            "apiextensions.k8s.io" => self.resource == "customresourcedefinitions" && !revision.capabilities.is_empty(),
            _ => false,
        };
        self.is_on(resources) || (of_all && !resources.is_empty())
    }

    /// Whether a revision gives it to one of its accounts.
    fn is_from(&self, revision: &Known, way: Way) -> bool {
        self.is_for(revision, way) && self.is_of_role(revision, &revision.union[way as usize])
    }

    fn is_for(&self, revision: &Known, way: Way) -> bool {
        self.user().is_some_and(|user| revision.accounts[way as usize].contains(user))
    }
}

fn events(_: &Expected<'_>, it: &Difference) -> bool {
    !it.lost && it.group == "events.k8s.io" && it.resource == "events"
}

fn usages(_: &Expected<'_>, it: &Difference) -> bool {
    !it.lost && it.is_provider() && it.verb == "delete" && it.resource.ends_with("usages")
}

fn inactive(expected: &Expected<'_>, it: &Difference) -> bool {
    if !it.lost || it.is_provider() {
        return false;
    }
    let core = it.user().is_some_and(|user| service_account_of(user) == Some((HOME, "crossplane")));
    let serves = |revision: &Known| if core { revision.for_core } else { revision.for_people };
    let all = &expected.revisions;
    all.iter().any(|revision| !serves(revision) && it.is_of(revision, Way::Theirs))
        && !all.iter().any(|revision| serves(revision) && it.is_of(revision, Way::Ours))
}

fn strangers(expected: &Expected<'_>, it: &Difference) -> bool {
    it.lost
        && expected
            .revisions
            .iter()
            .any(|revision| it.is_from(revision, Way::Theirs) && !it.is_for(revision, Way::Ours))
}

fn own_accounts(expected: &Expected<'_>, it: &Difference) -> bool {
    !it.lost
        && expected
            .revisions
            .iter()
            .any(|revision| it.is_from(revision, Way::Ours) && !it.is_for(revision, Way::Theirs))
}

fn unlisted(expected: &Expected<'_>, it: &Difference) -> bool {
    let of = |revision: &Known| {
        if it.is_provider() {
            it.is_from(revision, Way::Ours) && !it.is_of_role(revision, &revision.union[Way::Theirs as usize])
        } else {
            it.is_of(revision, Way::Ours) && !it.is_of(revision, Way::Theirs)
        }
    };
    !it.lost && expected.revisions.iter().any(of)
}

fn paused(expected: &Expected<'_>, it: &Difference) -> bool {
    it.lost
        && expected.world.definitions.iter().any(|definition| {
            let names = [Some(&definition.plural), definition.claim.as_ref()];
            definition.paused
                && definition.group == it.group
                && names.into_iter().flatten().any(|name| *name == it.at.1)
        })
}

/// What the provider who serves it gives as well is not lost: what is left is what only a definition gives.
fn controlled(expected: &Expected<'_>, it: &Difference) -> bool {
    let name = format!("{}.{}", it.at.1, it.at.0);
    let is_defined = expected.world.definitions.iter().any(|definition| definition.name() == name);
    let browses = it.user() == Some("crossplane-browse") && ["get", "list", "watch"].contains(&&*it.verb);
    let finalizes = !it.is_provider() && it.resource.ends_with("/finalizers");
    it.lost && is_defined && expected.world.is_taken(&name) && (browses || finalizes)
}

fn long(expected: &Expected<'_>, it: &Difference) -> bool {
    !it.lost && expected.revisions.iter().any(|revision| revision.is_long() && it.is_from(revision, Way::Ours))
}

fn unnamed(expected: &Expected<'_>, it: &Difference) -> bool {
    !it.lost && expected.revisions.iter().any(|revision| revision.is_unnamed && it.is_from(revision, Way::Ours))
}

fn namespaces(_: &Expected<'_>, it: &Difference) -> bool {
    !it.lost && it.scope == Scope::Namespace(SHOP.into())
}

fn left_behind(expected: &Expected<'_>, it: &Difference) -> bool {
    let of = |revision: &Known| {
        if it.is_provider() {
            it.is_for(revision, Way::Theirs) && it.is_of_role(revision, &revision.before)
        } else {
            it.is_on(&revision.before)
        }
    };
    it.lost && expected.revisions.iter().any(|known| known.union[Way::Theirs as usize].is_empty() && of(known))
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { who, scope, lost, group, resource, verb, .. } = self;
        let side = if *lost { "only theirs" } else { "only ours" };
        write!(f, "{side}: {who} in {scope} may {verb} {resource}.{group}")
    }
}

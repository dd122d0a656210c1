//! What a world gives to whom, in Crossplane's own way and in ours.

use std::collections::BTreeSet;

use rolewright_core::Rule;
use rolewright_core::subject::{Principal, service_account_user};

use super::{Definition, HOME, Resource, Revision, World};

/// The roles of people, each bound to a user of this name.
pub(crate) fn people() -> [&'static str; 4] {
    ["crossplane-admin", "crossplane-edit", "crossplane-view", "crossplane-browse"]
}

/// Whose way; an index as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Theirs = 0,
    Ours = 1,
}

/// What should be, now that a world has become another.
pub(crate) struct Expected<'a> {
    pub(crate) world: &'a World,
    pub(crate) revisions: Vec<Known>,
    /// What must be so, for there to be anything to compare.
    pub(crate) facts: Vec<Fact>,
}

/// What is known of a revision.
pub(crate) struct Known {
    /// The resources that the role of its accounts is about, in Crossplane's way and in ours.
    pub(crate) union: [BTreeSet<Resource>; 2],
    /// The resources that others have because of it: in Crossplane's way all of its family's, in ours its own.
    pub(crate) offered: [BTreeSet<Resource>; 2],
    /// The users that get its role, in both ways.
    pub(crate) accounts: [BTreeSet<String>; 2],
    /// What its roles were about when there were any before, in Crossplane's way.
    pub(crate) before: BTreeSet<Resource>,
    /// Whether people have its resources because of it, in our way.
    pub(crate) for_people: bool,
    /// Whether Crossplane has.
    pub(crate) for_core: bool,
    /// Whether one of its accounts has no name.
    pub(crate) is_unnamed: bool,
    pub(crate) capabilities: Vec<&'static str>,
    name: String,
}

impl Known {
    /// Whether Crossplane's own manager cannot bind its role: a label would be too long, or an account has no name.
    fn is_beyond_them(&self) -> bool {
        self.is_long() || self.is_unnamed
    }

    /// Whether its name is no value of a label.
    pub(crate) fn is_long(&self) -> bool {
        self.name.len() > 63
    }
}

/// A right that somebody has or has not.
pub(crate) struct Fact {
    pub(crate) who: Principal,
    pub(crate) rule: Rule,
    pub(crate) holds: bool,
    /// Whether it is so in Crossplane's own way as well.
    pub(crate) theirs: bool,
}

impl World {
    /// The resources that a revision's roles are about.
    fn union(&self, revision: &Revision, way: Way) -> BTreeSet<Resource> {
        let mut all = BTreeSet::new();
        for member in self.members(revision) {
            all.extend(Self::listed(member));
            if way == Way::Ours {
                all.extend(self.owned(member));
            }
        }
        all
    }

    /// The resources that others have because of a revision.
    fn offered(&self, revision: &Revision, way: Way) -> BTreeSet<Resource> {
        match way {
            Way::Theirs => self.union(revision, way),
            Way::Ours => Self::listed(revision).into_iter().chain(self.owned(revision)).collect(),
        }
    }

    /// The accounts that get a revision's role, as users.
    fn accounts_of(&self, revision: &Revision, way: Way) -> BTreeSet<String> {
        let user = |namespace: &str, name: &str| service_account_user(namespace, name).to_string();
        let deployed = self.deployments.iter().filter(|deployment| {
            deployment.revision == revision.name
                && !deployment.account.is_empty()
                && (way == Way::Theirs || (deployment.controlled && deployment.namespace == HOME))
        });
        let mut all: BTreeSet<String> =
            deployed.map(|deployment| user(deployment.namespace, &deployment.account)).collect();
        if way == Way::Ours && all.is_empty() {
            let own = self.accounts.iter().filter(|(owner, _)| revision.active && *owner == revision.name);
            all.extend(own.map(|(_, name)| user(HOME, name)));
        }
        all
    }

    /// Whether people have a revision's resources because of it, in our way.
    fn serves_people(&self, revision: &Revision) -> bool {
        let is_successor = |other: &&Revision| {
            other.package == revision.package
                && other.name != revision.name
                && other.active
                && !self.offered(other, Way::Ours).is_empty()
        };
        revision.active || !self.revisions.iter().any(|other| is_successor(&other))
    }

    /// Whether Crossplane has them, in our way.
    fn serves_core(&self, revision: &Revision) -> bool {
        let is_served = |served: &&super::Served| served.revision == revision.name && !served.managed;
        self.serves_people(revision) || self.served.iter().any(|served| is_served(&served))
    }
}

fn rule(group: &str, resource: &str, verb: &str) -> Rule {
    Rule::resources([group], [resource], [verb])
}

fn user(name: &str) -> Principal {
    Principal::User(name.into())
}

impl<'a> Expected<'a> {
    /// After these worlds comes this one.
    pub(crate) fn new(history: &[World], world: &'a World) -> Self {
        let revisions: Vec<Known> = world.revisions.iter().map(|revision| known(history, world, revision)).collect();
        let facts = facts(history.last(), world, &revisions);
        Self { world, revisions, facts }
    }
}

fn known(history: &[World], world: &World, revision: &Revision) -> Known {
    let before = |old: &World| {
        let same = old.revisions.iter().find(|same| same.name == revision.name)?;
        Some(old.union(same, Way::Theirs)).filter(|union| !union.is_empty())
    };
    let mut deployed = world.deployments.iter().filter(|deployment| deployment.revision == revision.name);
    Known {
        union: [Way::Theirs, Way::Ours].map(|way| world.union(revision, way)),
        offered: [Way::Theirs, Way::Ours].map(|way| world.offered(revision, way)),
        accounts: [Way::Theirs, Way::Ours].map(|way| world.accounts_of(revision, way)),
        before: history.iter().rev().find_map(before).unwrap_or_default(),
        for_people: world.serves_people(revision),
        for_core: world.serves_core(revision),
        is_unnamed: deployed.any(|deployment| deployment.account.is_empty()),
        capabilities: revision.capabilities.clone(),
        name: revision.name.clone(),
    }
}

fn facts(before: Option<&World>, world: &World, revisions: &[Known]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for definition in world.definitions.iter().filter(|definition| !definition.paused) {
        if world.is_taken(&definition.name()) {
            let rule = rule(&definition.group, &definition.plural, "list");
            facts.push(Fact { who: user("crossplane-browse"), rule, holds: false, theirs: false });
        } else {
            facts.extend(of_definition(definition));
        }
    }
    let gone = |old: &&Definition| !world.definitions.iter().any(|new| new.name() == old.name());
    for definition in before.iter().flat_map(|before| &before.definitions).filter(gone) {
        let rule = rule(&definition.group, &definition.plural, "get");
        facts.push(Fact { who: user("crossplane-view"), rule, holds: false, theirs: true });
    }
    for known in revisions {
        let ([union, _], [_, offered]) = (&known.union, &known.offered);
        for (group, plural) in union.intersection(offered) {
            let core = service_account_user(HOME, "crossplane");
            for (who, verb, is_so) in [
                ("crossplane-admin", "*", known.for_people),
                ("crossplane-edit", "*", known.for_people),
                ("crossplane-view", "get", known.for_people),
                (&*core, "*", known.for_core),
            ] {
                if is_so {
                    facts.push(Fact { who: user(who), rule: rule(group, plural, verb), holds: true, theirs: true });
                }
            }
        }
        for (group, plural) in union {
            let [theirs, ours] = &known.accounts;
            for account in ours {
                let theirs = theirs.contains(account) && !known.is_beyond_them();
                facts.push(Fact { who: user(account), rule: rule(group, plural, "patch"), holds: true, theirs });
            }
        }
    }
    facts
}

fn of_definition(definition: &Definition) -> Vec<Fact> {
    let Definition { group, plural, claim, .. } = definition;
    let core = user(&service_account_user(HOME, "crossplane"));
    let fact = |who: &Principal, resource: &str, verb: &str, holds: bool| Fact {
        who: who.clone(),
        rule: rule(group, resource, verb),
        holds,
        theirs: true,
    };
    let mut facts = vec![
        fact(&user("crossplane-browse"), plural, "list", true),
        fact(&user("crossplane-view"), plural, "list", true),
        fact(&user("crossplane-edit"), plural, "delete", true),
        fact(&user("crossplane-admin"), plural, "delete", true),
        fact(&core, &format!("{plural}/finalizers"), "update", true),
    ];
    if let Some(claim) = claim {
        facts.push(fact(&user("crossplane-view"), claim, "watch", true));
        facts.push(fact(&user("crossplane-browse"), claim, "watch", false));
    }
    facts
}

//! What a revision brings: the resources that it says it owns, and those that say it owns them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use rolewright_core::{NameList, Rule};

use crate::Name;
use crate::crossplane::custom::{shown, wrong_group, wrong_plural};
use crate::crossplane::kinds::{MANAGED_RESOURCE, Revision, SERVED_RESOURCE};
use crate::crossplane::rules::{DELETE, EVERYTHING, RECONCILE, UPDATE, VIEW, rule, sub};
use crate::diagnostic::Code;
use crate::object::{Live, ObjectRef};
use crate::snapshot::Snapshot;

/// A resource, in the order in which rules name them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::crossplane) struct Resource {
    pub(in crate::crossplane) group: Name,
    pub(in crate::crossplane) plural: Name,
    /// Its status, as rules name it.
    status: Name,
}

impl Resource {
    /// What a role that holds it gives.
    pub(super) fn rules(&self, role: &str) -> Vec<Rule> {
        let verbs = match role {
            "aggregate-to-edit" => &EVERYTHING,
            "aggregate-to-view" => &VIEW,
            _ => &RECONCILE,
        };
        rules(&Resources::from([self.clone()]), verbs)
    }
}

/// Resources, each once.
pub(in crate::crossplane) type Resources = BTreeSet<Resource>;

/// `buckets.s3.aws.upbound.io`, unless that cannot be a custom resource.
fn resource(name: &str) -> Result<Resource, &'static str> {
    let (plural, group) = name.split_once('.').ok_or("has no group")?;
    if let Some(why) = wrong_plural(plural).or_else(|| wrong_group(group)) {
        return Err(why);
    }
    Ok(Resource { group: Name::new(group), plural: Name::new(plural), status: sub(plural, "status") })
}

/// What a revision says that it owns.
pub(super) fn declared(revision: &Revision) -> Resources {
    names_declared(revision).filter_map(|name| resource(name).ok()).collect()
}

fn names_declared(revision: &Revision) -> impl Iterator<Item = &Name> {
    let defines = |group: &str, kind: &str| {
        [&SERVED_RESOURCE, &MANAGED_RESOURCE].iter().any(|defined| defined.group == group && defined.kind == kind)
    };
    let refs = revision.status.object_refs.iter().flatten();
    refs.filter(move |reference| {
        let mut parts = reference.api_version.split('/');
        let group = parts.next().unwrap_or_default();
        parts.next().is_some() && parts.next().is_none() && defines(group, &reference.kind)
    })
    .map(|reference| &reference.name)
}

fn names_owned<'a>(snapshot: &'a Snapshot, uid: &str) -> impl Iterator<Item = &'a Name> {
    let defines = |object: &&ObjectRef| *object.kind == SERVED_RESOURCE || *object.kind == MANAGED_RESOURCE;
    snapshot.owned_by(uid).filter(defines).map(|object| &object.name)
}

/// What a revision brings, as the snapshot has it: what it says that it owns, and what says that it is owned by it.
pub(in crate::crossplane) fn brought(snapshot: &Snapshot, live: &Live) -> Stock {
    let mut refused = BTreeMap::new();
    let mut all = |names: &mut dyn Iterator<Item = &Name>| {
        let mut known = Resources::new();
        for name in names {
            match resource(name) {
                Ok(resource) => known.extend([resource]),
                Err(why) => refused.extend([(name.clone(), why)]),
            }
        }
        known
    };
    let declared = live.body().map(|revision| all(&mut names_declared(revision))).unwrap_or_default();
    let owned = all(&mut names_owned(snapshot, &live.meta.uid));
    let problems = unlisted(&declared, &owned).into_iter().chain(refusal(&refused)).collect();
    let mut resources = owned;
    resources.extend(declared);
    Stock { problems, ..Stock::new(resources) }
}

/// Says when a revision does not list what it owns: whoever believes the list grants too little.
fn unlisted(declared: &Resources, owned: &Resources) -> Option<(Code, String)> {
    let first = owned.difference(declared).next().filter(|_| !declared.is_empty())?;
    let message = format!(
        "`status.objectRefs` lists {} of {} resources; `{}.{}` is missing",
        declared.intersection(owned).count(),
        owned.len(),
        first.plural,
        first.group
    );
    Some((Code::ResourcesUnlisted, message))
}

/// Says what cannot be a custom resource, so that nobody gets it.
fn refusal(refused: &BTreeMap<Name, &'static str>) -> Option<(Code, String)> {
    let (name, why) = refused.first_key_value()?;
    let more = match refused.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Some((Code::ResourceRefused, format!("nobody gets `{}`{more}, because part of it {why}", shown(name))))
}

/// Resources, with the rules on them. Many roles hold the same, so each list is made once and shared.
#[derive(Debug, Default)]
pub(in crate::crossplane) struct Stock {
    pub(in crate::crossplane) resources: Resources,
    /// What is wrong with them.
    pub(in crate::crossplane) problems: Vec<(Code, String)>,
    edit: OnceLock<Vec<Rule>>,
    view: OnceLock<Vec<Rule>>,
    reconcile: OnceLock<Vec<Rule>>,
}

impl Stock {
    pub(super) const fn new(resources: Resources) -> Self {
        Self {
            resources,
            problems: Vec::new(),
            edit: OnceLock::new(),
            view: OnceLock::new(),
            reconcile: OnceLock::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// What is needed to do anything with them.
    pub(super) fn edit(&self) -> &[Rule] {
        self.edit.get_or_init(|| rules(&self.resources, &EVERYTHING))
    }

    /// What is needed to look at them.
    pub(super) fn view(&self) -> &[Rule] {
        self.view.get_or_init(|| rules(&self.resources, &VIEW))
    }

    /// What a provider's account does with them.
    pub(super) fn reconcile(&self) -> &[Rule] {
        self.reconcile.get_or_init(|| reconciling(&self.resources))
    }
}

/// Rules on resources and their status, one for each group.
fn rules(resources: &Resources, verbs: &NameList) -> Vec<Rule> {
    by_group(resources, |resource| vec![resource.plural.clone(), resource.status.clone()], verbs)
}

fn reconciling(resources: &Resources) -> Vec<Rule> {
    let mut rules = rules(resources, &RECONCILE);
    // Who uses a configuration is written down, and crossed out again, by the provider.
    let is_usage = |resource: &Resource| resource.plural.ends_with("usages");
    let usages: Resources = resources.iter().filter(|resource| is_usage(resource)).cloned().collect();
    rules.extend(by_group(&usages, |resource| vec![resource.plural.clone()], &DELETE));
    let groups: BTreeSet<Name> = resources.iter().map(|resource| resource.group.clone()).collect();
    if !groups.is_empty() {
        rules.push(rule(groups, [sub("*", "finalizers")], &UPDATE));
    }
    rules
}

fn by_group(resources: &Resources, names: impl Fn(&Resource) -> Vec<Name>, verbs: &NameList) -> Vec<Rule> {
    let all: Vec<&Resource> = resources.iter().collect();
    all.chunk_by(|a, b| a.group == b.group)
        .filter_map(|of_group| {
            let group = of_group.first()?.group.clone();
            Some(rule([group], of_group.iter().flat_map(|resource| names(resource)), verbs))
        })
        .collect()
}

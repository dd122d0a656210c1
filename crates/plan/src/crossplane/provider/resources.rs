//! What a revision brings: the resources that it says it owns, and those that say it owns them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rolewright_core::{NameList, Rule};

use crate::Name;
use crate::crossplane::kinds::{MANAGED_RESOURCE, Revision, SERVED_RESOURCE};
use crate::crossplane::rules::{DELETE, EVERYTHING, RECONCILE, UPDATE, VIEW, rule, sub};
use crate::object::ObjectRef;
use crate::snapshot::Snapshot;

/// A resource, in the order in which rules name them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::crossplane) struct Resource {
    pub(in crate::crossplane) group: Name,
    pub(in crate::crossplane) plural: Name,
    /// Its status, as rules name it.
    status: Name,
}

/// Resources, each once.
pub(in crate::crossplane) type Resources = BTreeSet<Resource>;

/// `buckets.s3.aws.upbound.io`.
fn resource(name: &str) -> Option<Resource> {
    let (plural, group) = name.split_once('.')?;
    Some(Resource { group: Name::new(group), plural: Name::new(plural), status: sub(plural, "status") })
}

/// What a revision says that it owns.
pub(super) fn declared(revision: &Revision) -> Resources {
    let defines = |group: &str, kind: &str| {
        [&SERVED_RESOURCE, &MANAGED_RESOURCE].iter().any(|defined| defined.group == group && defined.kind == kind)
    };
    let refs = revision.status.object_refs.iter().flatten();
    refs.filter(|reference| {
        let mut parts = reference.api_version.split('/');
        let group = parts.next().unwrap_or_default();
        parts.next().is_some() && parts.next().is_none() && defines(group, &reference.kind)
    })
    .filter_map(|reference| resource(&reference.name))
    .collect()
}

/// What says that it is owned by a revision.
pub(super) fn owned(snapshot: &Snapshot, uid: &str) -> Resources {
    let defines = |object: &&ObjectRef| *object.kind == SERVED_RESOURCE || *object.kind == MANAGED_RESOURCE;
    snapshot.owned_by(uid).filter(defines).filter_map(|object| resource(&object.name)).collect()
}

/// Resources, with the rules on them. Many roles hold the same, so each list is made once and shared.
#[derive(Debug, Default)]
pub(in crate::crossplane) struct Stock {
    pub(super) resources: Resources,
    edit: OnceLock<Vec<Rule>>,
    view: OnceLock<Vec<Rule>>,
    reconcile: OnceLock<Vec<Rule>>,
}

impl Stock {
    pub(super) const fn new(resources: Resources) -> Self {
        Self { resources, edit: OnceLock::new(), view: OnceLock::new(), reconcile: OnceLock::new() }
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

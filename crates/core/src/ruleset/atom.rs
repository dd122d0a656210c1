//! Atoms: rules taken apart into the finest rights there are.

use std::collections::BTreeSet;

use crate::rule::{ANY, Rule};
use crate::{Name, NameList};

/// One group, resource, verb and object: the finest thing a resource rule can give.
#[derive(Clone, Copy)]
pub(super) struct Atom<'a> {
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    /// `*/sub` when the resource is `x/sub`.
    pub(super) any_with_subresource: Option<&'a str>,
    pub(super) verb: &'a str,
    pub(super) name: Option<&'a str>,
}

impl Atom<'_> {
    pub(super) fn is_covered_by(&self, rule: &Rule) -> bool {
        let resource = |pattern: &Name| {
            pattern == ANY || pattern == self.resource || Some(pattern.as_str()) == self.any_with_subresource
        };
        rule.allows_verb(self.verb)
            && rule.allows_group(self.group)
            && rule.resources.iter().any(resource)
            && (rule.resource_names.is_empty() || self.name.is_some_and(|name| rule.allows_name(name)))
    }
}

/// `*/sub` for `x/sub`; nothing for a resource without subresource.
pub(super) fn any_with_subresource(resource: &str) -> Option<String> {
    resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"))
}

/// The names an atom of this rule can carry: each one listed, or none at all.
pub(super) fn atom_names(rule: &Rule) -> impl Iterator<Item = Option<&Name>> {
    let unnamed = rule.resource_names.is_empty().then_some(None);
    unnamed.into_iter().chain(rule.resource_names.iter().map(Some))
}

pub(super) fn resource_atom(group: &Name, resource: &Name, verb: &Name, name: Option<&Name>) -> Rule {
    Rule {
        api_groups: [group.clone()].into(),
        resources: [resource.clone()].into(),
        resource_names: name.into_iter().cloned().collect(),
        non_resource_urls: NameList::default(),
        verbs: [verb.clone()].into(),
    }
}

pub(super) fn url_atom(url: &Name, verb: &Name) -> Rule {
    Rule { non_resource_urls: [url.clone()].into(), verbs: [verb.clone()].into(), ..Rule::default() }
}

pub(super) fn atom_count(rule: &Rule) -> usize {
    let objects = rule.resource_names.len().max(1);
    let resources = rule.api_groups.len().saturating_mul(rule.resources.len()).saturating_mul(objects);
    resources.saturating_add(rule.non_resource_urls.len()).saturating_mul(rule.verbs.len())
}

/// Whether `owner` alone covers every atom of `servant`, decided list by list.
pub(super) fn covers_whole(owner: &Rule, servant: &Rule) -> bool {
    let names = owner.resource_names.is_empty()
        || (!servant.resource_names.is_empty() && has_all(&owner.resource_names, &servant.resource_names));
    let list = |have: &[Name], want: &[Name]| have.iter().any(|text| text == ANY) || has_all(have, want);
    list(&owner.verbs, &servant.verbs)
        && list(&owner.api_groups, &servant.api_groups)
        && list(&owner.resources, &servant.resources)
        && list(&owner.non_resource_urls, &servant.non_resource_urls)
        && names
}

fn has_all(have: &[Name], want: &[Name]) -> bool {
    let have: BTreeSet<&Name> = have.iter().collect();
    want.iter().all(|text| have.contains(text))
}

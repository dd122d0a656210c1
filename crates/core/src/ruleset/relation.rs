//! How two sets of rights relate. RBAC has no deny and no conditions, so these are decided exactly.

use super::{Objects, RuleSet, Verbs, urls_overlap};
use crate::rule::ANY;
use crate::{Name, NameList, Rule};

impl RuleSet {
    /// Whether `wider` allows every request that this set allows.
    pub fn implies(&self, wider: &Self) -> bool {
        self.atoms_as_rules().all(|rule| wider.covers(&rule))
    }

    /// Whether both sets allow the same requests.
    pub fn equivalent(&self, other: &Self) -> bool {
        self.implies(other) && other.implies(self)
    }

    /// Whether no request is allowed by both sets.
    pub fn disjoint(&self, other: &Self) -> bool {
        let urls = |a: &Self, b: &Self| {
            a.all_urls().any(|(url, verbs)| {
                b.all_urls().any(|(other, more)| urls_overlap(&url, &other) && verbs_overlap(&verbs, &more))
            })
        };
        let resources = |a: &Self, b: &Self| {
            a.all_cells().any(|(group, resource, verbs)| {
                b.all_cells().any(|(other_group, other_resource, more)| {
                    either_any_or_equal(group, other_group)
                        && resources_overlap(resource, other_resource)
                        && rights_overlap(&verbs, &more)
                })
            })
        };
        !urls(self, other) && !resources(self, other)
    }

    /// One rule per cell and per URL: all rights, not yet grouped.
    pub(super) fn atoms_as_rules(&self) -> impl Iterator<Item = Rule> + '_ {
        let resources = self.resources.iter().flat_map(|(group, cells)| {
            cells.iter().flat_map(move |(resource, verbs)| {
                verbs.iter().map(move |(verb, objects)| Rule {
                    api_groups: [group.clone()].into(),
                    resources: [resource.clone()].into(),
                    resource_names: match objects {
                        Objects::All => NameList::default(),
                        Objects::Named(names) => names.iter().cloned().collect(),
                    },
                    non_resource_urls: NameList::default(),
                    verbs: [verb.clone()].into(),
                })
            })
        });
        let urls = self.urls.iter().map(|(url, verbs)| Rule {
            non_resource_urls: [url].into(),
            verbs: verbs.iter().cloned().collect(),
            ..Rule::default()
        });
        resources.chain(urls).chain(self.large.iter().cloned())
    }

    fn all_cells(&self) -> impl Iterator<Item = (&Name, &Name, Vec<(&Name, Objects)>)> {
        let cells = self
            .resources
            .iter()
            .flat_map(|(group, cells)| cells.iter().map(move |(resource, verbs)| (group, resource, owned(verbs))));
        let large = self.large.iter().flat_map(|rule| {
            rule.api_groups.iter().flat_map(move |group| {
                rule.resources.iter().map(move |resource| {
                    (group, resource, rule.verbs.iter().map(|verb| (verb, Objects::of(rule))).collect())
                })
            })
        });
        cells.chain(large)
    }

    fn all_urls(&self) -> impl Iterator<Item = (Name, Vec<&Name>)> {
        let urls = self.urls.iter().map(|(url, verbs)| (url, verbs.iter().collect()));
        let large = self
            .large
            .iter()
            .flat_map(|rule| rule.non_resource_urls.iter().map(move |url| (url.clone(), rule.verbs.iter().collect())));
        urls.chain(large)
    }
}

fn owned(verbs: &Verbs) -> Vec<(&Name, Objects)> {
    verbs.iter().map(|(verb, objects)| (verb, objects.clone())).collect()
}

fn verbs_overlap(a: &[&Name], b: &[&Name]) -> bool {
    a.iter().any(|a| b.iter().any(|b| either_any_or_equal(a, b)))
}

fn rights_overlap(a: &[(&Name, Objects)], b: &[(&Name, Objects)]) -> bool {
    a.iter().any(|(verb, objects)| {
        b.iter().any(|(other, more)| {
            either_any_or_equal(verb, other)
                && match (objects, more) {
                    (Objects::Named(a), Objects::Named(b)) => !a.is_disjoint(b),
                    _ => true,
                }
        })
    })
}

fn either_any_or_equal(a: &str, b: &str) -> bool {
    a == b || a == ANY || b == ANY
}

fn resources_overlap(a: &str, b: &str) -> bool {
    let any_of = |pattern: &str, other: &str| {
        pattern.strip_prefix("*/").is_some_and(|sub| other.split_once('/').is_some_and(|(_, other)| sub == other))
    };
    either_any_or_equal(a, b) || any_of(a, b) || any_of(b, a)
}

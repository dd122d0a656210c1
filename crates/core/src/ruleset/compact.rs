//! Compaction: the same rights in few rules.

use std::collections::{BTreeMap, BTreeSet};

use super::atom::{Atom, any_with_subresource};
use super::{Objects, RuleSet, Verbs};
use crate::rule::ANY;
use crate::{Name, NameList, Rule};

impl RuleSet {
    /// A short list of rules with exactly the rights of this set. Sets that are [`equivalent`](Self::equivalent) give
    /// the same list, whatever rules they were made from (unless a rule was too large to take apart).
    ///
    /// What a wider right includes is dropped; then resources with the same rights in a group share a rule, and groups
    /// with the same resources do. All lists are sorted.
    pub fn to_rules(&self) -> Vec<Rule> {
        let mut by_rights: BTreeMap<Verbs, BTreeMap<&Name, BTreeSet<&Name>>> = BTreeMap::new();
        for (group, cells) in &self.resources {
            for resource in cells.keys() {
                let rights = self.rights_of_cell_only(group, resource);
                if !rights.is_empty() {
                    by_rights.entry(rights).or_default().entry(group).or_default().insert(resource);
                }
            }
        }
        let mut rules = Vec::new();
        for (rights, resources_of) in by_rights {
            let mut groups_of: BTreeMap<BTreeSet<&Name>, Vec<&Name>> = BTreeMap::new();
            for (group, resources) in resources_of {
                groups_of.entry(resources).or_default().push(group);
            }
            let mut verbs_of: BTreeMap<&Objects, Vec<Name>> = BTreeMap::new();
            for (verb, objects) in &rights {
                verbs_of.entry(objects).or_default().push(verb.clone());
            }
            for (resources, groups) in &groups_of {
                for (objects, verbs) in &verbs_of {
                    rules.push(Rule {
                        api_groups: groups.iter().copied().cloned().collect(),
                        resources: resources.iter().copied().cloned().collect(),
                        resource_names: match objects {
                            Objects::All => NameList::default(),
                            Objects::Named(names) => names.iter().cloned().collect(),
                        },
                        non_resource_urls: NameList::default(),
                        verbs: verbs.clone().into(),
                    });
                }
            }
        }
        rules.extend(self.url_rules());
        rules.extend(self.large.iter().cloned());
        rules.sort();
        rules.dedup();
        rules
    }

    /// What the cell gives that no wider right gives as well.
    fn rights_of_cell_only(&self, group: &Name, resource: &Name) -> Verbs {
        let Some(verbs) = self.resources.get(group).and_then(|cells| cells.get(resource)) else { return Verbs::new() };
        let star = any_with_subresource(resource);
        let mut rights = Verbs::new();
        for (verb, objects) in verbs {
            let atom = Atom { group, resource, any_with_subresource: star.as_deref(), verb, name: None };
            let wider: Vec<&Objects> = self
                .wider_cells(&atom)
                .flat_map(|cell| {
                    let same_cell = std::ptr::eq(cell, verbs);
                    let same_verb = cell.get(verb).filter(|_| !same_cell);
                    let any_verb = cell.get(ANY).filter(|_| !(same_cell && verb == ANY));
                    [same_verb, any_verb]
                })
                .flatten()
                .collect();
            if let Some(rest) = beyond(objects, &wider) {
                rights.insert(verb.clone(), rest);
            }
        }
        rights
    }

    fn url_rules(&self) -> Vec<Rule> {
        let mut by_verbs: BTreeMap<BTreeSet<&Name>, Vec<Name>> = BTreeMap::new();
        for (url, verbs) in self.urls.iter() {
            let wider = |verb: &Name| {
                self.urls.matching(&url).any(|held| {
                    let own = std::ptr::eq(held, verbs);
                    (!own && held.contains(verb)) || (held.contains(ANY) && !(own && verb == ANY))
                })
            };
            let rest: BTreeSet<&Name> = verbs.iter().filter(|verb| !wider(verb)).collect();
            if !rest.is_empty() {
                by_verbs.entry(rest).or_default().push(url);
            }
        }
        by_verbs
            .into_iter()
            .map(|(verbs, mut urls)| {
                urls.sort();
                Rule { non_resource_urls: urls.into(), verbs: verbs.into_iter().cloned().collect(), ..Rule::default() }
            })
            .collect()
    }
}

/// The part of `objects` that none of `wider` holds.
fn beyond(objects: &Objects, wider: &[&Objects]) -> Option<Objects> {
    if wider.contains(&&Objects::All) {
        return None;
    }
    let Objects::Named(names) = objects else { return Some(Objects::All) };
    let held = |name: &Name| wider.iter().any(|objects| objects.covers(Some(name)));
    let rest: BTreeSet<Name> = names.iter().filter(|name| !held(name)).cloned().collect();
    (!rest.is_empty()).then_some(Objects::Named(rest))
}

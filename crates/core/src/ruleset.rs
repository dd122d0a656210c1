//! Rules as a set of rights, so that they can be compared by meaning.

mod atom;
mod compact;
mod relation;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use self::atom::{Atom, any_with_subresource, atom_count, atom_names, covers_whole, resource_atom, url_atom};
use crate::rule::{ANY, Rule, url_prefix};
use crate::urls::UrlMap;
use crate::{Name, NameList, rule};

/// The rights that a list of rules gives, taken apart into *atoms*: one group, resource, verb and object name, or one
/// URL and verb. Each atom is held by one rule or by none, because Kubernetes never combines rules for one request.
///
/// The order and the grouping of the rules it was made from are gone; [`to_rules`](Self::to_rules) gives a canonical list.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// group -> resource -> verb -> objects
    resources: FxHashMap<Name, FxHashMap<Name, Verbs>>,
    urls: UrlMap<BTreeSet<Name>>,
    /// Rules that would give too many atoms, kept whole.
    large: Vec<Rule>,
    atoms: usize,
}

type Verbs = BTreeMap<Name, Objects>;

/// Which objects of a resource a right covers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Objects {
    All,
    Named(BTreeSet<Name>),
}

impl Objects {
    fn of(rule: &Rule) -> Self {
        if rule.resource_names.is_empty() {
            Self::All
        } else {
            Self::Named(rule.resource_names.iter().cloned().collect())
        }
    }

    fn add(&mut self, more: &Self) {
        match (&mut *self, more) {
            (Self::All, _) => {}
            (_, Self::All) => *self = Self::All,
            (Self::Named(have), Self::Named(more)) => have.extend(more.iter().cloned()),
        }
    }

    fn covers(&self, name: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => name.is_some_and(|name| names.contains(name)),
        }
    }
}

/// A set stops taking rules apart beyond this many atoms, so that a hostile rule (a 3 MiB body can spell 10^11 atoms)
/// costs time and memory in proportion to its text. Such a rule counts as covered only by one single wider rule:
/// stricter than Kubernetes, never looser.
const MAX_ATOMS: usize = 1 << 18;
const MAX_ATOMS_OF_RULE: usize = 1 << 16;

impl RuleSet {
    /// The set of all rights that `rules` give.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let mut set = Self::default();
        for rule in rules {
            set.insert(rule);
        }
        set
    }

    /// Adds the rights of one rule.
    pub fn insert(&mut self, rule: &Rule) {
        let atoms = atom_count(rule);
        if atoms > MAX_ATOMS_OF_RULE || self.atoms + atoms > MAX_ATOMS {
            self.large.push(rule.clone());
            return;
        }
        self.atoms += atoms;
        if !rule.verbs.is_empty() && !rule.resources.is_empty() {
            let objects = Objects::of(rule);
            for group in &rule.api_groups {
                let resources = self.resources.entry(group.clone()).or_default();
                for resource in &rule.resources {
                    let verbs = resources.entry(resource.clone()).or_default();
                    for verb in &rule.verbs {
                        match verbs.get_mut(verb) {
                            Some(have) => have.add(&objects),
                            None => drop(verbs.insert(verb.clone(), objects.clone())),
                        }
                    }
                }
            }
        }
        if !rule.verbs.is_empty() {
            for url in &rule.non_resource_urls {
                self.urls.entry(url).extend(rule.verbs.iter().cloned());
            }
        }
    }

    /// Adds the rights of one rule on resources, leaving out its URLs.
    pub fn insert_resources(&mut self, rule: &Rule) {
        if rule.non_resource_urls.is_empty() {
            self.insert(rule);
        } else {
            self.insert(&Rule { non_resource_urls: NameList::default(), ..rule.clone() });
        }
    }

    /// Adds all rights of another set.
    pub fn extend(&mut self, other: &Self) {
        for rule in other.atoms_as_rules() {
            self.insert(&rule);
        }
    }

    /// The rights of this set that `other` does not give.
    pub fn beyond(&self, other: &Self) -> Self {
        let atoms: Vec<Rule> = self.atoms_as_rules().collect();
        Self::new(&other.uncovered(&atoms))
    }

    /// The rights of this set that `other` gives too.
    pub fn within(&self, other: &Self) -> Self {
        let atoms: Vec<Rule> = self.atoms_as_rules().filter(|atom| other.covers(atom)).collect();
        Self::new(&atoms)
    }

    /// Whether the set gives no right at all.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.urls.len() == 0 && self.large.is_empty()
    }

    /// The atoms of `rules` that this set does not cover, each as a rule with single entries, in Kubernetes' order:
    /// groups, resources, verbs, names; then URLs and verbs.
    pub fn uncovered<'a>(&self, rules: impl IntoIterator<Item = &'a Rule>) -> Vec<Rule> {
        let mut missing = Vec::new();
        let mut atoms = 0_usize;
        for rule in rules {
            atoms = atoms.saturating_add(atom_count(rule));
            if atoms > MAX_ATOMS {
                missing.extend((!self.covers_as_one(rule)).then(|| rule.clone()));
                continue;
            }
            self.visit_uncovered(rule, &mut |atom| {
                missing.push(atom);
                true
            });
        }
        missing
    }

    /// Whether this set gives everything that `rule` gives.
    pub fn covers(&self, rule: &Rule) -> bool {
        let mut covered = true;
        self.visit_uncovered(rule, &mut |_| {
            covered = false;
            false
        });
        covered
    }

    /// Calls `found` with each uncovered atom until it returns false.
    fn visit_uncovered(&self, rule: &Rule, found: &mut dyn FnMut(Rule) -> bool) {
        if atom_count(rule) > MAX_ATOMS_OF_RULE {
            if !self.covers_as_one(rule) {
                found(rule.clone());
            }
            return;
        }
        for group in &rule.api_groups {
            for resource in &rule.resources {
                let any_with_subresource = any_with_subresource(resource);
                for verb in &rule.verbs {
                    for name in atom_names(rule) {
                        let any = any_with_subresource.as_deref();
                        let atom =
                            Atom { group, resource, any_with_subresource: any, verb, name: name.map(Name::as_str) };
                        if !self.covers_atom(&atom) && !found(resource_atom(group, resource, verb, name)) {
                            return;
                        }
                    }
                }
            }
        }
        for url in &rule.non_resource_urls {
            for verb in &rule.verbs {
                if !self.covers_url(url, verb) && !found(url_atom(url, verb)) {
                    return;
                }
            }
        }
    }

    fn covers_atom(&self, atom: &Atom<'_>) -> bool {
        let by_index = self.wider_cells(atom).any(|verbs| {
            [verbs.get(atom.verb), verbs.get(ANY)].into_iter().flatten().any(|objects| objects.covers(atom.name))
        });
        by_index || self.large.iter().any(|rule| atom.is_covered_by(rule))
    }

    /// The cells whose group and resource cover those of `atom`, its own cell among them.
    fn wider_cells<'a>(&'a self, atom: &Atom<'a>) -> impl Iterator<Item = &'a Verbs> {
        let resources = [Some(atom.resource), atom.any_with_subresource, Some(ANY)];
        [atom.group, ANY]
            .into_iter()
            .filter_map(|group| self.resources.get(group))
            .flat_map(move |cells| resources.into_iter().flatten().filter_map(|resource| cells.get(resource)))
    }

    fn covers_url(&self, url: &str, verb: &str) -> bool {
        let holds = |verbs: &BTreeSet<Name>| verbs.contains(verb) || verbs.contains(ANY);
        self.urls.matching(url).any(holds)
            || self.large.iter().any(|rule| rule.allows_verb(verb) && rule.allows_url(url))
    }

    /// Whether a rule that is not taken apart is covered by one rule that was not either, or by a right on everything.
    fn covers_as_one(&self, rule: &Rule) -> bool {
        let everything = |verb: &Name| {
            let atom = Atom { group: ANY, resource: ANY, any_with_subresource: None, verb, name: None };
            self.covers_atom(&atom) && (rule.non_resource_urls.is_empty() || self.covers_url(ANY, verb))
        };
        self.large.iter().any(|owner| covers_whole(owner, rule)) || rule.verbs.iter().all(everything)
    }
}

/// What `servant` gives beyond `owner`: the check that keeps anyone from granting what they do not hold.
///
/// Answers as Kubernetes does, atom by atom, in its order and with its duplicates. An empty answer means covered.
pub fn covers<'a>(owner: impl IntoIterator<Item = &'a Rule>, servant: impl IntoIterator<Item = &'a Rule>) -> Vec<Rule> {
    let mut held = RuleSet::default();
    for rule in owner {
        if rule.resource_names.is_empty() || rule.non_resource_urls.is_empty() {
            held.insert(rule);
        } else {
            // A rule that mixes names and URLs is invalid in Kubernetes; where it is held, its URLs do not count.
            held.insert_resources(rule);
        }
    }
    held.uncovered(servant)
}

/// Whether a pattern that ends in `*` or is exact can match any path that another one matches.
fn urls_overlap(a: &str, b: &str) -> bool {
    match (url_prefix(a), url_prefix(b)) {
        (Some(a), Some(b)) => a.starts_with(b) || b.starts_with(a),
        (Some(_), None) => rule::url_matches(a, b),
        _ => rule::url_matches(b, a),
    }
}

//! Which roles hold a right: an index from (group, resource, name) and from URL to roles and their verbs.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::RoleId;
use crate::intern::Interner;
use crate::request::ResourceRequest;
use crate::rule::{ANY, Rule};
use crate::urls::{UrlMap, canonical_url};
use crate::{Name, Role};

type TextId = u32;
type VerbsId = u32;

/// In a key: "no subresource" or "every object". No text has this id.
const NONE: TextId = TextId::MAX;

/// A resource pattern, taken apart at its first slash, with one object name or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Cell {
    group: TextId,
    resource: TextId,
    subresource: TextId,
    name: TextId,
}

/// One role's verbs under a key. Lists of these are sorted by role.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) role: RoleId,
    verbs: VerbsId,
}

/// What a role put into the index, so that it can be taken out again.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint {
    cells: Vec<(Cell, VerbsId)>,
    urls: Vec<(Name, VerbsId)>,
    texts: Vec<TextId>,
    /// Rules that would need too many cells, by position; they are read plainly.
    pub(super) wide: Vec<usize>,
}

/// Beyond this many cells for one rule, a rule is read instead of indexed.
const MAX_CELLS_OF_RULE: usize = 1 << 14;

/// The index over the rights of all roles.
#[derive(Clone, Debug)]
pub(super) struct Rights {
    texts: Interner<Name>,
    verb_sets: Interner<Box<[TextId]>>,
    cells: FxHashMap<Cell, Vec<Entry>>,
    urls: UrlMap<Vec<Entry>>,
    any: TextId,
}

impl Default for Rights {
    fn default() -> Self {
        let mut texts = Interner::default();
        let any = texts.acquire(&Name::new_static(ANY));
        Self { texts, verb_sets: Interner::default(), cells: FxHashMap::default(), urls: UrlMap::default(), any }
    }
}

impl Rights {
    /// Enters a role's rules; the footprint takes them out again.
    pub(super) fn insert(&mut self, id: RoleId, role: &Role) -> Footprint {
        let mut footprint = Footprint::default();
        let mut cells: BTreeMap<Cell, BTreeSet<TextId>> = BTreeMap::new();
        let mut urls: BTreeMap<Name, BTreeSet<TextId>> = BTreeMap::new();
        for (position, rule) in role.rules.iter().enumerate() {
            if cell_count(rule) > MAX_CELLS_OF_RULE {
                footprint.wide.push(position);
                continue;
            }
            let texts = &mut footprint.texts;
            let verbs: Vec<TextId> = rule.verbs.iter().map(|verb| self.text(verb, texts)).collect();
            let names: Vec<TextId> = match rule.resource_names.as_slice() {
                [] => vec![NONE],
                names => names.iter().map(|name| self.text(name, texts)).collect(),
            };
            for group in &rule.api_groups {
                let group = self.text(group, texts);
                for resource in &rule.resources {
                    let (resource, subresource) = split(resource);
                    let resource = self.text(resource, texts);
                    let subresource = subresource.map_or(NONE, |text| self.text(text, texts));
                    for &name in &names {
                        cells.entry(Cell { group, resource, subresource, name }).or_default().extend(&verbs);
                    }
                }
            }
            for pattern in &rule.non_resource_urls {
                urls.entry(canonical_url(pattern)).or_default().extend(&verbs);
            }
        }
        for (cell, verbs) in cells {
            let verbs = self.verb_sets.acquire(&verbs.into_iter().collect());
            enter(self.cells.entry(cell).or_default(), Entry { role: id, verbs });
            footprint.cells.push((cell, verbs));
        }
        for (url, verbs) in urls {
            let verbs = self.verb_sets.acquire(&verbs.into_iter().collect());
            enter(self.urls.entry(&url), Entry { role: id, verbs });
            footprint.urls.push((url, verbs));
        }
        footprint
    }

    /// Takes a role's rules out again.
    pub(super) fn remove(&mut self, id: RoleId, footprint: Footprint) {
        for (cell, verbs) in footprint.cells {
            if let Some(list) = self.cells.get_mut(&cell)
                && leave(list, id)
            {
                self.cells.remove(&cell);
            }
            self.verb_sets.release(verbs);
        }
        for (url, verbs) in footprint.urls {
            if leave(self.urls.entry(&url), id) {
                self.urls.remove(&url);
            }
            self.verb_sets.release(verbs);
        }
        for text in footprint.texts {
            self.texts.release(text);
        }
    }

    /// The id of a verb that some role names; `None` still matches `*`.
    pub(super) fn verb(&self, verb: &str) -> Option<TextId> {
        self.texts.find(verb)
    }

    /// Whether this entry gives the verb.
    pub(super) fn gives(&self, entry: Entry, verb: Option<TextId>) -> bool {
        self.verb_sets.get(entry.verbs).iter().any(|&held| held == self.any || Some(held) == verb)
    }

    /// The lists of roles with a right on what is asked, whatever the verb. At most twelve, without allocation.
    ///
    /// `None` for the odd request whose resource has a slash beside a subresource: it has no single cell.
    pub(super) fn of_resource(&self, on: &ResourceRequest<'_>) -> Option<Lists<'_>> {
        let (resource, subresource) = match (split(on.resource), on.subresource) {
            (parts, "") => parts,
            ((resource, None), subresource) => (resource, Some(subresource)),
            _ => return None,
        };
        let find = |text: &str| self.texts.find(text);
        let exact = match subresource {
            None => find(resource).map(|resource| (resource, NONE)),
            Some(subresource) => find(resource).zip(find(subresource)),
        };
        let any_with_subresource =
            if on.subresource.is_empty() { None } else { find(on.subresource).map(|text| (self.any, text)) };
        let resources = [exact, any_with_subresource, Some((self.any, NONE))];
        let groups = [find(on.group), Some(self.any)];
        let names = [Some(NONE), find(on.name)];
        let mut lists = Lists::default();
        for group in groups.into_iter().flatten() {
            for (resource, subresource) in resources.into_iter().flatten() {
                for name in names.into_iter().flatten() {
                    if let Some(entries) = self.cells.get(&Cell { group, resource, subresource, name }) {
                        lists.push(entries);
                    }
                }
            }
        }
        Some(lists)
    }

    /// The lists of roles with a right on this path, whatever the verb.
    pub(super) fn of_url<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a [Entry]> {
        self.urls.matching(path).map(Vec::as_slice)
    }

    /// How many texts and lists the index holds: what must return to its start when roles come and go.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.texts.len() + self.verb_sets.len(), self.cells.len() + self.urls.len())
    }

    fn text(&mut self, text: &str, used: &mut Vec<TextId>) -> TextId {
        let id = self.texts.acquire(&Name::from(text));
        used.push(id);
        id
    }
}

/// Up to twelve lists of entries: two groups, three resources, two names.
#[derive(Clone, Copy, Default)]
pub(super) struct Lists<'a> {
    lists: [&'a [Entry]; 12],
    len: usize,
}

impl<'a> Lists<'a> {
    fn push(&mut self, entries: &'a [Entry]) {
        if let Some(slot) = self.lists.get_mut(self.len) {
            *slot = entries;
            self.len += 1;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [Entry]> + use<'a> {
        self.lists.into_iter().take(self.len)
    }
}

fn split(resource: &str) -> (&str, Option<&str>) {
    resource.split_once('/').map_or((resource, None), |(resource, subresource)| (resource, Some(subresource)))
}

fn cell_count(rule: &Rule) -> usize {
    let objects = rule.resource_names.len().max(1);
    rule.api_groups.len().saturating_mul(rule.resources.len()).saturating_mul(objects)
}

fn enter(list: &mut Vec<Entry>, entry: Entry) {
    let at = list.partition_point(|other| other.role < entry.role);
    list.insert(at, entry);
}

/// Takes a role out of a list; true when nobody is left in it.
fn leave(list: &mut Vec<Entry>, role: RoleId) -> bool {
    if let Ok(at) = list.binary_search_by_key(&role, |entry| entry.role) {
        list.remove(at);
    }
    list.is_empty()
}

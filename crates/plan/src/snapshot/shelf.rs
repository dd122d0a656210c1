//! What many objects say in the same words, kept once: the keys of labels, the kinds of owners, the verbs of rules.

use rolewright_core::{Labels, NameList};
use rustc_hash::FxHashSet;

use crate::Name;
use crate::kind::Kind;
use crate::object::{Live, Managed, Meta};

/// Longer lists are seldom alike, and one that nobody holds any more would be kept too long.
const LONGEST: usize = 64;
/// So many names for each object are shared; beyond that most of them are of objects that are gone.
const NAMES: usize = 8;
/// With fewer it is not worth looking for those that nobody holds.
const LEAST: usize = 1024;

/// Texts and lists of objects that are known. Whoever says the same shares them.
#[derive(Debug, Default)]
pub struct Shelf {
    names: FxHashSet<Name>,
    lists: FxHashSet<NameList>,
    /// With how many lists to look for those that nobody holds.
    sweep_at: usize,
}

impl Shelf {
    /// Lets an object share what others say as well.
    pub fn share(&mut self, kind: &Kind, live: &mut Live) {
        self.meta(&mut live.meta);
        if let Ok(body) = &mut live.body {
            kind.share(body, self);
        }
    }

    /// Shares a text, unless it takes no room of its own.
    pub(crate) fn name(&mut self, name: &Name) -> Name {
        if !name.is_heap_allocated() {
            return name.clone();
        }
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        self.names.insert(name.clone());
        name.clone()
    }

    /// Shares a list.
    pub(crate) fn list(&mut self, list: &mut NameList) {
        if list.is_empty() || list.len() > LONGEST {
            return;
        }
        if let Some(known) = self.lists.get(list) {
            list.clone_from(known);
            return;
        }
        if self.lists.len() >= self.sweep_at {
            self.lists.retain(|list| list.holders() > 1);
            self.sweep_at = LEAST + self.lists.len() + self.lists.len() / 4;
        }
        self.lists.insert(list.clone());
    }

    /// Shares what metadata says, but for what no other object says.
    fn meta(&mut self, meta: &mut Meta) {
        self.labels(&mut meta.labels);
        self.labels(&mut meta.annotations);
        for owner in &mut meta.owners {
            for name in [&mut owner.api_version, &mut owner.kind, &mut owner.name, &mut owner.uid] {
                *name = self.name(name);
            }
        }
        for Managed { labels, annotations, owners, .. } in
            meta.ours.iter_mut().chain(meta.inherited.iter_mut().map(|inherited| &mut inherited.fields))
        {
            for names in [labels, annotations, owners] {
                for name in names.iter_mut() {
                    *name = self.name(name);
                }
                names.shrink_to_fit();
            }
        }
    }

    fn labels(&mut self, labels: &mut Labels) {
        if labels.iter().any(|(key, value)| key.is_heap_allocated() || value.is_heap_allocated()) {
            *labels = labels.iter().map(|(key, value)| (self.name(key), self.name(value))).collect();
        }
    }

    /// Forgets the lists that one object alone holds, once all objects have come: most of them stay the only ones, and to
    /// remember them takes as much room as sharing saves. Whoever comes later with one of them is the first to share it.
    pub(super) fn settle(&mut self) {
        self.lists.retain(|list| list.holders() > 2);
        self.lists.shrink_to_fit();
        self.sweep_at = 0;
    }

    /// Forgets the texts if they are too many for so many objects: nobody can tell which of them are in use.
    pub(super) fn tidy(&mut self, objects: usize) {
        if self.names.len() > LEAST + NAMES * objects {
            self.names.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &str) -> NameList {
        [Name::new(name)].into()
    }

    #[test]
    fn what_is_said_twice_is_kept_once() {
        let mut shelf = Shelf::default();
        let (mut one, mut other) = (list("get"), list("get"));
        shelf.list(&mut one);
        shelf.list(&mut other);
        assert!(std::ptr::eq(one.as_slice(), other.as_slice()));
        let long = "a name that does not fit into a word";
        let names = [shelf.name(&Name::new(long)), shelf.name(&Name::new(long))];
        assert!(std::ptr::eq(names[0].as_str(), names[1].as_str()));
    }

    #[test]
    fn what_nobody_says_any_more_is_forgotten() {
        let mut shelf = Shelf::default();
        let mut kept = list("kept");
        shelf.list(&mut kept);
        for n in 0..10 * LEAST {
            shelf.list(&mut list(&n.to_string()));
            shelf.name(&Name::new(format!("a name that does not fit into a word, number {n}")));
            shelf.tidy(1);
        }
        assert!(shelf.lists.len() <= 2 * LEAST && shelf.names.len() <= LEAST + NAMES + 1);
        assert!(shelf.lists.contains(&kept));
    }

    #[test]
    fn what_only_one_says_is_forgotten_when_all_have_spoken() {
        let mut shelf = Shelf::default();
        let (mut mine, mut ours, mut yours) = (list("mine"), list("ours"), list("ours"));
        for list in [&mut mine, &mut ours, &mut yours] {
            shelf.list(list);
        }
        shelf.settle();
        assert_eq!((shelf.lists.contains(&mine), shelf.lists.contains(&ours)), (false, true));
    }
}

//! The objects of one collection.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use rolewright_core::Name;

use super::log::Log;
use super::{Change, ChangeKind, Entry, Position};

/// Which collection: all objects of one resource, whatever version they are asked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Collection(u32);

impl Collection {
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("there are far fewer than 4 billion collections"))
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

type At = (Name, Name);

/// The objects of one collection by namespace and name, and what changed lately.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// What the store calls it; empty where nothing is stored.
    pub(super) resource: Name,
    objects: BTreeMap<At, Arc<Entry>>,
    log: Log,
    /// Its definition is gone: nothing is stored here any more.
    closed: bool,
}

/// What of a table is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page<'a> {
    /// All namespaces if empty.
    pub(crate) namespace: &'a str,
    /// After this object.
    pub(crate) after: Option<(&'a str, &'a str)>,
}

impl Table {
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<Entry>> {
        self.objects.get(&(Name::from(namespace), Name::from(name)))
    }

    /// An empty table for the objects of a resource.
    pub(super) fn of(resource: Name) -> Self {
        Self { resource, ..Self::default() }
    }

    /// The objects that a store kept, last changed at a revision.
    pub(super) fn restored(resource: Name, changed: Position, objects: BTreeMap<At, Arc<Entry>>) -> Self {
        Self { resource, objects, log: Log::from(changed), closed: false }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Takes nothing more; who follows reads to the end.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets what nobody follows any more.
    pub(super) fn forget(&mut self) {
        self.log = Log::default();
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// The objects by namespace and name.
    pub(crate) fn entries(&self, page: &Page<'_>) -> impl Iterator<Item = &Arc<Entry>> {
        let namespace = Name::from(page.namespace);
        let start = match page.after {
            Some((after_namespace, after)) => Bound::Excluded((Name::from(after_namespace), Name::from(after))),
            None => Bound::Included((namespace.clone(), Name::default())),
        };
        let all = namespace.is_empty();
        self.objects
            .range((start, Bound::Unbounded))
            .take_while(move |((at, _), _)| all || *at == namespace)
            .map(|(_, entry)| entry)
    }

    /// The same as it was at an earlier revision; `None` if that is forgotten.
    pub(crate) fn entries_at(&self, page: &Page<'_>, position: Position) -> Option<Vec<Arc<Entry>>> {
        let mut past: BTreeMap<At, Option<Arc<Entry>>> = BTreeMap::new();
        for change in self.log.after(position)?.rev() {
            past.insert((change.new.namespace.clone(), change.new.name.clone()), change.old.clone());
        }
        if past.is_empty() {
            return Some(self.entries(page).cloned().collect());
        }
        let in_page = |entry: &Arc<Entry>| {
            (page.namespace.is_empty() || entry.namespace == page.namespace)
                && page.after.is_none_or(|after| (entry.namespace.as_str(), entry.name.as_str()) > after)
        };
        let unchanged =
            self.entries(page).filter(|entry| !past.contains_key(&(entry.namespace.clone(), entry.name.clone())));
        let mut entries: Vec<Arc<Entry>> = unchanged.cloned().collect();
        entries.extend(past.values().flatten().filter(|entry| in_page(entry)).cloned());
        entries.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Some(entries)
    }

    pub(super) fn put(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let at = (entry.namespace.clone(), entry.name.clone());
        let old = self.objects.insert(at, entry.clone());
        let kind = if old.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        self.log.push(Change { revision: entry.revision, kind, old: old.clone(), new: entry });
        old
    }

    pub(super) fn remove(&mut self, last: Arc<Entry>) {
        let old = self.objects.remove(&(last.namespace.clone(), last.name.clone()));
        self.log.push(Change { revision: last.revision, kind: ChangeKind::Deleted, old, new: last });
    }

    #[cfg(test)]
    fn forget_until(&mut self, revision: u64) {
        self.log.forget(revision);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Draft;
    use super::*;

    fn entry(namespace: &str, name: &str, revision: u64) -> Arc<Entry> {
        let Value::Object(object) = json!({"metadata": {"name": name, "namespace": namespace}}) else { unreachable!() };
        Arc::new(Draft::new("", "configmaps", &object).at(revision))
    }

    fn names(entries: &[Arc<Entry>]) -> Vec<String> {
        entries.iter().map(|entry| format!("{}/{}@{}", entry.namespace, entry.name, entry.revision)).collect()
    }

    #[test]
    fn past_is_the_present_with_later_changes_undone() {
        let mut table = Table::default();
        table.put(entry("a", "x", 2));
        table.put(entry("b", "y", 3));
        table.put(entry("a", "z", 4));
        table.put(entry("a", "x", 5));
        table.remove(entry("b", "y", 6));
        let all = Page::default();
        let at = |page: &Page<'_>, revision| names(&table.entries_at(page, revision).unwrap());
        assert_eq!(at(&all, 3), ["a/x@2", "b/y@3"]);
        assert_eq!(at(&all, 5), ["a/x@5", "a/z@4", "b/y@3"]);
        assert_eq!(at(&all, 6), ["a/x@5", "a/z@4"]);
        assert_eq!(at(&Page { namespace: "a", after: Some(("a", "x")) }, 4), ["a/z@4"]);
        assert_eq!(at(&Page { namespace: "b", after: None }, 2), [] as [&str; 0]);
        table.forget_until(4);
        assert!(table.entries_at(&all, 3).is_none());
        assert_eq!(names(&table.entries_at(&all, 4).unwrap()), ["a/x@2", "a/z@4", "b/y@3"]);
    }
}

//! The objects of one kind.

use std::collections::BTreeMap;

use super::Change;
use crate::Name;
use crate::kind::Kind;
use crate::object::{Live, Meta, ObjectRef};

/// Namespace and name.
pub type Place = (Name, Name);

/// How much is known of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// Nothing yet.
    #[default]
    Unknown,
    /// The server does not serve it.
    Unserved,
    /// All of its objects were seen.
    Seen,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) service: Service,
    /// In boxes, because a tree leaves much of its room free.
    rows: BTreeMap<Place, Box<Live>>,
    /// The revisions at which objects went, until the next full list.
    gone: BTreeMap<Place, u64>,
    /// The newest revision in the last full list: whatever was stored before that and is not known is gone.
    listed: u64,
}

/// A row that is not what it was.
pub(super) struct Row {
    place: Place,
    before: Option<Box<Live>>,
}

impl Row {
    pub(super) fn of(self, kind: &'static Kind) -> Change {
        let (namespace, name) = self.place;
        Change { object: ObjectRef { kind, namespace, name }, before: self.before }
    }
}

fn place(meta: &Meta) -> Place {
    (meta.namespace.clone(), meta.name.clone())
}

impl Table {
    pub(super) fn get(&self, namespace: &Name, name: &Name) -> Option<&Live> {
        self.rows.get(&(namespace.clone(), name.clone())).map(Box::as_ref)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Live> {
        self.rows.values().map(Box::as_ref)
    }

    /// The newest revision at which anything was stored or removed.
    pub(super) fn newest(&self) -> u64 {
        let stored = self.rows.values().map(|live| live.meta.resource_version);
        stored.chain(self.gone.values().copied()).max().unwrap_or(0).max(self.listed)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether this is known of an object, or something newer.
    pub(super) fn knows(&self, place: &Place, version: u64) -> bool {
        let known = self.rows.get(place).map(|row| row.meta.resource_version);
        let gone = || self.gone.get(place).copied().max((self.listed > 0).then_some(self.listed));
        known.or_else(gone).is_some_and(|known| known >= version)
    }

    /// Takes an object, unless something newer is known.
    pub(super) fn set(&mut self, live: Live) -> Option<Row> {
        let place = place(&live.meta);
        if self.knows(&place, live.meta.resource_version) {
            return None;
        }
        self.gone.remove(&place);
        let before = self.rows.insert(place.clone(), Box::new(live));
        Some(Row { place, before })
    }

    /// Forgets an object, unless a newer one of its name is known.
    pub(super) fn remove(&mut self, last: &Meta) -> Option<Row> {
        let place = place(last);
        let known = self.rows.get(&place);
        if known.is_some_and(|row| row.meta.resource_version > last.resource_version && row.meta.uid != last.uid) {
            return None;
        }
        let version = known.map_or(0, |row| row.meta.resource_version).max(last.resource_version);
        let at = self.gone.entry(place.clone()).or_default();
        *at = version.max(*at);
        let before = self.rows.remove(&place)?;
        Some(Row { place, before: Some(before) })
    }

    /// Takes a full list as it is: if it is older than what is known, the watch that follows tells so, and if the server
    /// went back in time, this is how it comes to be believed.
    pub(super) fn replace(&mut self, objects: Vec<Live>) -> Vec<Row> {
        self.service = Service::Seen;
        self.gone.clear();
        self.listed = objects.iter().map(|live| live.meta.resource_version).max().unwrap_or(0);
        let mut before = std::mem::take(&mut self.rows);
        let mut changes = Vec::new();
        // Collected, because a tree that is built at once leaves no room free.
        self.rows = objects
            .into_iter()
            .map(|live| {
                let place = place(&live.meta);
                let old = before.remove(&place);
                let same = |old: &Live| {
                    old.meta.resource_version == live.meta.resource_version && old.meta.uid == live.meta.uid
                };
                match old {
                    // The one that is known already shares what it says with others.
                    Some(old) if same(&old) => (place, old),
                    old => {
                        changes.push(Row { place: place.clone(), before: old });
                        (place, Box::new(live))
                    }
                }
            })
            .collect();
        changes.extend(before.into_iter().map(|(place, old)| Row { place, before: Some(old) }));
        changes.sort_by(|a, b| a.place.cmp(&b.place));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(name: &str, uid: &str, resource_version: u64) -> Live {
        let meta = Meta { name: name.into(), uid: uid.into(), resource_version, ..Meta::default() };
        Live { meta, body: Err(String::new()), conditions: Vec::new() }
    }

    #[test]
    fn news_from_before_are_not_taken() {
        let mut table = Table::default();
        assert!(table.set(live("a", "1", 5)).is_some());
        assert!(table.set(live("a", "1", 5)).is_none(), "the same twice");
        assert!(table.set(live("a", "1", 4)).is_none(), "older");
        assert!(table.remove(&live("a", "1", 6).meta).is_some());
        assert!(table.set(live("a", "1", 5)).is_none(), "it is gone");
        assert!(table.set(live("a", "2", 7)).is_some(), "another of its name");
        assert!(table.remove(&live("a", "1", 6).meta).is_none(), "not that one");
    }

    #[test]
    fn a_list_of_what_is_known_replaces_nothing() {
        let mut table = Table::default();
        table.replace(vec![live("a", "1", 5), live("b", "1", 6)]);
        let held = |table: &Table| table.rows().map(std::ptr::from_ref).collect::<Vec<_>>();
        let before = held(&table);
        assert!(table.replace(vec![live("a", "1", 5), live("b", "1", 6)]).is_empty());
        assert_eq!(held(&table), before);
        assert_eq!(table.replace(vec![live("a", "2", 5), live("b", "1", 7)]).len(), 2, "another, and a newer one");
    }

    #[test]
    fn a_write_that_answers_late_does_not_bring_back_what_a_list_knows_to_be_gone() {
        let mut table = Table::default();
        table.replace(vec![live("b", "2", 9)]);
        assert!(table.set(live("a", "1", 5)).is_none());
        assert!(table.set(live("a", "3", 10)).is_some());
        table.replace(vec![live("b", "2", 3)]);
        assert!(table.set(live("a", "4", 4)).is_some(), "a server that went back in time is believed");
    }
}

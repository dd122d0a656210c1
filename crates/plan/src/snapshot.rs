//! What is known of the cluster: objects by kind and name, and who owns whom.
//!
//! There is one writer. Watches and our own writes both report here, in any order: a state that is older than the one
//! held is not taken, and what was deleted does not come back through news from before.

mod shelf;
mod table;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::Name;
use crate::kind::Kind;
use crate::object::{Live, Meta, ObjectRef};

pub use shelf::Shelf;
use table::Table;
pub use table::{Place, Service};

/// News of the cluster.
#[derive(Debug)]
pub enum Event {
    /// An object is now like this.
    Set(&'static Kind, Live),
    /// An object is gone; this is its last state.
    Gone(&'static Kind, Meta),
    /// These are all objects of a kind: whatever else was known is gone.
    All(&'static Kind, Vec<Live>),
    /// A kind is not served, or no longer.
    Unserved(&'static Kind),
}

/// One object that is not what it was. The snapshot has what it is now.
#[derive(Debug)]
pub struct Change {
    /// Which one.
    pub object: ObjectRef,
    /// What it was before; `None` if it is new.
    pub before: Option<Box<Live>>,
}

/// All objects that are watched.
#[derive(Debug, Default)]
pub struct Snapshot {
    tables: BTreeMap<&'static Kind, Table>,
    owned: FxHashMap<Name, BTreeSet<ObjectRef>>,
    shelf: Shelf,
}

impl Snapshot {
    /// Takes in news; returns what is different now, in order.
    pub fn take(&mut self, event: Event) -> Vec<Change> {
        match event {
            Event::Set(kind, mut live) => {
                self.share(kind, &mut live);
                let changes: Vec<Change> = self.table(kind).set(live).into_iter().map(|row| row.of(kind)).collect();
                self.follow(changes)
            }
            Event::Gone(kind, meta) => {
                let changes: Vec<Change> = self.table(kind).remove(&meta).into_iter().map(|row| row.of(kind)).collect();
                self.follow(changes)
            }
            Event::All(kind, mut objects) => {
                for live in &mut objects {
                    self.share(kind, live);
                }
                self.shelf.settle();
                let changes = self.table(kind).replace(objects).into_iter().map(|row| row.of(kind)).collect();
                self.follow(changes)
            }
            Event::Unserved(kind) => {
                let mut changes = self.take(Event::All(kind, Vec::new()));
                self.table(kind).service = Service::Unserved;
                changes.shrink_to_fit();
                changes
            }
        }
    }

    /// How much is known of a kind.
    pub fn service(&self, kind: &Kind) -> Service {
        self.tables.get(kind).map_or(Service::Unknown, |table| table.service)
    }

    /// An object as last seen, understood or not.
    pub fn get(&self, object: &ObjectRef) -> Option<&Live> {
        self.tables.get(object.kind)?.get(&object.namespace, &object.name)
    }

    /// Whether this state of an object would not be taken, because it is known or something newer is.
    pub fn knows(&self, kind: &Kind, place: &Place, version: u64) -> bool {
        self.tables.get(kind).is_some_and(|table| table.knows(place, version))
    }

    /// The content of an object, if it is there and could be understood.
    pub fn body<T: Any>(&self, object: &ObjectRef) -> Option<&T> {
        self.get(object)?.body()
    }

    /// All objects of a kind, by namespace and name.
    pub fn all(&self, kind: &Kind) -> impl Iterator<Item = &Live> {
        self.tables.get(kind).into_iter().flat_map(Table::rows)
    }

    /// All objects that name this uid as an owner, in order.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &ObjectRef> {
        self.owned.get(uid).into_iter().flatten()
    }

    /// The newest revision at which anything was stored or removed, as far as is known.
    pub fn newest(&self) -> u64 {
        self.tables.values().map(Table::newest).max().unwrap_or(0)
    }

    /// How many objects of each kind are held.
    pub fn sizes(&self) -> impl Iterator<Item = (&'static Kind, usize)> {
        self.tables.iter().map(|(kind, table)| (*kind, table.len()))
    }

    /// Lets an object share what others say as well.
    fn share(&mut self, kind: &'static Kind, live: &mut Live) {
        self.shelf.tidy(self.tables.values().map(Table::len).sum());
        self.shelf.share(kind, live);
    }

    fn table(&mut self, kind: &'static Kind) -> &mut Table {
        self.tables.entry(kind).or_default()
    }

    /// Keeps the index of owners.
    fn follow(&mut self, changes: Vec<Change>) -> Vec<Change> {
        for Change { object, before } in &changes {
            for owner in before.iter().flat_map(|live| &live.meta.owners) {
                if let Some(owned) = self.owned.get_mut(&owner.uid) {
                    owned.remove(object);
                    if owned.is_empty() {
                        self.owned.remove(&owner.uid);
                    }
                }
            }
            let now = self.tables.get(object.kind).and_then(|table| table.get(&object.namespace, &object.name));
            for owner in now.iter().flat_map(|live| &live.meta.owners) {
                self.owned.entry(owner.uid.clone()).or_default().insert(object.clone());
            }
        }
        changes
    }
}

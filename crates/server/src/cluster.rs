//! The state of the cluster: every object as bytes, what is derived from them, and what changed lately.
//!
//! ```text
//! write ──> Transaction ──> Table (objects, log of changes) ──> watches pull from the log
//!                  │
//!                  ├──> Rights   authorizer and aggregation; aggregated roles follow in the same transaction
//!                  └──> Owners   who owns whom; what the garbage collector has to look at
//! ```
//! One writer at a time, any number of readers. A watch is a position in a log, not a queue: a slow client costs nothing.

mod draft;
mod entry;
mod journal;
mod log;
mod owners;
mod restore;
mod rights;
mod table;
mod transaction;

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rolewright_core::Name;
use tokio::sync::{Notify, watch};

pub(crate) use draft::Draft;
pub(crate) use entry::{Entry, ObjectName};
pub(crate) use journal::Journal;
pub(crate) use log::{Change, ChangeKind, Position};
pub(crate) use owners::Owners;
pub use rights::Guard;
pub(crate) use rights::{CEILING, Right, Rights};
pub(crate) use table::{Collection, Page, Table};
pub(crate) use transaction::Transaction;

use crate::status::Failure;

/// The cluster's state behind its lock.
pub(crate) struct Cluster {
    state: RwLock<State>,
    /// One per collection: the revision of its last change.
    changed: RwLock<Vec<watch::Sender<u64>>>,
    /// Wakes the controllers.
    pub(crate) work: Notify,
    /// What outlives the process, if anything does.
    journal: Option<Arc<Journal>>,
}

/// Everything that is known.
pub(crate) struct State {
    revision: u64,
    tables: Vec<Table>,
    pub(crate) rights: Rights,
    pub(crate) owners: Owners,
    /// Namespaces that the namespace controller has to look at.
    pub(crate) namespaces: BTreeSet<Name>,
    /// Definitions that their controller has to look at.
    pub(crate) definitions: BTreeSet<Name>,
    /// Collections that are closed and may still be followed to their end.
    closed: Vec<Collection>,
    journal: Option<Arc<Journal>>,
}

/// What the controllers have to look at.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) definitions: BTreeSet<Name>,
    pub(crate) namespaces: BTreeSet<Name>,
    pub(crate) objects: BTreeSet<ObjectName>,
}

impl Cluster {
    /// An empty cluster with collections of these resources (`roles.rbac.authorization.k8s.io`).
    pub(crate) fn new(resources: impl IntoIterator<Item = Name>, guard: Guard, journal: Option<Arc<Journal>>) -> Self {
        let state = State {
            revision: 1,
            tables: resources.into_iter().map(Table::of).collect(),
            rights: Rights::new(guard),
            owners: Owners::default(),
            namespaces: BTreeSet::new(),
            definitions: BTreeSet::new(),
            closed: Vec::new(),
            journal: journal.clone(),
        };
        let changed = RwLock::new(state.tables.iter().map(|_| watch::Sender::new(1)).collect());
        Self { state: RwLock::new(state), changed, work: Notify::new(), journal }
    }

    /// Leaves aggregated roles to somebody else. They know nothing of ceilings, so only who holds everything may write
    /// such roles then.
    pub(crate) fn leave_aggregation(&self) {
        let rights = &mut self.state.write().unwrap_or_else(PoisonError::into_inner).rights;
        rights.aggregates = false;
        rights.guard = Guard::Strict;
    }

    /// Looks at the state. Do not hold this across an await.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        // A panic while writing is answered with 500; what was applied before it stays consistent with its log.
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state: all of it or, when `change` fails, nothing.
    ///
    /// INVARIANT: `change` checks everything before its first write; a failure after a write would leave it half done.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut transaction = Transaction::begin(&mut state);
        let done = change(&mut transaction);
        let touched = transaction.finish();
        let busy = !state.namespaces.is_empty() || !state.definitions.is_empty() || state.owners.has_work();
        let revision = state.revision;
        drop(state);
        // What is journalled is announced when it is stored.
        if self.journal.is_none() {
            self.announce(touched, revision);
        }
        if busy {
            self.work.notify_one();
        }
        done
    }

    /// Wakes who follows these collections.
    fn announce(&self, touched: impl IntoIterator<Item = Collection>, revision: u64) {
        let changed = self.changed.read().unwrap_or_else(PoisonError::into_inner);
        for changed in touched.into_iter().filter_map(|collection| changed.get(collection.index())) {
            changed.send_replace(revision);
        }
    }

    /// Done when everything that can be seen now is stored. Whoever tells somebody of the state waits for this first.
    pub(crate) async fn stored(&self) -> Result<(), Failure> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let revision = self.read().revision();
        journal.reached(revision).await
    }

    /// The journal, if there is one.
    pub(crate) fn journal(&self) -> Option<&Arc<Journal>> {
        self.journal.as_ref()
    }

    /// Hands out what the controllers have to do and forgets it.
    pub(crate) fn take_work(&self) -> Work {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        Work {
            definitions: std::mem::take(&mut state.definitions),
            namespaces: std::mem::take(&mut state.namespaces),
            objects: state.owners.take_work(),
        }
    }

    /// Queues definitions for their controller.
    pub(crate) fn wake_definitions(&self, names: impl IntoIterator<Item = Name>) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).definitions.extend(names);
        self.work.notify_one();
    }

    /// A new collection for the objects of a resource, empty.
    pub(crate) fn open(&self, resource: &Name) -> Collection {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = self.changed.write().unwrap_or_else(PoisonError::into_inner);
        // Numbers are not used again: somebody may still hold one. What they stood for need not stay.
        let State { tables, closed, .. } = &mut *state;
        closed.retain(|collection| {
            let followed = changed.get(collection.index()).is_some_and(|changed| changed.receiver_count() > 0);
            if let Some(table) = tables.get_mut(collection.index()).filter(|_| !followed) {
                table.forget();
            }
            followed
        });
        let collection = Collection::at(tables.len());
        tables.push(Table::of(resource.clone()));
        changed.push(watch::Sender::new(state.revision));
        collection
    }

    /// Closes a collection if it is empty, and ends its watches.
    pub(crate) fn close(&self, collection: Collection) -> bool {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = state.tables.get_mut(collection.index()).filter(|table| table.is_empty()) else {
            return false;
        };
        table.close();
        state.closed.push(collection);
        if let Some(changed) = self.changed.read().unwrap_or_else(PoisonError::into_inner).get(collection.index()) {
            changed.send_replace(state.revision);
        }
        true
    }

    /// Tells when a collection changes. Subscribe before reading, and no change is missed.
    pub(crate) fn subscribe(&self, collection: Collection) -> Option<watch::Receiver<u64>> {
        let changed = self.changed.read().unwrap_or_else(PoisonError::into_inner);
        changed.get(collection.index()).map(watch::Sender::subscribe)
    }
}

impl State {
    /// The revision of the last change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The last revision that may be shown to those who do not wait for [`Cluster::stored`].
    pub(crate) fn shown_revision(&self) -> u64 {
        self.journal.as_ref().map_or(self.revision, |journal| journal.durable().min(self.revision))
    }

    /// The objects of a collection.
    pub(crate) fn table(&self, collection: Collection) -> &Table {
        self.tables.get(collection.index()).expect("collections are handed out by the catalog that sized the tables")
    }

    /// Every collection with its objects.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Collection, &Table)> {
        self.tables.iter().enumerate().map(|(at, table)| (Collection::at(at), table))
    }
}

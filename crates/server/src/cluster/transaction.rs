//! A change of the cluster, with everything that follows from it at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rolewright_core::Name;

use super::journal::{Commit, Noted};
use super::{Collection, Draft, Entry, ObjectName, State};

/// The writer's turn. Writes are visible to the transaction at once and to everybody when it ends.
pub(crate) struct Transaction<'a> {
    state: &'a mut State,
    touched: BTreeSet<Collection>,
    noted: Vec<Noted>,
}

impl<'a> Transaction<'a> {
    pub(super) fn begin(state: &'a mut State) -> Self {
        Self { state, touched: BTreeSet::new(), noted: Vec::new() }
    }

    /// The state as this transaction has made it so far.
    pub(crate) fn state(&self) -> &State {
        self.state
    }

    /// Stores an object, new or changed.
    pub(crate) fn put(&mut self, collection: Collection, draft: &Draft) -> Arc<Entry> {
        let entry = self.put_one(collection, draft);
        if let Some(right) = &draft.right {
            let follow = self.state.rights.set(right);
            self.follow(collection, &follow);
            // The answer shows what the role has become.
            if follow.contains(&entry.name) {
                let now = self.state.table(collection).get(&entry.namespace, &entry.name);
                return now.cloned().unwrap_or(entry);
            }
        }
        entry
    }

    /// Removes an object; `last` is its last state. Returns that with the revision of the deletion.
    pub(crate) fn remove(&mut self, collection: Collection, last: &Draft) -> Arc<Entry> {
        self.state.revision += 1;
        let entry = Arc::new(last.at(self.state.revision));
        let at = ObjectName { collection, namespace: entry.namespace.clone(), name: entry.name.clone() };
        let table = self.table(collection);
        table.remove(entry.clone());
        self.state.owners.remove(&at, &entry);
        self.note(collection, &entry, true);
        if let Some(right) = &last.right {
            let follow = self.state.rights.remove(right);
            self.follow(collection, &follow);
        }
        entry
    }

    /// Queues a namespace for its controller.
    pub(crate) fn wake_namespace(&mut self, name: &str) {
        self.state.namespaces.insert(name.into());
    }

    /// Rewrites the aggregated roles among those that were restored whose rules no longer follow from the others.
    pub(crate) fn catch_up(&mut self, cluster_roles: Collection) {
        let due = self.state.rights.due();
        self.follow(cluster_roles, &due);
    }

    /// Queues a definition for its controller.
    pub(crate) fn wake_definition(&mut self, name: &str) {
        self.state.definitions.insert(name.into());
    }

    /// Rewrites aggregated roles whose rules are no longer what follows from the others.
    fn follow(&mut self, collection: Collection, roles: &[Name]) {
        for name in roles {
            let Some(entry) = self.state.table(collection).get("", name).cloned() else { continue };
            if let Some(draft) = self.state.rights.rewrite(&entry) {
                self.put_one(collection, &draft);
                if let Some(right) = &draft.right {
                    self.state.rights.settle(right);
                }
            }
        }
    }

    fn put_one(&mut self, collection: Collection, draft: &Draft) -> Arc<Entry> {
        self.state.revision += 1;
        let entry = Arc::new(draft.at(self.state.revision));
        let at = ObjectName { collection, namespace: entry.namespace.clone(), name: entry.name.clone() };
        let old = self.table(collection).put(entry.clone());
        self.state.owners.add(&at, &entry, old.as_deref());
        self.note(collection, &entry, false);
        entry
    }

    fn table(&mut self, collection: Collection) -> &mut super::Table {
        self.touched.insert(collection);
        self.state
            .tables
            .get_mut(collection.index())
            .expect("collections are handed out by the catalog that sized the tables")
    }

    fn note(&mut self, collection: Collection, entry: &Arc<Entry>, gone: bool) {
        if self.state.journal.is_some() {
            let resource = self.state.table(collection).resource.clone();
            self.noted.push(Noted { resource, entry: entry.clone(), gone });
        }
    }

    /// Ends the turn: what was done goes to the journal.
    pub(super) fn finish(mut self) -> BTreeSet<Collection> {
        self.hand_over();
        std::mem::take(&mut self.touched)
    }

    fn hand_over(&mut self) {
        if let Some(journal) = self.state.journal.as_ref().filter(|_| !self.noted.is_empty()) {
            let changes = std::mem::take(&mut self.noted);
            journal.push(Commit { revision: self.state.revision, changes, touched: self.touched.clone() });
        }
    }
}

impl Drop for Transaction<'_> {
    /// WHY: after a panic the journal has what the memory has.
    fn drop(&mut self) {
        self.hand_over();
    }
}

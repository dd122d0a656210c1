//! A change of the cluster, with everything that follows from it at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rolewright_core::Name;

use super::{Collection, Draft, Entry, ObjectName, State};
use crate::status::Failure;
use crate::store::Record;

/// The writer's turn. Writes are visible to the transaction at once and to everybody when it ends.
pub(crate) struct Transaction<'a> {
    state: &'a mut State,
    touched: BTreeSet<Collection>,
    records: Vec<Record>,
}

impl<'a> Transaction<'a> {
    pub(super) fn begin(state: &'a mut State) -> Self {
        Self { state, touched: BTreeSet::new(), records: Vec::new() }
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
        self.note(&at, &entry, None);
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
        self.state.owners.add(&at, &entry, old.as_deref(), draft.collecting);
        self.note(&at, &entry, Some(entry.body.clone()));
        entry
    }

    fn table(&mut self, collection: Collection) -> &mut super::Table {
        self.touched.insert(collection);
        self.state
            .tables
            .get_mut(collection.index())
            .expect("collections are handed out by the catalog that sized the tables")
    }

    fn note(&mut self, at: &ObjectName, entry: &Entry, body: Option<bytes::Bytes>) {
        if !self.state.store.keeps() {
            return;
        }
        self.records.push(Record {
            collection: at.collection.index().to_string(),
            namespace: at.namespace.to_string(),
            name: at.name.to_string(),
            revision: entry.revision,
            body,
        });
    }

    pub(super) fn finish(self) -> Result<BTreeSet<Collection>, Failure> {
        if !self.records.is_empty() {
            self.state
                .store
                .commit(&self.records)
                .map_err(|error| Failure::internal(format!("cannot store: {error}")))?;
        }
        Ok(self.touched)
    }
}

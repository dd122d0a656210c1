//! A start with what a store kept.

use std::path::Path;
use std::sync::Arc;

use rolewright_core::RBAC_GROUP;

use crate::catalog::Catalog;
use crate::cluster::{Cluster, Collection};
use crate::server::StartError;
use crate::store::record::Contents;
use crate::store::{Store, StoreError};

/// Loads everything, and stores what comes from now on.
pub(crate) fn start(cluster: &Arc<Cluster>, catalog: &Catalog, mut store: Box<dyn Store>) -> Result<(), StartError> {
    let mut contents = Contents::default();
    store.load(&mut |payload| contents.take(payload))?;
    let live = contents.size();
    let revision = contents.revision;
    let resolve = |resource: &str| {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        catalog.collection(group, plural)
    };
    for (resource, kept) in contents.collections {
        match resolve(&resource) {
            Some(collection) => cluster.restore(collection, &resource, kept),
            // A definition that is gone took its objects along.
            None if kept.objects.is_empty() => {}
            None => return Err(StoreError::Unknown { path: Path::new(&store.place()).to_owned(), resource }.into()),
        }
    }
    let namespaces = catalog.collection("", "namespaces").unwrap_or(Collection::at(0));
    cluster.restored(revision, namespaces);
    if let Some(journal) = cluster.journal() {
        journal.start(cluster, store, live).map_err(StartError::Thread)?;
    }
    // Only who was started in another way than before has something to catch up with; nothing can fail here.
    if let Some(roles) = catalog.collection(RBAC_GROUP, "clusterroles") {
        let _ = cluster.write(|transaction| {
            transaction.catch_up(roles);
            Ok(())
        });
    }
    Ok(())
}

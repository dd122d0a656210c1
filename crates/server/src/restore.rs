//! A start with what a store kept.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::cluster::Cluster;
use crate::server::StartError;
use crate::store::record::Contents;
use crate::store::{Store, StoreError};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Loads everything, and stores what comes from now on.
pub(crate) fn start(cluster: &Arc<Cluster>, catalog: &Catalog, mut store: Box<dyn Store>) -> Result<(), StartError> {
    let mut contents = Contents::default();
    store.load(&mut |payload| contents.take(payload))?;
    let live = contents.size();
    let revision = contents.revision;
    // Definitions come first: they say what the others are.
    if let Some((kept, collection)) = contents.collections.remove(DEFINITIONS).zip(catalog.stored_at(DEFINITIONS)) {
        for entry in kept.objects.values() {
            catalog.serve(entry, || cluster.open(&entry.name));
        }
        cluster.restore(collection, DEFINITIONS, kept);
    }
    for (resource, kept) in contents.collections {
        match catalog.stored_at(&resource) {
            Some(collection) => cluster.restore(collection, &resource, kept),
            // A definition that is gone took its objects along.
            None if kept.objects.is_empty() => {}
            None => return Err(StoreError::Unknown { path: Path::new(&store.place()).to_owned(), resource }.into()),
        }
    }
    cluster.restored(revision, catalog.stored_at("namespaces"), catalog.stored_at(DEFINITIONS));
    if let Some(journal) = cluster.journal() {
        journal.start(cluster, store, live).map_err(StartError::Thread)?;
    }
    // Only who was started in another way than before has something to catch up with; nothing can fail here.
    if let Some(roles) = catalog.stored_at("clusterroles.rbac.authorization.k8s.io") {
        let _ = cluster.write(|transaction| {
            transaction.catch_up(roles);
            Ok(())
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::{Value, json};

    use crate::cluster::Draft;
    use crate::store::record::Writer;
    use crate::store::{Payload, Store, StoreError};
    use crate::{Server, Settings};

    /// A store that kept this.
    struct Kept(Payload);

    impl Store for Kept {
        fn load(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), StoreError> {
            each(&self.0).unwrap();
            Ok(())
        }

        fn append(&mut self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn rewrite(&mut self, _: &mut dyn Iterator<Item = Payload>) -> io::Result<()> {
            Ok(())
        }

        fn size(&self) -> u64 {
            0
        }

        fn place(&self) -> String {
            "/there".to_owned()
        }
    }

    #[tokio::test]
    async fn objects_that_nobody_serves_are_named() {
        let Value::Object(object) = json!({"metadata": {"name": "one", "namespace": "default"}}) else {
            unreachable!()
        };
        let entry = Draft::custom(&object).at(5);
        let start = |gone: &[bool]| {
            let mut writer = Writer::default();
            for gone in gone {
                writer.change("widgets.acme.io", &entry, *gone);
            }
            Server::start_on(Settings::default(), Box::new(Kept(writer.finish())))
        };
        let error = start(&[false]).err().unwrap().to_string();
        assert!(error.contains("`/there` holds objects of `widgets.acme.io`"), "{error}");
        let server = start(&[false, true]).expect("what is gone needs nobody");
        assert!(server.cluster().read().revision() >= 5);
        server.close().await;
    }
}

//! Which kinds the API server serves, and in which version.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use kube::Client;
use rolewright_plan::Kind;

/// The version in which each kind was last found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions(Arc<RwLock<BTreeMap<&'static Kind, &'static str>>>);

impl Versions {
    /// The version to write a kind in.
    pub(crate) fn of(&self, kind: &'static Kind) -> &'static str {
        let versions = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        versions.get(kind).copied().unwrap_or_else(|| kind.best_version())
    }

    fn set(&self, kind: &'static Kind, version: &'static str) {
        let mut versions = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        versions.insert(kind, version);
    }

    /// Finds the best version of a kind that is served. Every account may ask this; it needs no right of its own.
    pub(crate) async fn find(&self, client: &Client, kind: &'static Kind) -> kube::Result<Option<&'static str>> {
        for &version in kind.versions {
            let group_version = kind.api_version(version);
            let found = match kind.group {
                "" => client.list_core_api_resources(version).await,
                _ => client.list_api_group_resources(&group_version).await,
            };
            match found {
                Ok(list) if list.resources.iter().any(|resource| resource.name == kind.plural) => {
                    self.set(kind, version);
                    return Ok(Some(version));
                }
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

//! What is told in events about objects that have no namespace.

use anyhow::Result;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{DeleteParams, ListParams};

use super::Place;

impl Place {
    fn all_events(&self) -> Api<Event> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// How many events have this reason.
    pub async fn events(&self, reason: &str) -> Result<usize> {
        let all = self.all_events().list(&ListParams::default()).await?;
        Ok(all.iter().filter(|event| event.reason.as_deref() == Some(reason)).count())
    }

    /// Whether an event tells of an object what this code stands for.
    pub async fn told(&self, name: &str, code: &str) -> Result<bool> {
        let all = self.all_events().list(&ListParams::default()).await?;
        let about = |event: &&Event| event.regarding.as_ref().and_then(|object| object.name.as_deref()) == Some(name);
        let code = format!("({code})");
        Ok(all.iter().filter(about).any(|event| event.note.as_deref().is_some_and(|note| note.ends_with(&code))))
    }

    /// Removes all events.
    pub async fn forget_events(&self) -> Result<()> {
        self.all_events().delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        Ok(())
    }
}

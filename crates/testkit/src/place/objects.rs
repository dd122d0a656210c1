//! What users do with objects, as superusers who are not the manager.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{PATIENCE, Place};
use crate::manifest::{name, with};

impl Place {
    /// The objects of the kind and the namespace of a manifest.
    pub fn api(&self, object: &Value) -> Result<Api<DynamicObject>> {
        let text = |field: &str| object.get(field).and_then(Value::as_str).context("an object says what it is");
        let (group, version) = text("apiVersion")?.split_once('/').unwrap_or(("", text("apiVersion")?));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")?));
        Ok(match object.pointer("/metadata/namespace").and_then(Value::as_str) {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        })
    }

    /// Applies a manifest.
    pub async fn apply(&self, object: &Value) -> Result<Value> {
        let params = PatchParams::apply("tests").force();
        let stored = self.api(object)?.patch(name(object), &params, &Patch::Apply(object)).await;
        Ok(serde_json::to_value(stored.with_context(|| format!("apply {object}"))?)?)
    }

    /// Merges into the object that a manifest names.
    pub async fn merge(&self, object: &Value, patch: &Value) -> Result<Value> {
        let params = PatchParams { field_manager: Some("tests".to_owned()), ..PatchParams::default() };
        let stored = self.api(object)?.patch(name(object), &params, &Patch::Merge(patch)).await;
        Ok(serde_json::to_value(stored.with_context(|| format!("merge {patch} into `{}`", name(object)))?)?)
    }

    /// Sets the status of an object.
    pub async fn report(&self, object: &Value, status: &Value) -> Result<()> {
        let patch = json!({"status": status});
        let done = self.api(object)?.patch_status(name(object), &PatchParams::default(), &Patch::Merge(patch)).await;
        done.with_context(|| format!("status of {object}"))?;
        Ok(())
    }

    /// The object that a manifest names.
    pub async fn get(&self, object: &Value) -> Result<Option<Value>> {
        let found = self.api(object)?.get_opt(name(object)).await?;
        Ok(found.map(serde_json::to_value).transpose()?)
    }

    /// All objects of the kind of a manifest with these labels.
    pub async fn list(&self, object: &Value, labels: &str) -> Result<Vec<Value>> {
        let found = self.api(object)?.list(&ListParams::default().labels(labels)).await?.items;
        // Items of a list do not say what they are.
        let named = json!({"apiVersion": object.get("apiVersion"), "kind": object.get("kind")});
        found.into_iter().map(|item| Ok(with(serde_json::to_value(item)?, named.clone()))).collect()
    }

    /// Deletes the object that a manifest names.
    pub async fn delete(&self, object: &Value) -> Result<()> {
        let done = self.api(object)?.delete(name(object), &DeleteParams::background()).await;
        done.with_context(|| format!("delete `{}`", name(object)))?;
        Ok(())
    }

    /// Whether a SubjectAccessReview says yes.
    pub async fn review(&self, review: &Value) -> Result<bool> {
        let object: DynamicObject = serde_json::from_value(review.clone())?;
        let answer = self.api(review)?.create(&PostParams::default(), &object).await?;
        Ok(answer.data.pointer("/status/allowed") == Some(&Value::Bool(true)))
    }

    /// Waits until an object is there and `holds`.
    pub async fn until(&self, what: &str, object: &Value, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        loop {
            let found = self.get(object).await?;
            if let Some(found) = found.as_ref().filter(|found| holds(found)) {
                return Ok(found.clone());
            }
            ensure!(start.elapsed() < PATIENCE, "{what} did not happen: {:#}", found.unwrap_or_default());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until an object is gone.
    pub async fn until_gone(&self, object: &Value) -> Result<()> {
        let start = Instant::now();
        while let Some(found) = self.get(object).await? {
            ensure!(start.elapsed() < PATIENCE, "it is still there: {found:#}");
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

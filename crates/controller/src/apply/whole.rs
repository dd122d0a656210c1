//! Lists that several write and that the server knows only as a whole: they are read, changed, and written back for the
//! revision that was read. Who comes in between is not overwritten.

use kube::Api;
use kube::api::{Patch, PatchParams};
use rolewright_plan::engine::{Category, Outcome};
use rolewright_plan::op::Report;
use rolewright_plan::vocabulary::manager;
use rolewright_plan::{Meta, Name, ObjectRef, render};
use serde_json::{Map, Value, json};

use super::{Writer, failure, gone, seen};
use crate::raw::Raw;

impl Writer {
    /// Puts a finalizer on an object, or takes it away.
    pub(super) async fn hold(&self, object: &ObjectRef, uid: &Name, finalizer: &Name, holds: bool) -> Outcome {
        let api = self.api(object);
        let stored = self.within(object, api.get(&object.name)).await;
        let stored = match stored {
            // What is gone is held by nobody.
            Err(failure) if failure.category == Category::Missing && !holds => return Ok(gone(object, uid)),
            stored => stored?,
        };
        let value = stored.value();
        let there = value.pointer("/metadata/finalizers").and_then(Value::as_array).into_iter().flatten();
        let mut finalizers: Vec<&str> = there.filter_map(Value::as_str).filter(|name| name != finalizer).collect();
        if holds {
            finalizers.push(finalizer);
        }
        let patch = metadata(object, &value, uid, &json!(finalizers))?;
        let stored =
            self.within(object, api.patch(&object.name, &ours(manager::ROLEWRIGHT), &Patch::Merge(patch))).await?;
        // What nothing keeps any more is gone, though the answer shows it as it was.
        let is_gone = |meta: &Meta| meta.deleting && meta.finalizers.is_empty();
        if Meta::parse(stored.text()).is_ok_and(|meta| is_gone(&meta)) {
            return Ok(gone(object, uid));
        }
        seen(object, &stored)
    }

    /// Writes our conditions among those of others.
    pub(super) async fn report_among(&self, object: &ObjectRef, uid: &Name, report: &Report) -> Outcome {
        let api: Api<Raw> = self.api(object);
        let value = self.within(object, api.get(&object.name)).await?.value();
        let mut status: Map<String, Value> =
            report.fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        status.insert("conditions".to_owned(), render::conditions_among(object, &value, report));
        let mut patch = metadata(object, &value, uid, &Value::Null)?;
        if let Some(patch) = patch.as_object_mut() {
            patch.insert("status".to_owned(), status.into());
        }
        let (params, patch) = (ours(manager::STATUS), Patch::Merge(patch));
        let stored = self.within(object, api.patch_status(&object.name, &params, &patch)).await?;
        seen(object, &stored)
    }
}

fn ours(manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() }
}

/// What a patch says of the object that it means; `Conflict` if that is no longer there.
fn metadata(
    object: &ObjectRef,
    stored: &Value,
    uid: &Name,
    finalizers: &Value,
) -> Result<Value, rolewright_plan::engine::Failure> {
    let of = |field: &str| stored.pointer(&format!("/metadata/{field}")).cloned().unwrap_or_default();
    if of("uid") != uid.as_str() {
        return Err(failure(object, Category::Conflict, "another object has taken its place"));
    }
    let mut metadata = json!({ "uid": uid, "resourceVersion": of("resourceVersion") });
    if let (Some(metadata), false) = (metadata.as_object_mut(), finalizers.is_null()) {
        metadata.insert("finalizers".to_owned(), finalizers.clone());
    }
    Ok(json!({ "metadata": metadata }))
}

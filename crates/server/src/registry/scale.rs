//! How many: the subresource `scale`, which shows one number of several kinds in the same way.

use axum::http::StatusCode;
use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::{Value, json};

use super::update::{Change, patch_type};
use super::{Call, meta};
use crate::cluster::Entry;
use crate::codec;
use crate::http::respond::{self, Answer};
use crate::json::put;
use crate::patch;
use crate::query::WriteOptions;
use crate::status::Failure;
use crate::strategy::Object;

const SCALE: codec::Gvk<'static> = codec::Gvk { group: "autoscaling", version: "v1", kind: "Scale" };

const PATCHES: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"];

impl Call<'_> {
    pub(crate) fn scale(&self) -> Result<Answer, Failure> {
        let render = self.render()?;
        if render.is_metadata_list() {
            return Err(self.not_a_list(true));
        }
        if self.info.verb == "get" {
            let entry = self.current().ok_or_else(|| self.not_found())?;
            return Ok(respond::json(StatusCode::OK, render.scale(&scale_of(&entry))));
        }
        let (options, given) = if self.info.verb.as_str() == "update" {
            let options = WriteOptions::update(&self.query)?;
            let decoded = codec::decode(self.content_type, &self.body, SCALE, options.field_validation)?;
            (options, Value::Object(decoded.object))
        } else {
            // WHY: who owns the number would have to be translated between two kinds. Nobody applies a scale.
            let Some(kind) = patch_type(self.content_type)? else {
                return Err(Failure::unsupported_media(&PATCHES));
            };
            let options = WriteOptions::patch(&self.query, false)?;
            let entry = self.current().ok_or_else(|| self.not_found())?;
            let Value::Object(scale) = scale_of(&entry) else { return Err(self.not_found()) };
            let ty =
                crate::facts::type_of(SCALE.group, SCALE.version, SCALE.kind).ok_or_else(Failure::no_such_resource)?;
            let patched = patch::apply(kind, ty, &scale, &self.body, options.field_validation)?;
            (options, Value::Object(patched.object))
        };
        let replicas =
            given.get("spec").and_then(|spec| spec.get("replicas")).and_then(Value::as_i64).unwrap_or_default();
        if replicas < 0 {
            let at = Path::field("spec");
            let value = BadValue::Json(replicas.to_string());
            let error = FieldError::invalid(at.child("replicas"), value, "must be greater than or equal to 0");
            return Err(Failure::invalid(SCALE.group, SCALE.kind, &self.info.name, &[error]));
        }
        let version = given
            .get("metadata")
            .and_then(|meta| meta.get("resourceVersion"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let version = if self.info.verb == "update" { version.to_owned() } else { String::new() };
        let make = move |mut object: Object| {
            let spec = object.entry("spec").or_insert_with(|| json!({}));
            put(spec, "replicas", replicas);
            if !version.is_empty() {
                super::set_meta(&mut object, "resourceVersion", version.as_str());
            }
            Ok(object)
        };
        let done = self.change(&Change::Make(&make), &options)?;
        Ok(respond::json(StatusCode::OK, render.scale(&scale_of(&done.entry))))
    }

    /// Changes an object from what it is.
    pub(crate) fn make(&self, make: &dyn Fn(Object) -> Result<Object, Failure>) -> Result<(), Failure> {
        self.change(&Change::Make(make), &WriteOptions::default()).map(|_| ())
    }
}

fn scale_of(entry: &Entry) -> Value {
    let object = entry.object();
    let at = |part: &str, member: &str| object.get(part).and_then(|part| part.get(member));
    let mut status = json!({"replicas": at("status", "replicas").and_then(Value::as_i64).unwrap_or_default()});
    let selector = at("spec", "selector").map(selector_text).unwrap_or_default();
    if !selector.is_empty() {
        put(&mut status, "selector", selector);
    }
    let spec = match at("spec", "replicas").and_then(Value::as_i64).unwrap_or_default() {
        0 => json!({}),
        replicas => json!({"replicas": replicas}),
    };
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": entry.name, "namespace": entry.namespace, "uid": entry.uid,
            "resourceVersion": entry.revision.to_string(), "creationTimestamp": meta(&object, "creationTimestamp"),
        },
        "spec": spec, "status": status,
    })
}

/// A selector as text: of labels, or with expressions.
fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels").or_else(|| (!selector["matchExpressions"].is_array()).then_some(selector));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<(String, String)> =
        labels.map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default()))).collect();
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let mut values: Vec<&str> =
            expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort();
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}

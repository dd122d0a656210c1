//! Stored objects in the form that a client asked for.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::catalog::{BuiltIn, Origin, Served};
use crate::cluster::Entry;
use crate::http::negotiate::Form;
use crate::json::put;
use crate::query::Query;
use crate::status::Failure;
use crate::strategy::Object;
use crate::table;

/// How objects go to the client.
#[derive(Clone, Debug)]
pub(crate) struct Render {
    served: Arc<Served>,
    form: Form,
    include: Include,
    opening: String,
}

/// What of the object a row of a table carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.group_resource())
    }
}

impl Render {
    pub(crate) fn new(served: &Arc<Served>, form: Form, query: &Query) -> Result<Self, Failure> {
        let include = match query.first("includeObject").unwrap_or_default() {
            "" | "Metadata" => Include::Metadata,
            "None" => Include::None,
            "Object" => Include::Object,
            other if form == Form::Table => {
                return Err(Failure::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be \
                     'Metadata', 'Object', 'None', or empty"
                )));
            }
            _ => Include::Metadata,
        };
        Ok(Self { served: served.clone(), form, include, opening: served.opening() })
    }

    /// One object as an answer of its own or in an event.
    pub(crate) fn object(&self, entry: &Entry) -> Bytes {
        match self.form {
            Form::Object => self.whole(entry),
            Form::Table => {
                // What was only tried out has the version that it came with, or none.
                let object = entry.object();
                let metadata = match super::meta(&object, "resourceVersion") {
                    "" => json!({}),
                    version => json!({"resourceVersion": version}),
                };
                self.table(std::slice::from_ref(&entry), true, &metadata)
            }
            Form::Metadata | Form::MetadataList => self.metadata(entry, true).to_string().into(),
        }
    }

    /// An object that is not stored (a dry run, a review, a Scale).
    pub(crate) fn whole(&self, entry: &Entry) -> Bytes {
        let mut bytes = Vec::with_capacity(self.opening.len() + entry.body.len());
        self.served.write(&mut bytes, entry, &self.opening);
        bytes.into()
    }

    /// A list. `metadata` is that of the list.
    pub(crate) fn list(&self, entries: &[Arc<Entry>], metadata: &Value) -> Bytes {
        match self.form {
            Form::Object => self.plain_list(entries, metadata),
            Form::Table => {
                let entries: Vec<&Entry> = entries.iter().map(AsRef::as_ref).collect();
                self.table(&entries, true, metadata)
            }
            Form::Metadata | Form::MetadataList => {
                let items: Vec<Value> = entries.iter().map(|entry| self.metadata(entry, true)).collect();
                let items = if items.is_empty() { Value::Null } else { items.into() };
                let list = json!({
                    "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items,
                });
                list.to_string().into()
            }
        }
    }

    /// The stored bytes one after the other.
    fn plain_list(&self, entries: &[Arc<Entry>], metadata: &Value) -> Bytes {
        let mut metadata = metadata.clone();
        if self.served.ty().is_none() && metadata.get("continue").is_none() {
            // Lists without a type say it even if there is no next page.
            put(&mut metadata, "continue", "");
        }
        let size: usize = entries.iter().map(|entry| entry.body.len() + 1).sum();
        let mut bytes = Vec::with_capacity(size + 256);
        let opening = format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{metadata},\"items\":[",
            self.served.list_kind(),
            self.served.api_version()
        );
        bytes.extend_from_slice(opening.as_bytes());
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 {
                bytes.push(b',');
            }
            self.served.write_item(&mut bytes, entry, &self.opening);
        }
        bytes.extend_from_slice(b"]}");
        bytes.into()
    }

    /// Metadata alone is taken from the form that Kubernetes works with: what a version adds to it is not there.
    fn metadata(&self, entry: &Entry, with_kind: bool) -> Value {
        let mut object = entry.object();
        let mut metadata = object.remove("metadata").unwrap_or_default();
        hide_template_generation(&self.served, &mut metadata);
        if with_kind {
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
        } else {
            json!({"metadata": metadata})
        }
    }

    /// A table of these objects; watches show the columns only once.
    pub(crate) fn table(&self, entries: &[&Entry], with_columns: bool, metadata: &Value) -> Bytes {
        let rows: Vec<Value> = entries.iter().map(|entry| self.row(entry)).collect();
        // Kinds without a printer of their own leave the list unset.
        let built_in = self.served.built_in();
        let unset = rows.is_empty()
            && built_in.is_some_and(|it| it.facts.columns.iter().any(|column| column.name == "Created At"));
        let rows = if unset { Value::Null } else { rows.into() };
        let columns = match &self.served.origin {
            _ if !with_columns => Value::Null,
            Origin::BuiltIn(built_in) => table::columns(built_in.facts),
            Origin::Custom(version) => version.columns(),
        };
        let table = json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": columns, "rows": rows,
        });
        table.to_string().into()
    }

    fn row(&self, entry: &Entry) -> Value {
        let mut object = self.served.view(entry);
        let now = crate::time::now();
        let (cells, conditions) = match &self.served.origin {
            Origin::BuiltIn(BuiltIn { facts, .. }) => {
                (table::cells(facts, &object, now), table::conditions(facts, &object))
            }
            Origin::Custom(version) => (version.cells(&object, now), None),
        };
        let object = match self.include {
            Include::None => Value::Null,
            Include::Metadata => self.metadata(entry, true),
            Include::Object => {
                object.insert("kind".into(), self.served.kind.as_str().into());
                object.insert("apiVersion".into(), self.served.api_version().into());
                Value::Object(object)
            }
        };
        let mut row = json!({"cells": cells, "object": object});
        if let Some(conditions) = conditions {
            put(&mut row, "conditions", conditions);
        }
        row
    }

    pub(crate) fn is_metadata_list(&self) -> bool {
        self.form == Form::MetadataList
    }

    pub(crate) fn is_table(&self) -> bool {
        self.form == Form::Table
    }

    fn empty(&self, metadata: &Value) -> Object {
        if let Some(built_in) = self.served.built_in() {
            return crate::codec::empty(built_in.ty, metadata);
        }
        let mut object = Object::new();
        object.insert("apiVersion".into(), self.served.api_version().into());
        object.insert("metadata".into(), metadata.clone());
        object
    }

    /// What a bookmark shows: an empty object of the kind with a version.
    pub(crate) fn bookmark(&self, revision: u64, ends_initial_events: bool) -> Bytes {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if ends_initial_events {
            put(&mut metadata, "annotations", json!({"k8s.io/initial-events-end": "true"}));
        }
        match self.form {
            Form::Object => {
                let body = Value::Object(self.empty(&metadata)).to_string();
                format!("{}{}", self.opening, body.get(1..).unwrap_or_default()).into()
            }
            Form::Table => {
                let empty = self.served.shown(&self.empty(&metadata));
                self.table(&[&empty], false, &json!({"resourceVersion": revision.to_string()}))
            }
            Form::Metadata | Form::MetadataList => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
                    .to_string()
                    .into()
            }
        }
    }
}

/// Kubernetes keeps this number of a DaemonSet in its spec, and shows it as an annotation only of whole objects.
fn hide_template_generation(served: &Served, metadata: &mut Value) {
    if served.plural != "daemonsets" {
        return;
    }
    let Some(metadata) = metadata.as_object_mut() else { return };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("deprecated.daemonset.template.generation");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

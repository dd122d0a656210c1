//! Tables, cell by cell.

mod cluster;
mod kinds;
mod network;
mod pods;
mod scaling;
mod shape;
mod workloads;

use jiff::Timestamp;
use proptest::prelude::*;
use rolewright_server::facts::{self, Resource};
use rolewright_server::table;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use rolewright_testkit::compare::{compare, decisions};
use rolewright_testkit::oracle::Oracle;

/// An object as a client sends it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sent {
    group: String,
    version: String,
    kind: String,
    object: Map<String, Value>,
}

#[derive(Deserialize)]
struct Decoded {
    results: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    object: Option<Value>,
    error: String,
}

#[derive(Deserialize)]
struct Printed {
    results: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    columns: Value,
    rows: Vec<Row>,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct Row {
    cells: Value,
    conditions: Option<Value>,
}

impl Sent {
    fn resource(&self) -> Option<&'static Resource> {
        facts::resources().iter().find(|resource| {
            (resource.group, resource.version, resource.kind) == (&self.group, &self.version, &self.kind)
                && resource.verbs.contains(&"get")
        })
    }

    fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// What both sides print: the object with its defaults, and its kind.
    fn request(&self) -> Value {
        let mut body = self.object.clone();
        body.insert("apiVersion".into(), self.api_version().into());
        body.insert("kind".into(), self.kind.as_str().into());
        json!({
            "contentType": "application/json", "group": self.group, "version": self.version, "kind": self.kind,
            "defaulting": true, "body": Value::Object(body).to_string(),
        })
    }

    fn differs(&self, object: &Value, theirs: &Table) -> Option<String> {
        let Value::Object(mut shown) = object.clone() else { panic!("{object} is an object") };
        shown.remove("kind");
        shown.remove("apiVersion");
        let now = Timestamp::now();
        let (columns, cells, conditions) = match self.resource() {
            Some(resource) => {
                (table::columns(resource), table::cells(resource, &shown, now), table::conditions(resource, &shown))
            }
            None => (table::scale_columns(false), table::scale_cells(&shown, now), None),
        };
        let Some(row) = theirs.rows.first() else { return Some(format!("{object}: Kubernetes says {}", theirs.error)) };
        let (ours, theirs) = (
            json!({"columns": undescribed(columns), "cells": cells, "conditions": conditions}),
            json!({"columns": undescribed(theirs.columns.clone()), "cells": row.cells, "conditions": row.conditions}),
        );
        (ours != theirs).then(|| format!("{object}\nours       {ours}\nKubernetes {theirs}"))
    }
}

/// Columns without their descriptions, which are upstream's prose.
fn undescribed(mut columns: Value) -> Value {
    for column in columns.as_array_mut().into_iter().flatten() {
        column.as_object_mut().map(|column| column.remove("description"));
    }
    columns
}

fn differ(oracle: &mut Oracle, sent: &[Sent]) -> anyhow::Result<Option<String>> {
    let requests: Vec<Value> = sent.iter().map(Sent::request).collect();
    let decoded: Decoded = oracle.ask("decode", json!({"items": requests}))?;
    let mut objects = Vec::new();
    for (sent, decoded) in sent.iter().zip(decoded.results) {
        match decoded.object {
            Some(object) => objects.push(object),
            None => anyhow::bail!("{sent:?}: {}", decoded.error),
        }
    }
    let items: Vec<Value> = objects.iter().map(|object| json!({"object": object})).collect();
    let printed: Printed = oracle.ask("table", json!({"items": items}))?;
    let mut all = sent.iter().zip(&objects).zip(&printed.results);
    Ok(all.find_map(|((sent, object), theirs)| sent.differs(object, theirs)))
}

#[test]
fn every_kind_prints_as_by_kubernetes() {
    let kinds = kinds::all();
    println!("tables of {} kinds", kinds.len());
    let each: Vec<BoxedStrategy<Sent>> = kinds
        .into_iter()
        .flat_map(|(group, version, kind, object)| {
            let sent = move |object| Sent { group: group.into(), version: version.into(), kind: kind.into(), object };
            // Their cells have more cases than others.
            let times = match kind {
                "Pod" => 16,
                "HorizontalPodAutoscaler" | "Ingress" => 4,
                _ => 1,
            };
            std::iter::repeat_n(object.prop_map(sent).boxed(), times)
        })
        .collect();
    compare("tables", decisions() / 1000, each, |oracle, sent| differ(oracle, sent));
}

#[test]
fn every_table_is_compared() {
    let kinds = kinds::all();
    for resource in facts::resources().iter().filter(|resource| !resource.columns.is_empty()) {
        let api = (resource.group, resource.version, resource.kind);
        assert!(kinds.iter().any(|(group, version, kind, _)| (*group, *version, *kind) == api), "{api:?}");
    }
}

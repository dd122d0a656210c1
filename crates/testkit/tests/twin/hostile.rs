//! Definitions and objects that are meant to hurt, made up here because nobody wants to read three megabytes of them.

mod definitions;
mod objects;
mod wholes;

use serde_json::{Value, json};

use crate::exchange::{Exchange, Script};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The scripts.
pub(crate) fn scripts() -> Vec<Script> {
    vec![definitions::script(), definitions::stored(), objects::script()]
}

/// Sends a body; `status` is what Kubernetes answers with.
fn post(title: &str, status: u16, target: &str, body: String) -> Exchange {
    Exchange {
        title: title.into(),
        status: Some(status),
        method: "POST".into(),
        target: target.into(),
        body,
        ..Exchange::default()
    }
}

/// Asks until it is so.
fn wait(title: &str, target: &str, condition: &str) -> Exchange {
    let mut exchange = Exchange {
        title: title.into(),
        status: Some(200),
        method: "GET".into(),
        target: target.into(),
        ..Exchange::default()
    };
    exchange.directives.wait = Some(condition.into());
    exchange
}

/// A definition of one kind, with this schema for `spec.x`.
fn definition(plural: &str, schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{{{{ns}}}}.example.com")},
        "spec": {
            "group": "{{ns}}.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": of_spec(schema)}}],
        },
    })
}

fn of_spec(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": schema}}}})
}

/// `inner` in so many objects.
fn nested(depth: usize, inner: Value, around: impl Fn(&Value) -> Value) -> Value {
    (0..depth).fold(inner, |inner, _| around(&inner))
}

fn object_of(inner: &Value) -> Value {
    json!({"type": "object", "properties": {"p": inner}})
}

//! Many definitions of custom resources.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::creating;
use crate::process::Running;

/// Definitions of one batch, spread over groups as those of providers are.
pub(crate) const BATCH: usize = 1_000;
const GROUPS: usize = 50;
const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Milliseconds until all definitions of a batch are created and in discovery.
pub(crate) async fn batch(server: &Running, batch: usize) -> Result<f64> {
    let began = Instant::now();
    creating::all(server, PATH, BATCH, |i| definition(batch, i)).await?;
    let mut connection = server.connect().await?;
    let deadline = began + Duration::from_mins(10);
    for group in 0..GROUPS {
        let path = format!("/apis/{}/v1", group_name(batch, group));
        loop {
            let found = match connection.get(&path).await {
                Ok(list) => list.get("resources").and_then(Value::as_array).map_or(0, Vec::len),
                Err(_) => 0,
            };
            // Each has a status as well.
            if found >= 2 * BATCH / GROUPS {
                break;
            }
            ensure!(Instant::now() < deadline, "{path} has {found} resources");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn group_name(batch: usize, group: usize) -> String {
    format!("b{batch}g{group:02}.acme.io")
}

fn definition(batch: usize, i: usize) -> Value {
    let group = group_name(batch, i % GROUPS);
    let (plural, kind) = (format!("things{i:04}"), format!("Thing{i:04}"));
    let text = |what: &str| json!({"type": "string", "description": format!("The {what} of the thing, in the words of its provider.")});
    let reference = json!({"type": "object", "required": ["name"], "properties": {
        "name": text("name"), "namespace": text("namespace"),
        "policy": {"type": "object", "properties": {"resolution": {"type": "string", "enum": ["Required", "Optional"], "default": "Required"}}},
    }});
    let parameters: serde_json::Map<String, Value> =
        (0..20).map(|at| (format!("parameter{at:02}"), text(&format!("parameter {at}")))).collect();
    let condition = json!({"type": "object", "required": ["type", "status"], "properties": {
        "type": {"type": "string"}, "status": {"type": "string"}, "reason": {"type": "string"}, "message": {"type": "string"},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
    }});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "forProvider": {"type": "object", "properties": parameters},
            "providerConfigRef": reference, "writeConnectionSecretToRef": reference,
        }},
        "status": {"type": "object", "properties": {"conditions": {
            "type": "array", "items": condition, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        }}},
    }});
    json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Cluster", "names": {"plural": plural, "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
            }],
        },
    })
}

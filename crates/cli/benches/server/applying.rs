//! Server-side apply by a client that changes a little of much, again and again.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::creating;
use crate::process::Running;

/// How many applies count, after some that do not.
const APPLIES: u32 = 200;
const WARM: u32 = 20;
const RULES: usize = 200;
/// Items of about 125 bytes: 50 KB.
const ITEMS: usize = 400;

/// Microseconds for one apply of a ClusterRole with many rules, one of which is new.
pub(crate) async fn cluster_role(server: &Running) -> Result<f64> {
    let role = |round: u32| {
        let mut rules: Vec<Value> = (0..RULES).filter_map(|i| creating::rules(i).get(0).cloned()).collect();
        rules.push(json!({"apiGroups": [""], "resources": [format!("r{round}")], "verbs": ["get"]}));
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "applied"}, "rules": rules,
        })
    };
    applies(server, "/apis/rbac.authorization.k8s.io/v1/clusterroles/applied", role).await
}

/// Microseconds for one apply of a large custom resource, of which one item of a list is changed.
pub(crate) async fn custom_resource(server: &Running) -> Result<f64> {
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "image": {"type": "string"}, "port": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item});
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"items": list}},
    }});
    let mut connection = server.connect().await?;
    let definition = json!({
        "metadata": {"name": "fleets.bench.acme.io"},
        "spec": {
            "group": "bench.acme.io", "scope": "Cluster", "names": {"plural": "fleets", "kind": "Fleet"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    connection.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Err(refused) = connection.get("/apis/bench.acme.io/v1/fleets").await {
        ensure!(Instant::now() < deadline, "{refused}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let fleet = |round: u32| {
        let item = |i: usize| {
            let image = format!("registry.acme.io/team/component-{i:04}:v1.{}", if i == 0 { round } else { 0 });
            json!({"name": format!("component-{i:04}"), "image": image, "port": 8000 + i, "labels": {"app": format!("a{i}")}})
        };
        json!({
            "apiVersion": "bench.acme.io/v1", "kind": "Fleet", "metadata": {"name": "applied"},
            "spec": {"items": (0..ITEMS).map(item).collect::<Vec<_>>()},
        })
    };
    applies(server, "/apis/bench.acme.io/v1/fleets/applied", fleet).await
}

async fn applies(server: &Running, path: &str, body: impl Fn(u32) -> Value) -> Result<f64> {
    let mut connection = server.connect().await?;
    let path = format!("{path}?fieldManager=bench&force=true");
    for round in 0..WARM {
        connection.apply(&path, &body(round)).await?;
    }
    let bodies: Vec<Value> = (WARM..WARM + APPLIES).map(body).collect();
    let began = Instant::now();
    for body in &bodies {
        connection.apply(&path, body).await?;
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(APPLIES))
}

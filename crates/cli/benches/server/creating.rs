//! Creates by several clients at once.

use std::time::Instant;

use anyhow::Result;
use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::process::Running;

pub(crate) const ROLES: usize = 10_000;
/// All roles come in this many rounds, of which the best counts.
pub(crate) const ROUNDS: usize = 5;
const CLIENTS: usize = 8;

pub(crate) fn rules(i: usize) -> Value {
    json!([
        {"apiGroups": [format!("g{}.acme.io", i % 40)], "resources": [format!("xr{i}"), format!("claim{i}")],
            "verbs": ["get", "list", "watch"]},
        {"apiGroups": [format!("g{}.acme.io", i % 40)], "resources": [format!("xr{i}/status")], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["get", "list", "watch", "create"]},
    ])
}

/// Microseconds for each role of a round, with all clients busy.
pub(crate) async fn cluster_roles(server: &Running, round: usize) -> Result<f64> {
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let body = |i: usize| {
        let i = i + round * ROLES / ROUNDS;
        json!({"metadata": {"name": format!("component-{i:05}")}, "rules": rules(i)})
    };
    all(server, path, ROLES / ROUNDS, body).await
}

/// Microseconds for each of `count` objects, created by all clients.
pub(crate) async fn all(server: &Running, path: &str, count: usize, body: impl Fn(usize) -> Value) -> Result<f64> {
    let connections = try_join_all((0..CLIENTS).map(|_| server.connect())).await?;
    let body = &body;
    let began = Instant::now();
    let clients = connections.into_iter().enumerate().map(|(client, mut connection)| async move {
        for i in (client..count).step_by(CLIENTS) {
            connection.create(path, &body(i)).await?;
        }
        anyhow::Ok(())
    });
    try_join_all(clients).await?;
    let count = u32::try_from(count)?;
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(count))
}

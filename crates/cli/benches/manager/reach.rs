//! From a new definition until an editor may use what it defines, while Kubernetes' own controller gathers roles.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rolewright_testkit::client::Connection;
use rolewright_testkit::peers::Crossplane;
use serde_json::{Value, json};

use crate::crossplane::{BINDINGS, PATIENCE, Who, XRDS, fill, start, xrd};
use crate::program::Program;
use crate::server::{ROLES, Server, send};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const GROUP: &str = "rbac.authorization.k8s.io";
/// How many definitions there are before where Kubernetes' controller gathers: with five times as many it takes minutes.
pub(crate) const FEW: usize = 100;
/// How many come, of which the mean counts.
const NEW: u32 = 3;

/// Milliseconds from a definition's creation, among so many others, until a review says yes to an editor.
pub(crate) async fn reach(server: &Server, crossplane: &Crossplane, who: Who, among: usize) -> Result<f64> {
    fill(server, crossplane, among).await?;
    let mut admin = server.connect().await?;
    if matches!(who, Who::Theirs) {
        // What its chart installs, all of which Kubernetes' controller gathers one after the other; ours brings it.
        for name in ["crossplane", "crossplane-admin", "crossplane-edit", "crossplane-view", "crossplane-browse"] {
            let level = name.strip_prefix("crossplane-").unwrap_or(name);
            let selector = json!({"matchLabels": {format!("rbac.crossplane.io/aggregate-to-{level}"): "true"}});
            let role = json!({"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": [selector]}});
            send(&mut admin, "POST", ROLES, &role).await?;
        }
    }
    let role = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": "crossplane-edit"});
    let user = json!([{"apiGroup": GROUP, "kind": "User", "name": "ed"}]);
    send(&mut admin, "POST", BINDINGS, &json!({"metadata": {"name": "ed"}, "roleRef": role, "subjects": user})).await?;
    let manager = start(server, crossplane, who).await?;
    manager.rest().await?;
    let kubernetes = Program::peer(server)?;
    let mut taken = Duration::ZERO;
    for new in 0..NEW {
        kubernetes.rest().await?;
        manager.rest().await?;
        taken += until_allowed(&mut admin, among + usize::try_from(new)?).await?;
    }
    manager.end()?;
    kubernetes.end()?;
    Ok(taken.as_secs_f64() * 1e3 / f64::from(NEW))
}

async fn until_allowed(admin: &mut Connection, number: usize) -> Result<Duration> {
    let xrd = xrd(number);
    let attributes = json!({"verb": "create", "group": xrd.pointer("/spec/group"), "resource": format!("xr{number}s")});
    let review = json!({"spec": {"user": "ed", "resourceAttributes": attributes}});
    let began = Instant::now();
    send(admin, "POST", XRDS, &xrd).await?;
    loop {
        let answer = send(admin, "POST", REVIEWS, &review).await?;
        if answer.pointer("/status/allowed") == Some(&Value::Bool(true)) {
            return Ok(began.elapsed());
        }
        ensure!(began.elapsed() < PATIENCE, "it is not allowed");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

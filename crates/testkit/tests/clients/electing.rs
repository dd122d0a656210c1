//! client-go's election over a Lease: one leads, and who ends hands over.

use anyhow::{Context, Result, ensure};
use rolewright_server::Controllers;
use serde_json::{Value, json};

use crate::process::Process;
use crate::servers::{self, Home};

#[tokio::test(flavor = "multi_thread")]
async fn one_leads_and_hands_over() -> Result<()> {
    let Some(real) = servers::real().await? else { return Ok(()) };
    let folder = servers::folder("electing")?;
    let ours = servers::ours(Controllers::default(), &folder).await?;
    for (name, content_type) in
        [("json", "application/json"), ("proto", "application/vnd.kubernetes.protobuf,application/json")]
    {
        let there = elect(&real, name, content_type).await.context("real")?;
        let here = elect(&ours, name, content_type).await.context("ours")?;
        assert_eq!(there, here, "{name}");
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Two candidates, one after the other. Returns the lease after each step.
async fn elect(home: &Home, lease: &str, content_type: &str) -> Result<Vec<Value>> {
    let mut leases = Vec::new();
    let candidate = |identity: &str| {
        let arguments = ["--lease", lease, "--identity", identity, "--content-type", content_type];
        Process::start(home, "elect", &arguments)
    };
    let mut first = candidate("first")?;
    first.until(&json!({"event": "leading", "identity": "first"}))?;
    leases.push(read(home, lease).await?);
    let mut second = candidate("second")?;
    second.until(&json!({"event": "leader", "identity": "first"}))?;
    leases.push(read(home, lease).await?);
    first.end()?;
    second.until(&json!({"event": "leading", "identity": "second"}))?;
    leases.push(read(home, lease).await?);
    second.end()?;
    leases.push(read(home, lease).await?);
    for (lease, holder) in leases.iter().zip(["first", "first", "second", ""]) {
        let held = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        ensure!(held == holder, "`{holder}` should lead: {lease}");
    }
    Ok(leases)
}

/// The lease without what depends on when it was read.
async fn read(home: &Home, lease: &str) -> Result<Value> {
    let at = format!("/apis/coordination.k8s.io/v1/namespaces/default/leases/{lease}");
    let (status, mut lease) = home.send("GET", &at, None).await?;
    ensure!(status == 200, "{lease}");
    for member in ["uid", "resourceVersion", "creationTimestamp"] {
        lease["metadata"][member] = Value::Null;
    }
    for entry in lease["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        entry["time"] = Value::Null;
    }
    for member in ["acquireTime", "renewTime"] {
        let time = lease["spec"][member].as_str().unwrap_or_default();
        // Microseconds, always all of them.
        ensure!(time.len() == "2026-11-16T01:02:03.000000Z".len(), "{member}: {time}");
        lease["spec"][member] = Value::Null;
    }
    Ok(lease)
}

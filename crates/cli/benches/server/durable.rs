//! A cluster that is kept: writes that wait for the disk, and a start with much to read.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use crate::process::Running;
use crate::{Pair, creating};

/// How many objects a restart finds.
const OBJECTS: usize = 100_000;
/// One in this many is a ClusterRole, which has to be read; the others are kept as they are.
const ROLES: usize = 5;
const NAMESPACES: usize = 100;

/// A folder on the disk; it goes with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("rolewright-bench-data-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Microseconds for each role, both servers waiting for the same disk.
pub(crate) async fn creates() -> Result<(f64, Option<f64>)> {
    let folder = Folder::new();
    let data: [&OsStr; 2] = [OsStr::new("--data"), folder.0.as_os_str()];
    let pair = Pair { ours: Running::ours_with(&data)?, peer: Running::peer(&["--fsync"])? };
    let mut best = (f64::INFINITY, Some(f64::INFINITY));
    for round in 0..creating::ROUNDS {
        let (ours, peer) = pair.each(async |server| creating::cluster_roles(server, round).await).await?;
        best = (best.0.min(ours), best.1.zip(peer).map(|(best, peer)| best.min(peer)));
    }
    Ok(best)
}

/// Milliseconds from the start of the process until it is ready, with all objects kept by one that was killed.
pub(crate) async fn restart() -> Result<f64> {
    let folder = Folder::new();
    let data = || [OsStr::new("--data"), folder.0.as_os_str(), OsStr::new("--data-sync"), OsStr::new("os")];
    let server = Running::ours_with(&data())?;
    let mut connection = server.connect().await?;
    for i in 0..NAMESPACES {
        connection.create("/api/v1/namespaces", &json!({"metadata": {"name": format!("team-{i:02}")}})).await?;
    }
    let roles = OBJECTS / ROLES;
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = |i: usize| json!({"metadata": {"name": format!("component-{i:05}")}, "rules": creating::rules(i)});
    creating::all(&server, path, roles, role).await?;
    for team in 0..NAMESPACES {
        let path = format!("/api/v1/namespaces/team-{team:02}/configmaps");
        let map = |i: usize| {
            json!({"metadata": {"name": format!("map-{i:05}"), "labels": {"app": format!("a{}", i % 7)}},
                "data": {"key": "value ".repeat(40)}})
        };
        creating::all(&server, &path, (OBJECTS - roles) / NAMESPACES, map).await?;
    }
    drop(server);
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(Running::ours_with(&data())?.ready_in.as_secs_f64() * 1e3);
    }
    Ok(best)
}

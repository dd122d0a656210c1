//! What the manager takes when there is much to know and nothing to do.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::program::{EXCLUSIVE, Program};
use crate::server::{ROLES, Server};

const COUNT: usize = 10_000;
const IDLE: Duration = Duration::from_secs(30);

/// What was measured of one program.
pub(crate) struct Figures {
    /// Resident megabytes.
    pub(crate) memory: f64,
    /// Percent of a processor.
    pub(crate) idle: f64,
}

/// Both programs, one after the other.
pub(crate) async fn both(server: &Server) -> Result<(Figures, Figures)> {
    server.fill(ROLES, (0..COUNT).map(role).collect()).await?;
    let ours = figures(Program::ours(server, &EXCLUSIVE).await?).await?;
    let peer = figures(Program::peer(server)?).await?;
    Ok((ours, peer))
}

async fn figures(program: Program) -> Result<Figures> {
    program.rest().await?;
    let idle = program.busy(IDLE).await?;
    let memory = program.memory()?;
    program.end()?;
    Ok(Figures { memory, idle })
}

fn role(i: usize) -> Value {
    let group = format!("g{}.acme.io", i % 40);
    json!({
        "metadata": {
            "name": format!("crossplane:composite:xr{i}.{group}:aggregate-to-edit"),
            "labels": {"rbac.crossplane.io/aggregate-to-edit": "true", "rbac.crossplane.io/xrd": format!("xr{i}.{group}")},
        },
        "rules": [
            {"apiGroups": [group], "resources": [format!("xr{i}"), format!("claim{i}")], "verbs": ["get", "list", "watch"]},
            {"apiGroups": [group], "resources": [format!("xr{i}/status")], "verbs": ["get"]},
            {"apiGroups": [""], "resources": ["configmaps", "events"], "verbs": ["get", "list", "watch", "create"]},
        ],
    })
}

//! The manager beside Kubernetes' own controller: both as processes, one after the other on the same real API server.
//!
//! A row's time goes from sending a write until the last role that follows from it is written, as a watch sees it. Processor
//! time is that of the manager or of the controller alone, until it has come to rest.

mod aggregated;
mod crossplane;
mod many;
mod program;
mod seen;
mod server;

use anyhow::Result;
use rolewright_testkit::bench::{Budget, Row, wanted};
use rolewright_testkit::peers::Crossplane;
use rolewright_testkit::testbed;

use self::server::Server;

struct Line {
    name: &'static str,
    unit: &'static str,
    budget: Budget,
}

const FOLLOW: Line = line("manager: one of 2,000 roles until all follow", "ms", Budget::TimesBetter(100.0));
const FOLLOW_CPU: Line = line("manager: one of 2,000 roles until all follow, CPU", "ms", Budget::TimesBetter(1_000.0));
const RESTART: Line = line("manager: writes after a restart", "writes", Budget::AtMost(0.0));
const DRIFT: Line = line("manager: drift until repaired", "ms", Budget::AtMost(1_000.0));
const MEMORY: Line = line("manager: memory with 10,000 ClusterRoles", "MB", Budget::AtMost(40.0));
const IDLE: Line = line("manager: idle CPU with 10,000 ClusterRoles", "%", Budget::AtMost(0.1));

const CROSSPLANE: Line = line("crossplane: roles of 2,000 XRDs and a family of 70", "ms", Budget::Told);
const CROSSPLANE_CPU: Line = line("crossplane: roles of 2,000 XRDs and a family of 70, CPU", "ms", Budget::Told);
const CROSSPLANE_WRITES: Line = line("crossplane: writes for 2,000 XRDs and a family of 70", "writes", Budget::Told);
const CROSSPLANE_MEMORY: Line = line("crossplane: memory with 2,000 XRDs and a family of 70", "MB", Budget::Told);
const FAMILY: Line = line("crossplane: a member of 70 gains a resource", "ms", Budget::Told);
const FAMILY_CPU: Line = line("crossplane: a member of 70 gains a resource, CPU", "ms", Budget::Told);
const FAMILY_WRITES: Line = line("crossplane: writes when a member of 70 gains a resource", "writes", Budget::Told);

const fn line(name: &'static str, unit: &'static str, budget: Budget) -> Line {
    Line { name, unit, budget }
}

impl Line {
    /// What the peer takes, until there is something of ours beside it.
    fn told(&self, peer: f64) -> Result<()> {
        let name = format!("{} (Crossplane's manager)", self.name);
        if wanted(self.name) { Row::new(name, self.unit, peer, None, self.budget).report() } else { Ok(()) }
    }

    fn report(&self, ours: f64, peer: f64) -> Result<()> {
        if wanted(self.name) { Row::new(self.name, self.unit, ours, Some(peer), self.budget).report() } else { Ok(()) }
    }
}

/// One thread: the client must not take from the others what it measures.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let Some(testbed) = testbed::binary("the manager's bench")? else { return Ok(()) };
    if any(&[&FOLLOW, &FOLLOW_CPU, &RESTART, &DRIFT]) {
        let server = Server::start(&testbed)?;
        let (ours, peer) = aggregated::both(&server).await?;
        FOLLOW.report(ours.follow.wall, peer.follow.wall)?;
        FOLLOW_CPU.report(ours.follow.cpu, peer.follow.cpu)?;
        RESTART.report(ours.restart, peer.restart)?;
        DRIFT.report(ours.drift, peer.drift)?;
    }
    if any(&[&MEMORY, &IDLE]) {
        let server = Server::start(&testbed)?;
        let (ours, peer) = many::both(&server).await?;
        MEMORY.report(ours.memory, peer.memory)?;
        IDLE.report(ours.idle, peer.idle)?;
    }
    let rows = [&CROSSPLANE, &CROSSPLANE_CPU, &CROSSPLANE_WRITES, &CROSSPLANE_MEMORY];
    if any(&rows) || any(&[&FAMILY, &FAMILY_CPU, &FAMILY_WRITES]) {
        let Some(crossplane) = Crossplane::find("Crossplane's side of the bench")? else { return Ok(()) };
        let theirs = crossplane::theirs(&Server::start(&testbed)?, &crossplane).await?;
        CROSSPLANE.told(theirs.all.wall)?;
        CROSSPLANE_CPU.told(theirs.all.cpu)?;
        CROSSPLANE_WRITES.told(theirs.all.writes)?;
        CROSSPLANE_MEMORY.told(theirs.memory)?;
        FAMILY.told(theirs.family.wall)?;
        FAMILY_CPU.told(theirs.family.cpu)?;
        FAMILY_WRITES.told(theirs.family.writes)?;
    }
    Ok(())
}

fn any(rows: &[&Line]) -> bool {
    rows.iter().any(|row| wanted(row.name))
}

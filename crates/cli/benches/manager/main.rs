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

use std::ffi::OsStr;

use anyhow::Result;
use rolewright_testkit::bench::{Budget, Row, wanted};
use rolewright_testkit::peers::Crossplane;
use rolewright_testkit::testbed;

use self::crossplane::Who;
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

const ALL_WALL: Line =
    line("crossplane: 2,000 XRDs and a family of 70, beside bare writes", "ms", Budget::TimesBetter(0.83));
const ALL_CPU: Line = line("crossplane: 2,000 XRDs and a family of 70, CPU", "ms", Budget::TimesBetter(5.0));
const ALL_WRITES: Line =
    line("crossplane: 2,000 XRDs and a family of 70, writes beyond objects", "writes", Budget::AtMost(0.0));
const ALL_MEMORY: Line = line("crossplane: 2,000 XRDs and a family of 70, memory", "MB", Budget::AtMost(60.0));
const FAMILY: Line = line("crossplane: a member gains a resource, replicated, CPU", "ms", Budget::TimesBetter(5.0));
const SHARED: Line = line("crossplane: a member gains a resource, shared, CPU", "ms", Budget::TimesBetter(50.0));
const CLAIM_WRITES: Line = line("crossplane: one XRD changes, writes", "writes", Budget::AtMost(8.0));
const CLAIM: Line = line("crossplane: one XRD changes, CPU", "ms", Budget::AtMost(100.0));
const NAMESPACES: Line = line("crossplane: 500 namespaces on top, aggregated", "ms", Budget::Told);
const OWN_NAMESPACES: Line = line("crossplane: 500 namespaces on top, materialized", "ms", Budget::Told);
const CROSSPLANE_RESTART: Line = line("crossplane: writes after a restart", "writes", Budget::AtMost(0.0));
const REACH: Line = line("crossplane: new XRD until an editor may use it, aggregated", "ms", Budget::Told);
const OWN_REACH: Line = line("crossplane: new XRD until an editor may use it, materialized", "ms", Budget::Told);
const OFFLINE: Line = line("crossplane: 2,000 XRDs and a family of 70, planned offline", "ms", Budget::AtMost(300.0));
const CROSSPLANE: [&Line; 10] = [
    &ALL_WALL,
    &ALL_CPU,
    &ALL_WRITES,
    &ALL_MEMORY,
    &FAMILY,
    &SHARED,
    &CLAIM_WRITES,
    &CLAIM,
    &NAMESPACES,
    &CROSSPLANE_RESTART,
];

const fn line(name: &'static str, unit: &'static str, budget: Budget) -> Line {
    Line { name, unit, budget }
}

impl Line {
    /// Where the peer does nothing of the kind.
    fn alone(&self, ours: f64) -> Result<()> {
        if wanted(self.name) { Row::new(self.name, self.unit, ours, None, self.budget).report() } else { Ok(()) }
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
    if any(&[&OFFLINE]) {
        OFFLINE.alone(crossplane::offline()?)?;
    }
    let Some(crossplane) = Crossplane::find("Crossplane's side of the bench")? else { return Ok(()) };
    if any(&CROSSPLANE) {
        compare(&testbed, &crossplane).await?;
    }
    if any(&[&OWN_NAMESPACES]) {
        let server = Server::start(&testbed)?;
        let ours = crossplane::figures(&server, &crossplane, Who::Ours(&["--user-roles", "materialized"])).await?;
        OWN_NAMESPACES.alone(ours.namespaces.wall)?;
    }
    for (row, flags) in [(&REACH, &[][..]), (&OWN_REACH, &["--user-roles", "materialized"])] {
        if any(&[row]) {
            row.alone(crossplane::reach(&Server::start(&testbed)?, &crossplane, flags).await?)?;
        }
    }
    Ok(())
}

fn any(rows: &[&Line]) -> bool {
    rows.iter().any(|row| wanted(row.name))
}

/// Crossplane's manager and ours, each on a server of its own.
async fn compare(testbed: &OsStr, crossplane: &Crossplane) -> Result<()> {
    let peer = crossplane::figures(&Server::start(testbed)?, crossplane, Who::Theirs).await?;
    let shared =
        crossplane::figures(&Server::start(testbed)?, crossplane, Who::Ours(&["--family-roles", "shared"])).await?;
    let server = Server::start(testbed)?;
    let ours = crossplane::figures(&server, crossplane, Who::Ours(&[])).await?;
    let bare = crossplane::bare_writes(&server, &Server::start(testbed)?).await?;
    ALL_WALL.report(ours.all.wall, bare)?;
    ALL_CPU.report(ours.all.cpu, peer.all.cpu)?;
    ALL_WRITES.report(ours.all.writes - ours.objects, peer.all.writes - peer.objects)?;
    ALL_MEMORY.report(ours.memory, peer.memory)?;
    FAMILY.report(ours.family.cpu, peer.family.cpu)?;
    SHARED.report(shared.family.cpu, peer.family.cpu)?;
    CLAIM_WRITES.report(ours.claim.writes, peer.claim.writes)?;
    CLAIM.report(ours.claim.cpu, peer.claim.cpu)?;
    NAMESPACES.alone(ours.namespaces.wall)?;
    CROSSPLANE_RESTART.report(ours.restart, peer.restart)
}

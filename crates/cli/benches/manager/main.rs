//! The manager beside Kubernetes' own controller: both as processes, one after the other on the same real API server.
//!
//! A row's time goes from sending a write until the last role that follows from it is written, as a watch sees it. Processor
//! time is that of the manager or of the controller alone, until it has come to rest.

mod aggregated;
mod crossplane;
mod many;
mod program;
mod reach;
mod seen;
mod server;

use std::ffi::OsStr;

use anyhow::Result;
use rolewright_plan::crossplane::UserRoles;
use rolewright_testkit::bench::{Budget, Line, any};
use rolewright_testkit::peers::Crossplane;
use rolewright_testkit::testbed;

use self::crossplane::Who;
use self::server::Server;

const FOLLOW: Line = Line::new("manager: one of 2,000 roles until all follow", "ms", Budget::TimesBetter(100.0));
/// The larger of the two roles that follow is the API server's own time (docs/adr/0010).
const FOLLOW_BARE: Line =
    Line::new("manager: one of 2,000 roles until all follow, beside a bare apply", "ms", Budget::TimesBetter(0.83));
const FOLLOW_CPU: Line =
    Line::new("manager: one of 2,000 roles until all follow, CPU", "ms", Budget::TimesBetter(1_000.0));
const RESTART: Line = Line::new("manager: writes after a restart", "writes", Budget::AtMost(0.0));
const DRIFT: Line = Line::new("manager: drift until repaired", "ms", Budget::AtMost(1_000.0));
const MEMORY: Line = Line::new("manager: memory with 10,000 ClusterRoles", "MB", Budget::AtMost(40.0));
const IDLE: Line = Line::new("manager: idle CPU with 10,000 ClusterRoles", "%", Budget::AtMost(0.1));

const ALL_WALL: Line =
    Line::new("crossplane: 2,000 XRDs and a family of 70, beside bare writes", "ms", Budget::TimesBetter(0.83));
const ALL_CPU: Line = Line::new("crossplane: 2,000 XRDs and a family of 70, CPU", "ms", Budget::TimesBetter(5.0));
const ALL_WRITES: Line =
    Line::new("crossplane: 2,000 XRDs and a family of 70, writes beyond objects", "writes", Budget::AtMost(0.0));
const ALL_MEMORY: Line = Line::new("crossplane: 2,000 XRDs and a family of 70, memory", "MB", Budget::AtMost(60.0));
const FAMILY: Line =
    Line::new("crossplane: a member gains a resource, replicated, CPU", "ms", Budget::TimesBetter(5.0));
const SHARED: Line = Line::new("crossplane: a member gains a resource, shared, CPU", "ms", Budget::TimesBetter(50.0));
const CLAIM_WRITES: Line = Line::new("crossplane: one XRD changes, writes", "writes", Budget::AtMost(8.0));
const CLAIM: Line = Line::new("crossplane: one XRD changes, CPU", "ms", Budget::AtMost(100.0));
const CROSSPLANE_DRIFT: Line =
    Line::new("crossplane: drift until repaired, the slowest of three roles", "ms", Budget::AtMost(1_000.0));
const NAMESPACES: Line = Line::new("crossplane: 500 namespaces on top, aggregated", "ms", Budget::Told);
const OWN_NAMESPACES: Line = Line::new("crossplane: 500 namespaces on top, materialized", "ms", Budget::Told);
const CROSSPLANE_RESTART: Line = Line::new("crossplane: writes after a restart", "writes", Budget::AtMost(0.0));
const OWN_ALL_CPU: Line =
    Line::new("crossplane: 2,000 XRDs and a family of 70, CPU, materialized", "ms", Budget::TimesBetter(5.0));
const OWN_ALL_WRITES: Line = Line::new(
    "crossplane: 2,000 XRDs and a family of 70, writes beyond objects, materialized",
    "writes",
    Budget::AtMost(0.0),
);
const OWN_ALL_MEMORY: Line =
    Line::new("crossplane: 2,000 XRDs and a family of 70, memory, materialized", "MB", Budget::AtMost(60.0));
const OWN_CLAIM_WRITES: Line =
    Line::new("crossplane: one XRD changes, writes, materialized", "writes", Budget::AtMost(8.0));
const OWN_CLAIM: Line = Line::new("crossplane: one XRD changes, CPU, materialized", "ms", Budget::AtMost(100.0));
const OWN_RESTART: Line = Line::new("crossplane: writes after a restart, materialized", "writes", Budget::AtMost(0.0));
const SHARED_RESTART: Line = Line::new("crossplane: writes after a restart, shared", "writes", Budget::AtMost(0.0));
const REACH: Line =
    Line::new("crossplane: new XRD among 100 until an editor may use it, aggregated", "ms", Budget::Told);
const OWN_REACH: Line =
    Line::new("crossplane: new XRD among 100 until an editor may use it, materialized", "ms", Budget::TimesBetter(1.0));
const OWN_REACH_MANY: Line =
    Line::new("crossplane: new XRD among 2,000 until an editor may use it, materialized", "ms", Budget::Told);
const MATERIALIZED: &[&str] = &["--user-roles", "materialized"];
const OFFLINE: Line =
    Line::new("crossplane: all of it and 500 namespaces, planned offline from JSON", "ms", Budget::AtMost(300.0));
const OWN_OFFLINE: Line = Line::new(
    "crossplane: all of it and 500 namespaces, planned offline from JSON, materialized",
    "ms",
    Budget::AtMost(300.0),
);
const AGGREGATED_ROWS: [&Line; 10] = [
    &ALL_WALL,
    &ALL_CPU,
    &ALL_WRITES,
    &ALL_MEMORY,
    &FAMILY,
    &CLAIM_WRITES,
    &CLAIM,
    &NAMESPACES,
    &CROSSPLANE_DRIFT,
    &CROSSPLANE_RESTART,
];
const SHARED_ROWS: [&Line; 2] = [&SHARED, &SHARED_RESTART];
const MATERIALIZED_ROWS: [&Line; 7] =
    [&OWN_ALL_CPU, &OWN_ALL_WRITES, &OWN_ALL_MEMORY, &OWN_CLAIM_WRITES, &OWN_CLAIM, &OWN_NAMESPACES, &OWN_RESTART];

/// One thread: the client must not take from the others what it measures.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let Some(testbed) = testbed::binary("the manager's bench")? else { return Ok(()) };
    if any(&[&FOLLOW, &FOLLOW_BARE, &FOLLOW_CPU, &RESTART, &DRIFT]) {
        let server = Server::start(&testbed)?;
        let (ours, peer, bare) = aggregated::all(&server).await?;
        FOLLOW.report((ours.follow.wall, Some(peer.follow.wall)))?;
        FOLLOW_BARE.report((ours.follow.wall, Some(bare)))?;
        FOLLOW_CPU.report((ours.follow.cpu, Some(peer.follow.cpu)))?;
        RESTART.report((ours.restart, Some(peer.restart)))?;
        DRIFT.report((ours.drift, Some(peer.drift)))?;
    }
    if any(&[&MEMORY, &IDLE]) {
        let server = Server::start(&testbed)?;
        let (ours, peer) = many::both(&server).await?;
        MEMORY.report((ours.memory, Some(peer.memory)))?;
        IDLE.report((ours.idle, Some(peer.idle)))?;
    }
    for (row, user_roles) in [(&OFFLINE, UserRoles::Aggregated), (&OWN_OFFLINE, UserRoles::Materialized)] {
        if row.is_wanted() {
            row.report((crossplane::offline(user_roles)?, None))?;
        }
    }
    let Some(crossplane) = Crossplane::find("Crossplane's side of the bench")? else { return Ok(()) };
    if any(&[&AGGREGATED_ROWS[..], &SHARED_ROWS, &MATERIALIZED_ROWS].concat()) {
        compare(&testbed, &crossplane).await?;
    }
    if any(&[&REACH, &OWN_REACH]) {
        let peer = reach::reach(&Server::start(&testbed)?, &crossplane, Who::Theirs, reach::FEW).await?;
        for (row, flags) in [(&REACH, &[][..]), (&OWN_REACH, MATERIALIZED)] {
            let ours = reach::reach(&Server::start(&testbed)?, &crossplane, Who::Ours(flags), reach::FEW).await?;
            row.report((ours, Some(peer)))?;
        }
    }
    if any(&[&OWN_REACH_MANY]) {
        let server = Server::start(&testbed)?;
        let ours = reach::reach(&server, &crossplane, Who::Ours(MATERIALIZED), crossplane::COUNT).await?;
        OWN_REACH_MANY.report((ours, None))?;
    }
    Ok(())
}

/// Crossplane's manager and ours, each on a server of its own.
async fn compare(testbed: &OsStr, crossplane: &Crossplane) -> Result<()> {
    let peer = crossplane::figures(&Server::start(testbed)?, crossplane, Who::Theirs).await?;
    if any(&SHARED_ROWS) {
        let server = Server::start(testbed)?;
        let ours = crossplane::figures(&server, crossplane, Who::Ours(&["--family-roles", "shared"])).await?;
        SHARED.report((ours.family.cpu, Some(peer.family.cpu)))?;
        SHARED_RESTART.report((ours.restart, None))?;
    }
    if any(&AGGREGATED_ROWS) {
        let server = Server::start(testbed)?;
        let ours = crossplane::figures(&server, crossplane, Who::Ours(&[])).await?;
        let bare = crossplane::bare_writes(&server, &Server::start(testbed)?).await?;
        ALL_WALL.report((ours.all.wall, Some(bare)))?;
        ALL_CPU.report((ours.all.cpu, Some(peer.all.cpu)))?;
        ALL_WRITES.report((ours.all.writes - ours.objects, Some(peer.all.writes - peer.objects)))?;
        ALL_MEMORY.report((ours.memory, Some(peer.memory)))?;
        FAMILY.report((ours.family.cpu, Some(peer.family.cpu)))?;
        CLAIM_WRITES.report((ours.claim.writes, Some(peer.claim.writes)))?;
        CLAIM.report((ours.claim.cpu, Some(peer.claim.cpu)))?;
        NAMESPACES.report((ours.namespaces.wall, None))?;
        CROSSPLANE_DRIFT.report((ours.drift, Some(peer.drift)))?;
        CROSSPLANE_RESTART.report((ours.restart, Some(peer.restart)))?;
    }
    if any(&MATERIALIZED_ROWS) {
        let ours = crossplane::figures(&Server::start(testbed)?, crossplane, Who::Ours(MATERIALIZED)).await?;
        OWN_ALL_CPU.report((ours.all.cpu, Some(peer.all.cpu)))?;
        OWN_ALL_WRITES.report((ours.all.writes - ours.objects, Some(peer.all.writes - peer.objects)))?;
        OWN_ALL_MEMORY.report((ours.memory, Some(peer.memory)))?;
        OWN_CLAIM_WRITES.report((ours.claim.writes, Some(peer.claim.writes)))?;
        OWN_CLAIM.report((ours.claim.cpu, Some(peer.claim.cpu)))?;
        OWN_NAMESPACES.report((ours.namespaces.wall, None))?;
        OWN_RESTART.report((ours.restart, None))?;
    }
    Ok(())
}

//! The embedded server beside the real kube-apiserver: both as processes, asked by the same client over TLS and HTTP/2.
//!
//! The peer has its etcd in the same process and no wait for the disk, except where ours waits for it. Controllers run in it only where the row needs one;
//! ours always run.

mod aggregated;
mod applying;
mod connection;
mod creating;
mod defining;
mod durable;
mod escalating;
mod listing;
mod process;
mod sandbox;
mod watching;

use std::time::Duration;

use anyhow::{Context, Result};
use rolewright_testkit::bench::{Budget, Line, any};

use self::process::Running;

const READY: Line = Line::new("server: start until ready", "ms", Budget::TimesBetter(50.0));
const READY_ALONE: Line = Line::new("server: start until ready, budget", "ms", Budget::AtMost(50.0));
const IDLE: Line = Line::new("server: idle memory", "MB", Budget::AtMost(40.0));
const CREATE: Line = Line::new("server: create a ClusterRole, 8 clients", "us", Budget::TimesBetter(5.0));
const LOADED: Line = Line::new("server: memory with 10,000 ClusterRoles", "MB", Budget::TimesBetter(5.0));
const LIST: Line = Line::new("server: list 10,000 ClusterRoles", "ms", Budget::TimesBetter(3.0));
const ESCALATE: Line = Line::new("server: create a Role, 10,000 others bound", "us", Budget::TimesBetter(50.0));
const WATCH: Line = Line::new("server: watch event, p99 of 10 watchers", "us", Budget::TimesBetter(1.0));
const WATCH_MANY: Line = Line::new("server: watch event, p99 of 1,000 watchers", "us", Budget::Told);
const WATCH_MEMORY: Line = Line::new("server: memory with 1,000 watchers", "MB", Budget::Told);
const FOLLOW: Line = Line::new("server: one of 2,000 roles until all follow", "us", Budget::Told);

const APPLY: Line = Line::new("server: apply a ClusterRole of 200 rules", "us", Budget::TimesBetter(5.0));
const APPLY_CUSTOM: Line = Line::new("server: apply a custom resource of 50 KB", "us", Budget::TimesBetter(5.0));
const DEFINE: Line = Line::new("server: 1,000 definitions until discoverable", "ms", Budget::TimesBetter(10.0));
const DEFINED: Line = Line::new("server: memory with 2,000 definitions", "MB", Budget::TimesBetter(5.0));

const DURABLE: Line = Line::new("server: durable create of a ClusterRole, 8 clients", "us", Budget::TimesBetter(3.0));
const RESTART: Line = Line::new("server: restart with 100,000 objects", "ms", Budget::AtMost(1_000.0));

const UP: Line = Line::new("up: start until the example is ready", "ms", Budget::AtMost(1_000.0));
const UP_MEMORY: Line = Line::new("up: memory with the example", "MB", Budget::AtMost(60.0));

/// One thread: the client must not take from the servers what it measures.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    if any(&[&READY, &READY_ALONE, &IDLE, &CREATE, &LOADED, &LIST, &ESCALATE, &WATCH, &WATCH_MANY, &WATCH_MEMORY]) {
        // The first start finds the program on the disk, the second in memory.
        let first = Running::ours()?.ready_in;
        let pair = Pair { ours: Running::ours()?, peer: Running::peer(&[])? };
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let ready = milliseconds(first.min(pair.ours.ready_in));
        READY.report((ready, pair.peer.as_ref().map(|peer| milliseconds(peer.ready_in))))?;
        READY_ALONE.report((ready, None))?;
        load(&pair).await?;
    }
    if FOLLOW.is_wanted() {
        let pair = Pair { ours: Running::ours()?, peer: Running::peer(&["--controllers"])? };
        FOLLOW.report(pair.each(aggregated::follow).await?)?;
    }
    if any(&[&APPLY, &APPLY_CUSTOM, &DEFINE, &DEFINED]) {
        custom().await?;
    }
    if DURABLE.is_wanted() {
        DURABLE.report(durable::creates().await?)?;
    }
    if RESTART.is_wanted() {
        RESTART.report((durable::restart().await?, None))?;
    }
    if any(&[&UP, &UP_MEMORY]) {
        let (ready, memory) = sandbox::measured().await?;
        UP.report((ready, None))?;
        UP_MEMORY.report((memory, None))?;
    }
    Ok(())
}

/// Applies and definitions, on servers that have nothing else.
async fn custom() -> Result<()> {
    let pair = Pair { ours: Running::ours()?, peer: Running::peer(&[])? };
    if any(&[&APPLY]) {
        APPLY.report(pair.each(applying::cluster_role).await?)?;
    }
    if any(&[&APPLY_CUSTOM]) {
        APPLY_CUSTOM.report(pair.each(applying::custom_resource).await?)?;
    }
    if any(&[&DEFINE, &DEFINED]) {
        DEFINE.report(pair.each(async |server| defining::batch(server, 0).await).await?)?;
    }
    if any(&[&DEFINED]) {
        pair.each(async |server| defining::batch(server, 1).await).await?;
        DEFINED.report(pair.each(Running::memory_at_rest).await?)?;
    }
    Ok(())
}

/// The rows build on each other: what one loads, the next ones need.
async fn load(pair: &Pair) -> Result<()> {
    IDLE.report(pair.each(Running::memory_at_rest).await?)?;
    if !any(&[&CREATE, &LOADED, &LIST, &ESCALATE, &WATCH, &WATCH_MANY, &WATCH_MEMORY]) {
        return Ok(());
    }
    let mut best = (f64::INFINITY, Some(f64::INFINITY));
    for round in 0..creating::ROUNDS {
        let (ours, peer) = pair.each(async |server| creating::cluster_roles(server, round).await).await?;
        best = (best.0.min(ours), best.1.zip(peer).map(|(best, peer)| best.min(peer)));
    }
    CREATE.report(best)?;
    LOADED.report(pair.each(Running::memory_at_rest).await?)?;
    if any(&[&LIST]) {
        LIST.report(pair.each(listing::cluster_roles).await?)?;
    }
    if any(&[&ESCALATE]) {
        ESCALATE.report(pair.each(escalating::role).await?)?;
    }
    if any(&[&WATCH]) {
        let (ours, peer) = pair.each(async |server| watching::latency(server, 10).await).await?;
        WATCH.report((ours.p99, peer.map(|peer| peer.p99)))?;
    }
    if any(&[&WATCH_MANY, &WATCH_MEMORY]) {
        let (ours, peer) = pair.each(async |server| watching::latency(server, 1_000).await).await?;
        WATCH_MANY.report((ours.p99, peer.as_ref().map(|peer| peer.p99)))?;
        WATCH_MEMORY.report((ours.memory, peer.map(|peer| peer.memory)))?;
    }
    Ok(())
}

/// Both servers, if there is a peer here.
struct Pair {
    ours: Running,
    peer: Option<Running>,
}

impl Pair {
    /// Asks one after the other, so that both meet the same neighbours on this machine.
    async fn each<T>(&self, ask: impl AsyncFn(&Running) -> Result<T>) -> Result<(T, Option<T>)> {
        let ours = ask(&self.ours).await.context("our server")?;
        let peer = match &self.peer {
            Some(peer) => Some(ask(peer).await.context("the real server")?),
            None => None,
        };
        Ok((ours, peer))
    }
}

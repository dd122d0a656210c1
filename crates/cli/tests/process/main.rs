//! `rolewright run` as a process, on our server and on the real one: who leads, how it ends, what it says of itself; and
//! `rolewright up`, as a newcomer meets it.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "where which steps were taken")]

mod asking;
mod collector;
mod ending;
mod front;
mod installing;
mod leading;
mod place;
mod platform;
mod process;
mod refused;
mod sandbox;
mod spans;
mod uninstalling;
mod uninstalling_syncs;

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::timeout;

use place::Place;

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn on_our_server() -> Result<()> {
    every_step(&Place::ours().await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_real_server() -> Result<()> {
    let Some(place) = Place::real()? else { return Ok(()) };
    every_step(&place).await
}

async fn every_step(place: &Place) -> Result<()> {
    step(place, "installed by what is printed", installing::one_go(place)).await?;
    step(place, "asked before it writes", asking::on_a_cluster(place)).await?;
    step(place, "beside Crossplane's manager", platform::beside_a_peer(place)).await?;
    step(place, "uninstalled by its own command", uninstalling::away(place)).await?;
    step(place, "roles that come back", uninstalling::coming_back(place)).await?;
    step(place, "uninstalled beside Config Sync", uninstalling_syncs::beside_config_sync(place)).await?;
    step(place, "ready when all was listed", ending::listed(place)).await?;
    step(place, "conflicts", ending::conflicts(place)).await?;
    step(place, "an end in order", ending::in_order(place)).await?;
    step(place, "an end at once", ending::at_once(place)).await?;
    step(place, "a leader is killed, another ends", leading::succession(place)).await?;
    step(place, "spans", spans::sent(place)).await?;
    step(place, "what keeps it from starting", refused::at_start(place)).await?;
    step(place, "what keeps it from working", refused::at_work(place)).await
}

async fn step(place: &Place, name: &str, steps: impl Future<Output = Result<()>>) -> Result<()> {
    let done = timeout(PATIENCE * 2, steps).await.with_context(|| format!("{}: {name} takes too long", place.name))?;
    println!("process, {}: {name}", place.name);
    done.with_context(|| format!("{}: {name}", place.name))
}

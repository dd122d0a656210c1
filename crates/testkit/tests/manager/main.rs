//! The manager on our server and on the real one: a small module of the tests' own, and aggregation.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "where which steps were taken")]

mod aggregating;
mod granting;
mod model;
mod place;
mod rights;

use anyhow::Result;

use place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn on_our_server() -> Result<()> {
    every_step(&place::ours()?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    every_step(&place).await
}

async fn every_step(place: &Place) -> Result<()> {
    place.step("a kind that is served later", granting::served_later(place)).await?;
    place.step("grants", granting::grants(place)).await?;
    place.step("drift", granting::drift(place)).await?;
    place.step("others' labels and objects", granting::others(place)).await?;
    place.step("ownership by uid", granting::uid(place)).await?;
    place.step("what cannot be changed", granting::replaced(place)).await?;
    place.step("what nobody needs", granting::pruned(place)).await?;
    place.step("pause", granting::paused(place)).await?;
    place.step("what cannot be understood", granting::invalid(place)).await?;
    place.step("restart", granting::restart(place)).await?;
    place.step("a labelled role extends others", aggregating::story(place)).await?;
    place.step("rights", rights::exactly_enough(place)).await
}

//! The roles of Config Sync's reconcilers on our server and on the real one: stand-ins for reconcilers act as the accounts
//! that are made for them, whatever happens to their syncs.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod access;
mod definitions;
mod departing;
mod model;
mod place;
mod policy;
mod process;
mod reconciler;
mod repo;
mod rights;
mod scale;
mod story;
mod taking_over;

use anyhow::Result;
use rolewright_testkit::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn on_our_server() -> Result<()> {
    every_step(&place::ours().await?).await
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    every_step(&place).await?;
    // Ours stores policies and does not enforce them.
    place.step("reconcilers do not choose their own roles", policy::policy(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_its_rights_on_our_server() -> Result<()> {
    let place = place::ours().await?;
    place.step("rights", rights::exactly_enough(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_its_rights_on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    place.step("rights", rights::exactly_enough(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn many_on_our_server() -> Result<()> {
    let place = place::ours().await?;
    place.step("500 syncs of 20 roles", scale::many(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn many_on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    place.step("500 syncs of 20 roles", scale::many(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn with_their_definitions_on_our_server() -> Result<()> {
    let place = place::with_theirs(place::bare_ours()?).await?;
    place.step("definitions of others", definitions::theirs(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn with_their_definitions_on_the_real_server() -> Result<()> {
    let Some(place) = place::bare_real().await? else { return Ok(()) };
    let place = place::with_theirs(place).await?;
    place.step("definitions of others", definitions::theirs(&place)).await
}

async fn every_step(place: &Place) -> Result<()> {
    place.step("our definitions", definitions::ours(place)).await?;
    place.step("what a reconciler may do, whatever happens", story::story(place)).await?;
    place.step("what waits, and heals", story::healing(place)).await?;
    place.step("what the server refuses", rights::refused(place)).await?;
    place.step("reconcilers of tenants", repo::repos(place)).await?;
    place.step("how syncs go", departing::departing(place)).await?;
    place.step("after Config Sync's own manager", taking_over::taking_over(place)).await
}

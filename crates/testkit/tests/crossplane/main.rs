//! Crossplane's permissions on our server and on the real one: who may do what, whatever happens.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "where which steps were taken")]

mod drift;
mod guard;
mod helm;
mod leaving;
mod matrix;
mod model;
mod place;
mod platform;
mod requests;
mod rights;
mod story;
mod switches;

use anyhow::Result;
use rolewright_plan::crossplane::{Settings, UserRoles};

use place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn aggregated_on_our_server() -> Result<()> {
    let Some(place) = place::ours().await? else { return Ok(()) };
    every_step(&place, UserRoles::Aggregated).await
}

#[tokio::test(flavor = "multi_thread")]
async fn materialized_on_our_server() -> Result<()> {
    let Some(place) = place::ours().await? else { return Ok(()) };
    every_step(&place, UserRoles::Materialized).await
}

#[tokio::test(flavor = "multi_thread")]
async fn aggregated_on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    every_step(&place, UserRoles::Aggregated).await
}

#[tokio::test(flavor = "multi_thread")]
async fn materialized_on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    every_step(&place, UserRoles::Materialized).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_its_rights_on_our_server() -> Result<()> {
    let Some(place) = place::ours().await? else { return Ok(()) };
    place.step("rights", rights::exactly_enough(&place)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_its_rights_on_the_real_server() -> Result<()> {
    let Some(place) = place::real().await? else { return Ok(()) };
    place.step("rights", rights::exactly_enough(&place)).await
}

async fn every_step(place: &Place, user_roles: UserRoles) -> Result<()> {
    let settings = Settings { user_roles, ..Settings::default() };
    place.step("who may do what, whatever happens", story::story(place, &settings)).await?;
    place.step("restart", switches::restart(place, &settings)).await?;
    place.step("drift", drift::drift(place, &settings)).await?;
    place.step("restart after drift", switches::restart(place, &settings)).await?;
    place.step("who gathers people's roles", switches::user_roles(place, &settings)).await?;
    place.step("how families share", switches::family_roles(place, &settings)).await?;
    place.step("how far providers may go", switches::boundary(place, &settings)).await?;
    place.step("who is of a family", switches::strangers(place, &settings)).await?;
    place.step("who binds a role of a family", switches::binders(place, &settings)).await?;
    place.step("how much is kept", switches::manage(place, &settings)).await?;
    place.step("what Helm owns", helm::left_alone(place, &settings)).await?;
    place.step("the manager goes", leaving::leaving(place, &settings)).await
}

//! Nobody gets a right that they do not hold, whichever verb or patch type they try.
//!
//! - `matrix`: every kind of RBAC object, in every way to write it, by people who hold nothing, a part, exactly enough,
//!   or one of the verbs that lead around the guards. Both servers must give the same answer, and at the end nobody holds
//!   more than at the start.
//! - `detours`: other people's names and tokens.
//! - `walk`: somebody who writes at random for a while; with both guards.
//! - `ceiling`: what the guard `covers` promises.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "what was tried, in numbers")]

mod actors;
mod ceiling;
mod detours;
mod matrix;
mod rights;
mod servers;
mod things;
mod walk;
mod ways;

use anyhow::Result;
use rolewright_server::Guard;

/// Where everything namespaced happens.
const NAMESPACE: &str = "escalation";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_a_right_that_they_do_not_hold() -> Result<()> {
    let Some(both) = servers::Both::start("the escalation suite").await? else { return Ok(()) };
    matrix::every_way_is_guarded(&both).await?;
    detours::nobody_borrows_a_name_or_a_token(&both).await?;
    walk::on_real(&both.real, 5).await
}

#[test]
fn a_random_walk_gains_nothing_under_the_strict_guard() -> Result<()> {
    walk::on_ours(Guard::Strict, 64)
}

#[test]
fn a_random_walk_gains_nothing_under_the_covers_guard() -> Result<()> {
    walk::on_ours(Guard::Covers, 128)
}

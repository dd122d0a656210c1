#![cfg(test)]
//! `rolewright server --data`, killed in the middle of its work again and again.
//!
//! Writers change objects of several kinds, watchers look on, and the process is killed at a random moment. After each
//! restart what is there must be what the clients know: nothing acknowledged or seen is gone, nothing is there by halves,
//! no revision means two things.

mod clients;
mod full;
mod model;
mod process;

use std::rc::Rc;

use anyhow::{Context, Result};
use tokio::task::LocalSet;

use self::model::{Model, Random};
use self::process::{Folder, Running};

/// Together 200 rounds; the halves run at the same time.
const ROUNDS: usize = 100;

#[tokio::test(flavor = "current_thread")]
async fn nothing_acknowledged_is_lost_and_nothing_half_written_is_there() -> Result<()> {
    rounds("crash", &[]).await
}

#[tokio::test(flavor = "current_thread")]
async fn a_kill_loses_nothing_without_fsync_either() -> Result<()> {
    rounds("crash-os", &["--data-sync", "os"]).await
}

async fn rounds(name: &str, arguments: &[&str]) -> Result<()> {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| u64::from(now.subsec_nanos()))
    });
    let mut random = Random::new(seed);
    let folder = Folder::new(name);
    let model = Rc::new(Model::default());
    for round in 0..ROUNDS {
        let act = async {
            let server = Running::start(&folder, arguments)?;
            clients::verify(&server, &model).await.context("after the restart")?;
            let local = LocalSet::new();
            local.run_until(clients::work(&server, &model, &mut random, round)).await?;
            server.kill()?;
            local.run_until(model.come_to_rest()).await?;
            model.check_disk(&folder)
        };
        act.await.with_context(|| format!("round {round} with PROPTEST_RNG_SEED={seed}"))?;
    }
    model.covered(ROUNDS);
    Ok(())
}

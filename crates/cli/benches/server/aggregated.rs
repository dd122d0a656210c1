//! One role changes, and every role that gathers it follows.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hyper::Method;
use rolewright_testkit::bench::gathering::{CHANGED, FOLLOWERS, PATH, changed, has, world};

use crate::connection::Connection;
use crate::creating;
use crate::process::Running;

const CHANGES: u32 = 5;

/// Microseconds from sending a change of one component until it shows in every role that gathers it.
pub(crate) async fn follow(server: &Running) -> Result<f64> {
    let world = world();
    creating::all(server, PATH, world.len(), |i| world.get(i).cloned().unwrap_or_default()).await?;
    let mut admin = server.connect().await?;
    shows(&mut admin, "watch").await?;

    let mut total = Duration::ZERO;
    for change in 0..CHANGES {
        let verb = format!("verb-{change}");
        let began = Instant::now();
        admin.send(Method::PUT, &format!("{PATH}/{CHANGED}"), &changed(&verb)).await?;
        total += began.elapsed();
        total += shows(&mut admin, &verb).await?;
    }
    Ok(total.as_secs_f64() * 1e6 / f64::from(CHANGES))
}

/// Waits until all followers have the verb; none of the time if they had it when first asked.
async fn shows(admin: &mut Connection, verb: &str) -> Result<Duration> {
    let began = Instant::now();
    let mut waited = Duration::ZERO;
    for name in FOLLOWERS {
        while !has(&admin.get(&format!("{PATH}/{name}")).await?, verb) {
            waited = began.elapsed();
            ensure!(waited < Duration::from_mins(10), "`{name}` does not follow");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    Ok(waited)
}

//! Somebody else who writes the same roles: we do not fight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::side::Side;
use super::table::{by, gathers, on, role};
use crate::place::rbac;

/// So many repairs of a role in a minute are enough, and one write came before them.
const MOST: u64 = 11;

fn is_told(side: &Side, name: &str) -> bool {
    side.manager.problems().contains(&("RW0006".to_owned(), name.to_owned()))
}

fn is(role: &Value, rules: &[Value]) -> bool {
    role["rules"].as_array().map_or(&[][..], Vec::as_slice) == rules
}

/// Somebody who writes other rules into a role whenever it has ours wins, for some minutes; nobody else does.
pub(super) async fn stubborn(side: &Side) -> Result<()> {
    let (fought, other) = (gathers("fought", &[], json!([by("fought")])), gathers("other", &[], json!([by("fought")])));
    let before = side.manager.writes();
    for object in [&role("fought-source", &["fought"], &[on("pods")]), &other, &fought] {
        side.place.apply(object).await?;
    }
    for object in [&fought, &other] {
        side.place.until("our rules", object, |role| is(role, &[on("pods")])).await?;
    }
    let rewritten = Arc::new(AtomicU64::new(0));
    let counts = rewritten.clone();
    let peer = async {
        loop {
            let role = side.place.get(&fought).await?.unwrap_or_default();
            if !is(&role, &[on("nodes")]) {
                side.place.merge(&fought, &json!({"rules": [on("nodes")]})).await?;
                counts.fetch_add(1, Ordering::SeqCst);
            }
            sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        ended = peer => ended,
        told = side.until("peace", || is_told(side, "fought")) => told,
    }?;
    let theirs = rewritten.load(Ordering::SeqCst);
    ensure!(theirs <= MOST, "they wrote {theirs} times");
    // Others are mended at once, and what is wanted anew is written.
    side.place.merge(&other, &json!({"rules": []})).await?;
    side.place.until("mended", &other, |role| is(role, &[on("pods")])).await?;
    let ours = side.manager.writes() - before;
    ensure!(ours <= MOST + 2, "we wrote {ours} times");
    ensure!(is(&side.place.get(&fought).await?.unwrap_or_default(), &[on("nodes")]), "it is left to them");
    side.place.apply(&role("fought-source", &["fought"], &[on("secrets")])).await?;
    for object in [&fought, &other] {
        side.place.until("a new wish", object, |role| is(role, &[on("secrets")])).await?;
    }
    side.until("the end of it", || !is_told(side, "fought")).await
}

/// Beside Kubernetes' own controller, over roles in which it keeps what was revoked, and over some that it never leaves
/// alone.
pub(super) async fn kubernetes(side: &Side) -> Result<()> {
    let roles = [
        gathers("peer-1", &["peer-to-2"], json!([by("peer-to-1")])),
        gathers("peer-2", &["peer-to-1"], json!([by("peer-to-2")])),
    ];
    let leaves =
        [role("peer-leaf-1", &["peer-to-1"], &[on("pods")]), role("peer-leaf-2", &["peer-to-2"], &[on("secrets")])];
    for object in roles.iter().chain(&leaves) {
        side.place.apply(object).await?;
    }
    let settled = |side: &Side| {
        let problems = side.manager.problems();
        ["peer-1", "peer-2"].iter().any(|name| problems.contains(&("RW0006".to_owned(), (*name).to_owned())))
    };
    for leaf in &leaves {
        side.place.delete(leaf).await?;
    }
    // Either Kubernetes' controller happens to follow, or we give in.
    loop {
        let mut empty = true;
        for object in &roles {
            empty &= is(&side.place.get(object).await?.unwrap_or_default(), &[]);
        }
        if empty || settled(side) {
            break;
        }
        sleep(Duration::from_millis(5)).await;
    }
    println!("  beside Kubernetes: {} writes, {:?}", side.manager.writes(), side.manager.problems());
    // Six wishes of two roles, and as many repairs as each of them gets.
    let ours = side.manager.writes();
    ensure!(ours <= 2 * (MOST + 6), "we wrote {ours} times");
    for object in &roles {
        side.place.delete(&rbac("ClusterRole", object["metadata"]["name"].as_str().unwrap_or_default())).await?;
    }
    Ok(())
}

//! Somebody else who writes the same roles: we do not fight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::roles::{by, gathers, on, role};
use super::side::Side;
use crate::place::rbac;

/// So many repairs of a role in a minute are enough.
const REPAIRS: u64 = 10;

fn is_told(side: &Side, name: &str) -> bool {
    side.manager.problems().contains(&("RW0006".to_owned(), name.to_owned()))
}

fn is(role: &Value, rules: &[Value]) -> bool {
    role["rules"].as_array().map_or(&[][..], Vec::as_slice) == rules
}

/// Somebody who writes other rules into a role whenever it has ours wins, for some minutes; nobody else does.
pub(super) async fn stubborn(side: &Side) -> Result<()> {
    let (fought, other) = (gathers("fought", &[], [by("fought")]), gathers("other", &[], [by("fought")]));
    let before = side.writes();
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
    let said = side.manager.said("fought");
    ensure!(said.iter().any(|said| said.starts_with("`tests` changes it back")), "who it is: {said:?}");
    let theirs = rewritten.load(Ordering::SeqCst);
    ensure!(theirs <= REPAIRS + 1, "they wrote {theirs} times");
    // Others are mended at once, and what is wanted anew is written.
    side.place.merge(&other, &json!({"rules": []})).await?;
    side.place.until("mended", &other, |role| is(role, &[on("pods")])).await?;
    let ours = side.writes() - before;
    ensure!(ours <= REPAIRS + 3, "we wrote {ours} times");
    ensure!(is(&side.place.get(&fought).await?.unwrap_or_default(), &[on("nodes")]), "it is left to them");
    side.place.apply(&role("fought-source", &["fought"], &[on("secrets")])).await?;
    for object in [&fought, &other] {
        side.place.until("a new wish", object, |role| is(role, &[on("secrets")])).await?;
    }
    side.until("the end of it", || !is_told(side, "fought")).await
}

/// Beside Kubernetes' own controller, over circles: one in which it keeps what was revoked, and one with two leaves, whose
/// rules it may never leave alone.
pub(super) async fn kubernetes(side: &Side) -> Result<()> {
    for (name, leaves) in [("one", 1), ("two", 2)] {
        let before = side.writes();
        let names = [1, 2].map(|place| format!("peer-{name}-{place}"));
        let to = [1, 2].map(|place| format!("to-{name}-{place}"));
        let [first, second] = &names;
        let [to_first, to_second] = &to;
        side.place.apply(&gathers(first, &[to_second], [by(to_first)])).await?;
        side.place.apply(&gathers(second, &[to_first], [by(to_second)])).await?;
        let leaves: Vec<Value> = to
            .iter()
            .take(leaves)
            .map(|label| role(&format!("peer-{name}-leaf-{label}"), &[label], &[on(label)]))
            .collect();
        for leaf in &leaves {
            side.place.apply(leaf).await?;
        }
        rest(side, &names).await?;
        for leaf in &leaves {
            side.place.delete(leaf).await?;
        }
        rest(side, &names).await?;
        let ours = side.writes() - before;
        println!("  circle with {name}: {ours} writes, {:?}", side.manager.problems());
        // Each of two roles has a wish per leaf that comes and goes, and as many repairs as it gets. Half as many again may
        // have met somebody else's write and been refused.
        ensure!(ours <= 3 * (4 + REPAIRS), "we wrote {ours} times");
        for role in &names {
            side.place.delete(&rbac("ClusterRole", role)).await?;
        }
    }
    Ok(())
}

/// Waits until nobody writes these roles any more, or we leave one of them alone.
async fn rest(side: &Side, roles: &[String]) -> Result<()> {
    let versions = || async {
        let mut versions = Vec::new();
        for name in roles {
            let role = side.place.get(&rbac("ClusterRole", name)).await?.unwrap_or_default();
            versions.push(role["metadata"]["resourceVersion"].clone());
        }
        anyhow::Ok(versions)
    };
    loop {
        let before = versions().await?;
        side.fence().await?;
        if versions().await? == before || roles.iter().any(|name| is_told(side, name)) {
            return Ok(());
        }
    }
}

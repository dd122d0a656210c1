//! Many syncs of many roles: work follows what changes.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use rolewright_plan::sync::{RoleRefs, Settings};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::{PATIENCE, Place};
use serde_json::json;

use crate::place::{manage, role_ref, root, until};

const SYNCS: usize = 500;
const ROLES: usize = 20;

pub(crate) async fn many(place: &Place) -> Result<()> {
    for role in 0..=ROLES {
        place.apply(&with(rbac("ClusterRole", &format!("role-{role}")), json!({"rules": []}))).await?;
    }
    let refs: Vec<String> = (0..ROLES).map(|role| format!("ClusterRole/role-{role}@shop")).collect();
    let refs: Vec<&str> = refs.iter().map(String::as_str).collect();
    let syncs = (0..SYNCS).map(|sync| root(&format!("sync-{sync}"), &refs));
    let created = stream::iter(syncs).map(|sync| async move { place.apply(&sync).await });
    created.buffer_unordered(8).try_for_each(|_| async { Ok(()) }).await?;
    let start = Instant::now();
    let manager = manage(place)?;
    // So many writes take longer than anything else does.
    while manager.rest().await.is_err() {
        ensure!(start.elapsed() < PATIENCE * 4, "the manager finds no rest");
    }
    for sync in [0, SYNCS / 2, SYNCS - 1] {
        until(place, &root(&format!("sync-{sync}"), &[]), "Bound").await?;
    }
    let bindings = place.list(&rbac("RoleBinding", "shop/x"), "configsync.gke.io/sync-kind=RootSync").await?;
    ensure!(bindings.len() == SYNCS * ROLES, "{} bindings", bindings.len());
    // An account, what every reconciler has, a finalizer and a condition: nothing is written twice.
    let writes = manager.requests.counts().writes;
    let expected = u64::try_from(SYNCS * (ROLES + 6) + 1)?;
    ensure!(writes == expected, "{writes} writes, and not {expected}");
    let mut changed = root("sync-7", &refs);
    let written = changed.pointer_mut("/spec/override/roleRefs/3").context("an entry")?;
    *written = role_ref(&format!("ClusterRole/role-{ROLES}@shop"));
    let before = manager.requests.counts().writes;
    place.apply(&changed).await?;
    until(place, &changed, "Bound").await?;
    manager.rest().await?;
    // Two of RBAC, and the condition.
    let more = manager.requests.counts().writes - before;
    ensure!(more == 3, "{more} writes for one entry");
    manager.end().await?;
    let again = place.manage_once(vec![Box::new(RoleRefs::new(Settings::default()))]).await?;
    ensure!(again == 0, "a restart wrote {again} times");
    Ok(())
}

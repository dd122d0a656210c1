//! Random lives of syncs, with faults between the manager and the server: they end as if nothing had gone wrong.
//!
//! Syncs come, change their minds and go, namespaces appear, others break what the manager made, and the manager is killed at
//! any write. In the end the faults stop; what is there then must be what a manager makes of the same syncs that never saw a
//! fault, and a manager that starts afterwards has nothing to write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::Module;
use rolewright_plan::sync::RoleRefs;
use rolewright_testkit::fault::{Fault, FaultLayer, Plan};
use rolewright_testkit::manifest::{rbac, with};
use rolewright_testkit::place::{PATIENCE, Place, is_idle};
use rolewright_testkit::random::{Random, seed};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::place::{self, HOME, account, namespace, root};

/// How many lives are lived in one run, and how many at the same time.
const LIVES: u64 = 60;
const AT_ONCE: usize = 12;
/// On the real server, each on what the last one left.
const REAL: u64 = 5;
const EVENTS: u64 = 30;
const NAMES: [&str; 3] = ["root-sync", "a", "a-b"];
const POOL: [&str; 6] = [
    "ClusterRole/reader",
    "ClusterRole/writer@shop",
    "Role/ci@shop",
    "Role/ci@bank",
    "ClusterRole/reader@later",
    "ClusterRole/none",
];

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace() -> Result<()> {
    let seed = seed();
    let mut faults = BTreeMap::new();
    let lives = (0..LIVES).map(|life| async move {
        let seed = seed.wrapping_mul(1000) + life;
        let life = async move {
            let users = place::ours().await?;
            let faults = live(&users, seed).await?;
            users.end();
            anyhow::Ok(faults)
        };
        tokio::spawn(life).await?.with_context(|| format!("life {seed}"))
    });
    // Most of a life is waiting for the next try.
    let mut lives = futures::stream::iter(lives).buffer_unordered(AT_ONCE);
    while let Some(life) = lives.next().await {
        for (fault, count) in life? {
            *faults.entry(fault).or_insert(0) += count;
        }
    }
    ensure!(faults.len() == 10, "faults of every kind must have happened: {faults:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace_on_the_real_server() -> Result<()> {
    let Some(users) = place::real().await? else { return Ok(()) };
    let seed = seed();
    for seed in (0..REAL).map(|life| seed.wrapping_mul(1000) + life) {
        live(&users, seed).await.with_context(|| format!("life {seed} on the real server"))?;
    }
    Ok(())
}

fn modules() -> Vec<Box<dyn Module>> {
    vec![Box::new(RoleRefs::default())]
}

/// One life; returns the faults that happened, by name.
async fn live(users: &Place, seed: u64) -> Result<BTreeMap<Fault, u64>> {
    let mut dice = Random::new(seed);
    let rough = Plan { stall: Duration::from_millis(100), ..Plan::rough() };
    let (at_write, done) = (1 + dice.next() % 30, dice.one_in(2));
    let plans = [if dice.one_in(2) { rough.clone().killing(at_write, done) } else { rough.clone() }, rough];
    let faults = plans.map(|plan| FaultLayer::new(dice.next(), plan));
    let (ended, idle) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let manager = tokio::spawn(survive(users.clone(), faults.clone(), ended.clone(), idle.clone()));
    for _ in 0..EVENTS {
        // Whether it works is their business: what they break may not be there.
        let _ = act(users, &mut dice).await;
        if dice.one_in(3) {
            sleep(Duration::from_millis(dice.next() % 8)).await;
        }
    }
    faults.iter().for_each(FaultLayer::quiet);
    let expected = expected(users).await?;
    let start = Instant::now();
    loop {
        let found = state(users).await?;
        if found == expected && idle.load(Ordering::Relaxed) {
            break;
        }
        let (more, less): (Vec<_>, Vec<_>) =
            (found.difference(&expected).collect(), expected.difference(&found).collect());
        ensure!(start.elapsed() < PATIENCE, "too much: {more:#?}\ntoo little: {less:#?}");
        sleep(Duration::from_millis(10)).await;
    }
    ended.notify_one();
    timeout(PATIENCE, manager).await.context("the manager does not end")???;
    let writes = users.manage_once(modules()).await?;
    ensure!(writes == 0, "the last manager wrote {writes} times");
    let mut all = BTreeMap::new();
    for (fault, count) in faults.iter().flat_map(|faults| faults.counts().faults) {
        *all.entry(fault).or_insert(0) += count;
    }
    Ok(all)
}

/// Runs a manager, and another one when it is killed.
async fn survive(place: Place, faults: [FaultLayer; 2], ended: Arc<Notify>, idle: Arc<AtomicBool>) -> Result<()> {
    let often =
        Settings { resync: Duration::from_secs(5), discovery: Duration::from_millis(10), ..Settings::default() };
    for faults in &faults {
        let manager = Manager::new(place.client_through(faults)?, modules(), Leading::alone(), often.clone());
        tokio::select! {
            done = manager.run(ended.notified(), |engine, _| idle.store(is_idle(engine), Ordering::Relaxed)) => {
                return Ok(done?);
            }
            // Dropped wherever it stands.
            () = faults.killed() => {}
        }
    }
    Ok(())
}

/// Something that a user, or somebody who should not, does.
async fn act(users: &Place, dice: &mut Random) -> Result<()> {
    let name = *dice.of(&NAMES);
    let refs: Vec<&str> = POOL.into_iter().filter(|_| dice.one_in(2)).collect();
    let sync = root(name, &refs);
    match dice.below(12) {
        0..5 => drop(users.apply(&sync).await?),
        5 => users.delete(&sync).await?,
        6 => {
            let said = if dice.one_in(2) { json!("none") } else { Value::Null };
            users.merge(&sync, &json!({"metadata": {"annotations": {"rolewright.io/root-role": said}}})).await?;
        }
        7 => drop(users.apply(&namespace("later")).await?),
        8 => users.delete(&account(&format!("root-reconciler-{name}"))).await?,
        wound => {
            let kind = *dice.of(&["ClusterRoleBinding", "RoleBinding", "Role"]);
            let made = users.list(&rbac(kind, "x"), "configsync.gke.io/sync-kind=RootSync").await?;
            if made.is_empty() {
                return Ok(());
            }
            let object = dice.of(&made);
            let stripped = json!({"metadata": {"labels": {"configsync.gke.io/sync-name": null, "theirs": "yes"}}});
            match wound {
                9 => users.delete(object).await?,
                10 => drop(users.merge(object, &stripped).await?),
                _ if kind == "Role" => drop(users.merge(object, &json!({"rules": []})).await?),
                _ => drop(users.merge(object, &json!({"subjects": []})).await?),
            }
        }
    }
    Ok(())
}

/// What a manager that saw no fault makes of the syncs that are there now.
async fn expected(users: &Place) -> Result<BTreeSet<String>> {
    let clean = place::ours().await?;
    if users.get(&namespace("later")).await?.is_some() {
        clean.apply(&namespace("later")).await?;
    }
    for sync in users.list(&root("x", &[]), "").await? {
        if sync["metadata"]["deletionTimestamp"].is_null() {
            let metadata = json!({"name": sync["metadata"]["name"], "namespace": HOME,
                "annotations": sync["metadata"]["annotations"]});
            let again = json!({"apiVersion": sync["apiVersion"], "kind": sync["kind"], "metadata": metadata});
            clean.apply(&with(again, json!({"spec": sync["spec"]}))).await?;
        }
    }
    clean.manage_once(modules()).await?;
    let state = state(&clean).await?;
    clean.end();
    Ok(state)
}

/// Everything of ours, each object in one line, without what differs from one server to the next.
async fn state(place: &Place) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let kinds = ["ClusterRoleBinding", "RoleBinding", "Role", "ClusterRole"].map(|kind| rbac(kind, "x"));
    for kind in kinds.into_iter().chain([account("x")]) {
        for object in place.list(&with(kind, json!({"metadata": {"namespace": null}})), "").await? {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            if name.starts_with("root-reconciler") || name.starts_with("rolewright:") {
                let mut labels = object["metadata"]["labels"].clone();
                // What others say stays.
                if let Some(labels) = labels.as_object_mut() {
                    labels.remove("theirs");
                }
                let said = [&object["roleRef"], &object["subjects"], &object["rules"]];
                all.insert(format!("{} {}/{name} {labels} {said:?}", object["kind"], object["metadata"]["namespace"]));
            }
        }
    }
    for sync in place.list(&root("x", &[]), "").await? {
        all.insert(format!("{} {} {}", sync["metadata"]["name"], place::reason(&sync), sync["metadata"]["finalizers"]));
    }
    Ok(all)
}

//! Random lives of a cluster, with faults between the manager and the server: they end as if nothing had gone wrong.
//!
//! Users create, change, pause and delete grants and roles, others break what the manager made, the manager is killed at
//! any write and started again. In the end the faults stop; what is there then must be what a manager makes of the same
//! wishes that never saw a fault, and a manager that starts afterwards has nothing to write.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_testkit::fault::{Fault, FaultLayer, Plan};
use rolewright_testkit::grants;
use rolewright_testkit::manifest::is_established;
use rolewright_testkit::random::{Random, seed};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::place::{self, PATIENCE, Place, is_idle, manage, modules, rbac, with};

/// How many lives are lived in one run.
const LIVES: u64 = 300;
/// How many at the same time.
const AT_ONCE: usize = 16;
const STEPS: u64 = 14;
const NAMES: [&str; 3] = ["a", "b", "c"];
/// On the real server, one after the other: at least and at most so many, and within these no longer than this.
const REAL: (u64, u64, Duration) = (5, LIVES / 10, Duration::from_secs(30));

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace() -> Result<()> {
    let seed = seed();
    let mut faults = BTreeMap::new();
    let lives = (0..LIVES).map(|life| async move {
        let seed = seed.wrapping_mul(1000) + life;
        let life = async move {
            let users = place::ours()?;
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
    println!("manager, faults of {LIVES} lives: {faults:?}");
    ensure!(faults.len() == 10, "faults of every kind must have happened: {faults:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace_on_the_real_server() -> Result<()> {
    let Some(users) = place::real().await? else { return Ok(()) };
    let (least, most, longest) = REAL;
    let (start, seed) = (Instant::now(), seed());
    let mut lived = 0;
    while lived < least || (lived < most && start.elapsed() < longest) {
        let seed = seed.wrapping_mul(1000) + lived;
        live(&users, seed).await.with_context(|| format!("life {seed} on the real server"))?;
        tidy_up(&users).await?;
        lived += 1;
    }
    println!("manager, {lived} lives on the real server in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Takes away what a life leaves, for the next one to begin anew.
async fn tidy_up(users: &Place) -> Result<()> {
    let wishes = NAMES.iter().map(|name| grants::grant(name, &json!({})));
    for object in wishes.chain(inputs()).chain(made()) {
        // The garbage collector may be faster.
        let _ = users.delete(&object).await;
        users.until_gone(&object).await?;
    }
    Ok(())
}

/// One life; returns the faults that happened, by name.
async fn live(users: &Place, seed: u64) -> Result<BTreeMap<Fault, u64>> {
    let mut dice = Random::new(seed);
    users.apply(&grants::definition()).await?;
    users.until("the kind", &grants::definition(), is_established).await?;
    let rough = Plan { stall: Duration::from_millis(100), ..Plan::rough() };
    let (at_write, done) = (1 + dice.next() % 12, dice.one_in(2));
    let plans = [if dice.one_in(2) { rough.clone().killing(at_write, done) } else { rough.clone() }, rough];
    let faults = plans.map(|plan| FaultLayer::new(dice.next(), plan));
    let ended = Arc::new(Notify::new());
    let idle = Arc::new(AtomicBool::new(false));
    let manager = tokio::spawn(survive(users.clone(), faults.clone(), ended.clone(), idle.clone()));
    for _ in 0..STEPS {
        // Whether it works is their business: what they broke may not be there.
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
        if holds(&expected, &found) && idle.load(Ordering::Relaxed) {
            break;
        }
        ensure!(start.elapsed() < PATIENCE, "it does not converge\nexpected: {expected:#}\nfound: {found:#}");
        sleep(Duration::from_millis(5)).await;
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

fn settings() -> Settings {
    Settings { resync: Duration::from_secs(5), discovery: Duration::from_millis(10), ..Settings::default() }
}

/// Runs a manager, and another one when it is killed.
async fn survive(place: Place, faults: [FaultLayer; 2], ended: Arc<Notify>, idle: Arc<AtomicBool>) -> Result<()> {
    for faults in &faults {
        let client = place.client_through(faults)?;
        let manager = Manager::new(client, modules(), Leading::alone(), settings());
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
    let verbs = [vec!["get"], vec!["get", "list"], vec!["list", "watch"], vec!["*"]];
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": dice.of(&verbs)}]);
    let subjects: Vec<Value> = ["ann", "bob", "eve"]
        .iter()
        .filter(|_| dice.one_in(2))
        .map(|name| json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}))
        .collect();
    let grant = grants::grant(name, &json!({"rules": rules, "subjects": subjects}));
    let role = rbac("ClusterRole", &format!("grant-{name}"));
    let binding = rbac("ClusterRoleBinding", &format!("grant-{name}"));
    match dice.below(12) {
        0..4 => drop(users.apply(&grant).await?),
        4 => users.delete(&grant).await?,
        5 => users.delete(&role).await?,
        6 => users.delete(&binding).await?,
        7 => drop(users.merge(&role, &json!({"rules": rules, "metadata": {"labels": {"theirs": "yes"}}})).await?),
        8 => {
            let paused = if dice.one_in(2) { json!("true") } else { Value::Null };
            users.merge(&grant, &json!({"metadata": {"annotations": {"rolewright.io/paused": paused}}})).await?;
        }
        9 => {
            let selector = json!({"matchLabels": {"agg": "true"}});
            let gathering = rbac("ClusterRole", "gathering");
            let rule = json!({"aggregationRule": {"clusterRoleSelectors": [selector]}});
            users.apply(&with(gathering, rule)).await?;
        }
        10 => {
            let leaf = rbac("ClusterRole", &format!("leaf-{name}"));
            users.apply(&with(leaf, json!({"metadata": {"labels": {"agg": "true"}}, "rules": rules}))).await?;
        }
        _ => users.delete(&rbac("ClusterRole", &format!("leaf-{name}"))).await?,
    }
    Ok(())
}

/// What a manager that saw no fault makes of the wishes that are there now. Of what is paused anything may be there: a
/// write may have been under way.
async fn expected(users: &Place) -> Result<Value> {
    let clean = place::ours()?;
    clean.apply(&grants::definition()).await?;
    let mut paused = Vec::new();
    for name in NAMES {
        let Some(grant) = users.get(&grants::grant(name, &json!({}))).await? else { continue };
        if grant["metadata"]["annotations"]["rolewright.io/paused"] == "true" {
            paused.push(name);
            continue;
        }
        while clean.apply(&grants::grant(name, &grant["spec"])).await.is_err() {
            sleep(Duration::from_millis(5)).await;
        }
    }
    for object in inputs() {
        if let Some(found) = users.get(&object).await? {
            let mut copy = with(object, json!({"metadata": {"labels": found["metadata"]["labels"]}}));
            for field in ["rules", "aggregationRule"] {
                if found.get("aggregationRule").is_none() || field == "aggregationRule" {
                    copy = with(copy, json!({field: found[field]}));
                }
            }
            clean.apply(&copy).await?;
        }
    }
    let manager = manage(&clean)?;
    settle(&clean).await?;
    manager.end().await?;
    let made = state(&clean).await?;
    clean.end();
    let paused = |key: &str| paused.iter().any(|name| key.ends_with(&format!(" grant-{name}")));
    let made = made.as_object().context("a state is an object")?.iter().filter(|(key, _)| !paused(key));
    Ok(made.map(|(key, value)| (key.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into())
}

/// Whether everything that is expected is so.
fn holds(expected: &Value, found: &Value) -> bool {
    expected.as_object().is_some_and(|all| all.iter().all(|(key, value)| found[key] == *value))
}

/// Waits until nothing happens any more.
async fn settle(place: &Place) -> Result<()> {
    let start = Instant::now();
    let (mut before, mut still) = (state(place).await?, 0);
    while still < 12 {
        sleep(Duration::from_millis(10)).await;
        let now = state(place).await?;
        still = if now == before { still + 1 } else { 0 };
        before = now;
        ensure!(start.elapsed() < PATIENCE, "it does not come to rest");
    }
    Ok(())
}

/// What users make that is no grant.
fn inputs() -> Vec<Value> {
    let leaves = NAMES.iter().map(|name| rbac("ClusterRole", &format!("leaf-{name}")));
    leaves.chain([rbac("ClusterRole", "gathering")]).collect()
}

/// What managers make of grants.
fn made() -> impl Iterator<Item = Value> {
    NAMES.iter().flat_map(|name| ["ClusterRole", "ClusterRoleBinding"].map(|kind| rbac(kind, &format!("grant-{name}"))))
}

/// What is granted: rules and subjects of everything that is kept.
async fn state(place: &Place) -> Result<Value> {
    let mut state = json!({});
    for object in made().chain(inputs()) {
        let key = format!("{} {}", object["kind"], object["metadata"]["name"]).replace('"', "");
        let found = place.get(&object).await?.map(|found| {
            json!({"rules": found["rules"], "subjects": found["subjects"], "roleRef": found["roleRef"]["name"]})
        });
        state[key] = found.unwrap_or_default();
    }
    Ok(state)
}

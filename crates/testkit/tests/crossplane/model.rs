//! Random lives of a platform, with faults between the managers and the server: they end as if nothing had gone wrong.
//!
//! Definitions, revisions, what these bring and where they run, and namespaces come, change and go; others break what the
//! managers made; of two managers one leads, then the other, and either is killed at any write and started again. In the
//! end the faults stop; what is there then must be what a manager makes of the same platform that never saw a fault, and a
//! manager that starts afterwards has nothing to write.

mod life;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use rolewright_controller::{Leading, Manager, Settings};
use rolewright_plan::Module;
use rolewright_plan::crossplane::{self, FamilyRoles, UserRoles};
use rolewright_testkit::fault::{Fault, FaultLayer, Plan};
use rolewright_testkit::random::{Random, seed};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::place::{self, PATIENCE, Place, SUITE, is_idle};

/// How many lives are lived in one run.
const LIVES: u64 = 12;
/// How many at the same time.
const AT_ONCE: usize = 8;
/// On the real server, each on a new one.
const REAL: u64 = 2;
const EVENTS: u64 = 50;
/// So many of these work at least; some are about what is not there.
const WORKED: u64 = EVENTS / 2;
/// So many kinds of faults happen in the lives on the real server at least.
const FEWEST: usize = 5;
/// What must have happened in every run; of all ten kinds of faults at least nine.
const FAULTS: [Fault; 7] =
    [Fault::Conflict, Fault::Gone, Fault::Busy, Fault::Broken, Fault::Cut, Fault::Doubled, Fault::Killed];

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace() -> Result<()> {
    let seed = seed();
    let start = Instant::now();
    let mut faults = BTreeMap::new();
    let lives = (0..LIVES).map(|life| async move {
        let (seed, settings) = (seed.wrapping_mul(1000) + life, modes(life));
        let life = async move {
            let users = Place::embedded(SUITE, rolewright_server::Settings::default())?;
            let faults = live(&users, seed, settings).await?;
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
    println!("crossplane, faults of {LIVES} lives in {:.1} s: {faults:?}", start.elapsed().as_secs_f64());
    let missing: Vec<_> = FAULTS.iter().filter(|fault| !faults.contains_key(fault)).collect();
    ensure!(missing.is_empty() && faults.len() >= 9, "faults of every kind must have happened, not {faults:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_leave_no_trace_on_the_real_server() -> Result<()> {
    let (start, seed) = (Instant::now(), seed());
    let mut faults = BTreeMap::new();
    for life in 0..REAL {
        let Some(users) = place::bare().await? else { return Ok(()) };
        let seed = seed.wrapping_mul(1000) + life;
        faults
            .extend(live(&users, seed, modes(life)).await.with_context(|| format!("life {seed} on the real server"))?);
    }
    println!("crossplane, {REAL} lives on the real server in {:.1} s: {faults:?}", start.elapsed().as_secs_f64());
    ensure!(faults.len() >= FEWEST, "too little went wrong: {faults:?}");
    Ok(())
}

/// How the managers of a life work: two lives have seen each mode, four all of their pairs.
fn modes(life: u64) -> crossplane::Settings {
    crossplane::Settings {
        user_roles: if life.is_multiple_of(2) { UserRoles::Aggregated } else { UserRoles::Materialized },
        family_roles: if life.div_ceil(2).is_multiple_of(2) { FamilyRoles::Replicated } else { FamilyRoles::Shared },
        ..crossplane::Settings::default()
    }
}

/// One life; returns the faults that happened, by name.
async fn live(users: &Place, seed: u64, settings: crossplane::Settings) -> Result<BTreeMap<Fault, u64>> {
    let mut dice = Random::new(seed);
    world::begin(users).await?;
    let rough = Plan { stall: Duration::from_millis(100), ..Plan::rough() };
    let faults: Vec<FaultLayer> = (0..4)
        .map(|_| {
            let (at_write, done) = (1 + dice.next() % 40, dice.one_in(2));
            let plan = if dice.one_in(2) { rough.clone().killing(at_write, done) } else { rough.clone() };
            FaultLayer::new(dice.next(), plan)
        })
        .chain((0..2).map(|index| FaultLayer::new(index, rough.clone())))
        .collect();
    let throne = Throne::new(users.clone(), settings.clone());
    let managers: Vec<_> = (0..2)
        .map(|index| {
            let mine = faults.iter().skip(index).step_by(2).cloned().collect();
            tokio::spawn(throne.clone().survive(index, mine))
        })
        .collect();
    let mut worked = 0;
    for _ in 0..EVENTS {
        // Whether it works is their business: what they break may not be there.
        worked += u64::from(life::act(users, &mut dice).await.is_ok());
        if dice.one_in(10) {
            throne.change();
        }
        if dice.one_in(3) {
            sleep(Duration::from_millis(dice.next() % 8)).await;
        }
    }
    ensure!(worked >= WORKED, "only {worked} of {EVENTS} events happened");
    world::settle(users).await?;
    let expected = world::expected(users, &settings).await?;
    faults.iter().for_each(FaultLayer::quiet);
    let begin = Instant::now();
    loop {
        let found = world::state(users).await?;
        if found == expected && throne.idle[throne.leader.load(Ordering::SeqCst)].load(Ordering::SeqCst) {
            break;
        }
        ensure!(begin.elapsed() < PATIENCE, "{settings:?}: {}", world::difference(&expected, &found));
        sleep(Duration::from_millis(30)).await;
    }
    throne.end.send_replace(true);
    for manager in managers {
        timeout(PATIENCE, manager).await.context("a manager does not end")???;
    }
    let writes = users.manage_once(modules(&settings)).await?;
    ensure!(writes == 0, "the last manager wrote {writes} times");
    let mut all = BTreeMap::new();
    for (fault, count) in faults.iter().flat_map(|faults| faults.counts().faults) {
        *all.entry(fault).or_insert(0) += count;
    }
    Ok(all)
}

/// Two managers, one of which leads.
#[derive(Clone)]
struct Throne {
    place: Place,
    settings: crossplane::Settings,
    leader: Arc<AtomicUsize>,
    changes: Arc<watch::Sender<bool>>,
    end: Arc<watch::Sender<bool>>,
    idle: [Arc<AtomicBool>; 2],
}

impl Throne {
    fn new(place: Place, settings: crossplane::Settings) -> Self {
        let (changes, end) = (Arc::new(watch::Sender::new(true)), Arc::new(watch::Sender::new(false)));
        Self { place, settings, leader: Arc::default(), changes, end, idle: <[Arc<AtomicBool>; 2]>::default() }
    }

    fn change(&self) {
        self.leader.fetch_xor(1, Ordering::SeqCst);
        self.changes.send_replace(true);
    }

    /// Runs a manager, and another one when it is killed.
    async fn survive(self, index: usize, lives: Vec<FaultLayer>) -> Result<()> {
        for faults in &lives {
            let client = self.place.client_through(faults)?;
            let leader = self.leader.clone();
            let leads = move || leader.load(Ordering::SeqCst) == index;
            let leading = Leading::new(leads, self.changes.subscribe());
            let manager = Manager::new(client, modules(&self.settings), leading, settings());
            let mut end = self.end.subscribe();
            let ended = async {
                let _ = end.wait_for(|end| *end).await;
            };
            let idle = &self.idle[index];
            tokio::select! {
                done = manager.run(ended, |engine, _| idle.store(is_idle(engine), Ordering::SeqCst)) => {
                    return Ok(done?);
                }
                // Dropped wherever it stands.
                () = faults.killed() => {}
            }
        }
        Ok(())
    }
}

fn modules(settings: &crossplane::Settings) -> Vec<Box<dyn Module>> {
    vec![Box::new(crossplane::Crossplane::new(settings.clone()))]
}

fn settings() -> Settings {
    Settings { resync: Duration::from_secs(5), discovery: Duration::from_millis(10), ..Settings::default() }
}

mod fights;
mod gathering;
mod standby;

use rolewright_core::Rule;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::intent::{Claim, Content, Intent, Shape, Wanted};
use crate::kind::{Kind, Reports};
use crate::module::Turn;
use crate::object::{Condition, Live, Status};
use crate::op::{Op, Write};
use crate::rbac::{CLUSTER_ROLE, RoleBody};
use crate::simulation::Simulation;
use crate::vocabulary::annotation;

/// Something that wants a role to have certain rules.
#[derive(Deserialize, PartialEq)]
struct Wish {
    verbs: Vec<crate::Name>,
    #[serde(default)]
    wakes: u64,
}

static WISH: Kind = Kind::cluster::<Wish>("example.com", &["v1"], "Wish", "wishes").reporting(Reports::Always("Ready"));
static EXTRA: Kind = Kind::cluster::<Value>("example.com", &["v1"], "Extra", "extras");

/// The wish that is looked at after all others.
const GATHERS: &str = "gathers";

/// Writes the wished rules into the role of the same name.
struct Wishes;

impl Module for Wishes {
    fn name(&self) -> &'static str {
        "wishes"
    }

    fn watches(&self) -> Vec<Watch> {
        vec![Watch::needed(&WISH), Watch::needed(&CLUSTER_ROLE), Watch::optional(&EXTRA)]
    }

    fn writes(&self) -> Vec<Rule> {
        Vec::new()
    }

    fn observe(&mut self, _: &Snapshot, changes: &[Change], _: Time, mark: &mut dyn FnMut(ObjectRef)) {
        for change in changes {
            mark(ObjectRef::cluster(&WISH, change.object.name.clone()));
        }
    }

    fn intend(&self, snapshot: &Snapshot, key: &ObjectRef, now: Time) -> Intent {
        let Some(wish) = snapshot.body::<Wish>(key) else { return Intent::default() };
        let rule = Rule { verbs: wish.verbs.clone().into(), ..Rule::resources([""], ["pods"], []) };
        let wanted = Wanted {
            object: ObjectRef::cluster(&CLUSTER_ROLE, key.name.clone()),
            claim: Claim::RulesOnly,
            shape: Shape { content: Content::rules([rule]), ..Shape::default() },
            because: "wished".to_owned(),
        };
        let wake_at = Some(Time(wish.wakes)).filter(|at| *at > now);
        Intent { wanted: vec![wanted], wake_at, ..Intent::default() }
    }

    fn turn(&self, key: &ObjectRef) -> Turn {
        if key.name == GATHERS { Turn::Gathers } else { Turn::Brings }
    }

    fn keys(&self, snapshot: &Snapshot) -> Vec<ObjectRef> {
        snapshot.all(&WISH).map(|live| ObjectRef::cluster(&WISH, live.meta.name.clone())).collect()
    }
}

fn live(kind: &'static Kind, version: u64, mut object: Value) -> Live {
    object["metadata"]["name"] = json!("a");
    object["metadata"]["uid"] = json!("uid");
    object["metadata"]["resourceVersion"] = json!(version.to_string());
    Live::read(kind, &object).unwrap()
}

fn wish(version: u64, verbs: &[&str]) -> Event {
    Event::Set(&WISH, live(&WISH, version, json!({"verbs": verbs})))
}

/// An engine that has seen a wish for `get`, and the role without it.
fn engine() -> Engine {
    let mut engine = Engine::new([Box::new(Wishes) as Box<dyn Module>]);
    let all = [
        Event::All(&CLUSTER_ROLE, vec![live(&CLUSTER_ROLE, 1, json!({}))]),
        Event::Unserved(&EXTRA),
        Event::All(&WISH, vec![live(&WISH, 2, json!({"verbs": ["get"]}))]),
    ];
    engine.take(all, Time(0));
    engine
}

fn job(engine: &mut Engine, now: Time) -> Job {
    match engine.next(now) {
        Next::Job(job) => job,
        Next::Wait(until) => panic!("nothing before {until:?}"),
    }
}

fn wait(engine: &mut Engine, now: Time) -> Option<Time> {
    match engine.next(now) {
        Next::Job(job) => panic!("{:?}", job.plan.ops),
        Next::Wait(until) => until,
    }
}

fn fails(engine: &mut Engine, job: Job, category: Category, retry_after: Option<Duration>, now: Time) {
    let object = job.plan.ops.first().unwrap().object.clone();
    let failure = Failure { object, category, message: "no".to_owned(), retry_after };
    engine.finish(job, vec![Err(failure)], now);
}

/// Stores everything that is planned.
fn settle(engine: &mut Engine, now: Time) -> Vec<Op> {
    Simulation::on(engine.snapshot()).settle(engine, now).into_iter().map(|(_, op)| op).collect()
}

fn told(engine: &mut Engine) -> Vec<String> {
    let words = |news| match news {
        News::Raised(module, diagnostic) => format!("{module} + {diagnostic}"),
        News::Cleared(module, diagnostic) => format!("{module} - {diagnostic}"),
        News::Converged(module, key, after) => format!("{module} = {key} {}ms", after.as_millis()),
    };
    engine.news().into_iter().map(words).collect()
}

#[test]
fn failures_are_tried_again_by_their_category() {
    for (category, first, most) in [
        (Category::Conflict, 5, 5_000),
        (Category::Unavailable, 100, 30_000),
        (Category::Missing, 1_000, 60_000),
        (Category::Forbidden, 5_000, 300_000),
        (Category::Invalid, 5_000, 300_000),
    ] {
        let mut engine = engine();
        let mut now = Time(1_000);
        let mut delays = Vec::new();
        for _ in 0..40 {
            let job = job(&mut engine, now);
            fails(&mut engine, job, category, None, now);
            let next = wait_or_report(&mut engine, now);
            delays.push(u64::try_from(next.since(now).as_millis()).unwrap());
            now = next;
        }
        let expected = (0..40_u32).map(|n| first * 2_u64.saturating_pow(n)).map(|delay| delay.min(most));
        for (delay, expected) in delays.iter().zip(expected) {
            let spread = expected..=expected + expected / 2;
            assert!(spread.contains(delay), "{category}: {delay} is not in {spread:?}");
        }
    }
}

/// When to look again; what is written about failures meanwhile is stored.
fn wait_or_report(engine: &mut Engine, now: Time) -> Time {
    engine.next_wait(now).unwrap()
}

impl Engine {
    fn next_wait(&self, now: Time) -> Option<Time> {
        self.slots.iter().filter_map(|slot| slot.next_due(slot.busy(now), now)).min().filter(|at| *at > now)
    }
}

#[test]
fn a_server_that_asks_to_be_left_alone_is() {
    let mut engine = engine();
    let first = job(&mut engine, Time(0));
    fails(&mut engine, first, Category::Unavailable, Some(Duration::from_secs(20)), Time(0));
    engine.take([wish(9, &["list"])], Time(10));
    assert_eq!(wait(&mut engine, Time(10)), Some(Time(20_000)), "news do not hurry it");
    assert_eq!(job(&mut engine, Time(20_000)).plan.ops.len(), 1);
}

#[test]
fn news_hurry_what_waits_after_a_failure() {
    let mut engine = engine();
    let first = job(&mut engine, Time(0));
    fails(&mut engine, first, Category::Invalid, None, Time(0));
    assert!(wait(&mut engine, Time(0)).unwrap() >= Time(5_000));
    engine.take([wish(9, &["list"])], Time(10));
    job(&mut engine, Time(10));
}

#[test]
fn news_while_a_plan_is_written_wait_for_it() {
    let mut engine = engine();
    let first = job(&mut engine, Time(0));
    engine.take([wish(9, &["list"])], Time(1));
    assert_eq!(wait(&mut engine, Time(1)), None, "one plan of a key at a time");
    fails(&mut engine, first, Category::Invalid, None, Time(2));
    let second = job(&mut engine, Time(2));
    assert!(format!("{:?}", second.plan.ops).contains("list"), "{second:?}");
}

#[test]
fn a_write_without_effect_is_told_and_rarely_repeated() {
    let mut engine = engine();
    let first = job(&mut engine, Time(0));
    let unchanged = Event::Set(&CLUSTER_ROLE, live(&CLUSTER_ROLE, 10, json!({})));
    engine.finish(first, vec![Ok(unchanged)], Time(0));
    let reported = job(&mut engine, Time(0));
    assert!(reported.plan.ops.iter().all(|op| matches!(op.write, Write::Report { .. })), "{reported:?}");
    assert_eq!(told(&mut engine), ["wishes + RW0005 ClusterRole/a: it was accepted and is not what was written"]);
    let mut cluster = Simulation::on(engine.snapshot());
    let outcomes = reported.plan.ops.iter().map(|op| cluster.write(engine.snapshot(), op)).collect();
    engine.finish(reported, outcomes, Time(0));
    let next = wait(&mut engine, Time(0)).unwrap();
    assert!(next >= Time(5_000));
    let again = job(&mut engine, next);
    assert!(again.plan.ops.iter().any(|op| matches!(op.write, Write::Rules { .. })), "{again:?}");
}

#[test]
fn what_is_refused_is_told_once_and_cleared_once() {
    let mut engine = engine();
    let mut now = Time(0);
    for _ in 0..3 {
        let job = job(&mut engine, now);
        fails(&mut engine, job, Category::Forbidden, None, now);
        now = now + Duration::from_secs(1_000);
    }
    let mut all = told(&mut engine);
    settle(&mut engine, now);
    all.extend(told(&mut engine));
    assert_eq!(
        all,
        ["wishes + RW0004 ClusterRole/a: no", "wishes - RW0004 ClusterRole/a: no", "wishes = Wish/a 3000000ms",]
    );
}

#[test]
fn what_is_paused_waits_visibly() {
    let mut engine = engine();
    let paused = json!({"verbs": ["get"], "metadata": {"annotations": {annotation::PAUSED: "true"}}});
    engine.take([Event::Set(&WISH, live(&WISH, 9, paused))], Time(0));
    let ops = settle(&mut engine, Time(0));
    assert!(ops.iter().all(|op| matches!(op.write, Write::Report { .. })), "{ops:?}");
    assert_eq!(told(&mut engine).first().unwrap(), "wishes + RW0002 Wish/a: one write waits");
    engine.take([wish(20, &["get"])], Time(0));
    let ops = settle(&mut engine, Time(0));
    assert!(ops.iter().any(|op| matches!(op.write, Write::Rules { .. })), "{ops:?}");
    assert_eq!(told(&mut engine).first().unwrap(), "wishes - RW0002 Wish/a: one write waits");
}

#[test]
fn what_cannot_be_understood_changes_nothing() {
    let mut engine = engine();
    settle(&mut engine, Time(0));
    engine.news();
    let key = ObjectRef::cluster(&CLUSTER_ROLE, "a");
    let before = engine.snapshot().body::<RoleBody>(&key).unwrap().clone();
    engine.take([Event::Set(&WISH, live(&WISH, 99, json!({"verbs": "get"})))], Time(0));
    let ops = settle(&mut engine, Time(0));
    assert!(ops.iter().all(|op| matches!(op.write, Write::Report { .. })), "{ops:?}");
    assert_eq!(engine.snapshot().body::<RoleBody>(&key), Some(&before), "what was granted stays");
    let told = told(&mut engine);
    assert!(told.first().unwrap().starts_with("wishes + RW0001 Wish/a: `verbs`: "), "{told:?}");
}

#[test]
fn a_key_is_looked_at_again_when_it_asks_for_it() {
    let mut engine = engine();
    engine.take([Event::Set(&WISH, live(&WISH, 9, json!({"verbs": ["get"], "wakes": 500})))], Time(0));
    settle(&mut engine, Time(0));
    assert_eq!(wait(&mut engine, Time(0)), Some(Time(500)));
    assert_eq!(engine.waiting().map(|(_, waiting)| waiting).sum::<usize>(), 0, "a wake-up is no work");
    assert_eq!(wait(&mut engine, Time(500)), None);
}

#[test]
fn a_module_sleeps_until_it_has_seen_what_it_needs() {
    let mut engine = Engine::new([Box::new(Wishes) as Box<dyn Module>]);
    let awake = |engine: &Engine| engine.modules().all(|(_, awake)| awake);
    engine.take([Event::All(&CLUSTER_ROLE, vec![live(&CLUSTER_ROLE, 1, json!({}))])], Time(0));
    engine.take([Event::Unserved(&WISH)], Time(0));
    assert!(!awake(&engine), "nothing is known of what is optional");
    engine.take([Event::Unserved(&EXTRA)], Time(0));
    assert!(!awake(&engine), "what it needs is not served");
    assert!(matches!(engine.next(Time(0)), Next::Wait(None)));
    engine.take([Event::All(&WISH, vec![live(&WISH, 2, json!({"verbs": ["get"]}))])], Time(7));
    assert!(awake(&engine));
    settle(&mut engine, Time(9));
    assert_eq!(told(&mut engine), ["wishes = Wish/a 9ms"], "since the first news of it");
}

#[test]
fn conditions_say_what_came_of_it() {
    let mut engine = engine();
    let key = ObjectRef::cluster(&WISH, "a");
    let ready =
        |engine: &Engine| -> Condition { engine.snapshot().get(&key).unwrap().conditions.first().unwrap().clone() };
    settle(&mut engine, Time(0));
    let done = ready(&engine);
    assert_eq!((done.status, done.reason.as_str()), (Status::True, "Applied"));
    assert!(settle(&mut engine, Time(0)).is_empty());
    engine.mark_all(Time(50));
    assert!(settle(&mut engine, Time(50)).is_empty(), "the same is not said twice");
}

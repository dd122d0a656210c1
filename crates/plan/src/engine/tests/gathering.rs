//! A key that gathers what others bring is looked at once they are done.

use super::super::slot::PATIENCE;
use super::*;

/// An engine in which the wish `a` and the one that gathers are both due.
fn both() -> Engine {
    let mut engine = engine();
    engine.take(unfulfilled(GATHERS, 3), Time(0));
    engine
}

/// A wish, and its role without it.
fn unfulfilled(name: &str, version: u64) -> [Event; 2] {
    let named = |kind: &'static Kind, version, object| {
        let mut live = live(kind, version, object);
        live.meta.name = name.into();
        Event::Set(kind, live)
    };
    [named(&CLUSTER_ROLE, version, json!({})), named(&WISH, version + 1, json!({"verbs": ["list"]}))]
}

#[test]
fn it_waits_for_those_that_bring() {
    let mut engine = both();
    let brings = job(&mut engine, Time(0));
    assert_eq!(brings.key.name, "a");
    assert_eq!(wait(&mut engine, Time(0)), Some(Time(500)));
    let stored =
        brings.plan.ops.iter().map(|op| Simulation::on(engine.snapshot()).write(engine.snapshot(), op)).collect();
    engine.finish(brings, stored, Time(1));
    let mut order = Vec::new();
    while let Next::Job(job) = engine.next(Time(1)) {
        order.push(job.key.name.to_string());
        let stored =
            job.plan.ops.iter().map(|op| Simulation::on(engine.snapshot()).write(engine.snapshot(), op)).collect();
        engine.finish(job, stored, Time(1));
    }
    assert_eq!(
        order.iter().position(|key| key == GATHERS),
        order.iter().rposition(|key| key == "a").map(|last| last + 1)
    );
}

#[test]
fn it_does_not_wait_for_ever() {
    let mut engine = both();
    let brings = job(&mut engine, Time(0));
    assert!(PATIENCE * 2 <= Duration::from_secs(1), "what somebody breaks is back within a second");
    assert_eq!(wait(&mut engine, Time(499)), Some(Time(500)));
    assert_eq!(job(&mut engine, Time(500)).key.name, GATHERS, "though {} is still being written", brings.key);
}

#[test]
fn its_patience_begins_when_all_that_bring_are_under_way() {
    let mut engine = both();
    engine.take(["b", "c"].iter().zip([5, 7]).flat_map(|(name, version)| unfulfilled(name, version)), Time(0));
    let names = [Time(0), Time(900), Time(900)].map(|now| job(&mut engine, now).key.name);
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(wait(&mut engine, Time(901)), Some(Time(1_400)), "though it was due long ago");
    assert_eq!(job(&mut engine, Time(1_400)).key.name, GATHERS);
}

#[test]
fn however_many_come_it_has_its_turn() {
    let mut engine = both();
    job(&mut engine, Time(0));
    let mut now = Time(0);
    let mut version = 5;
    // Two at a time, again and again, and none of them is ever finished.
    let turn = loop {
        now = now + Duration::from_millis(300);
        let pair = [version, version + 2].map(|version| unfulfilled(&format!("b{version}"), version));
        version += 4;
        engine.take(pair.into_iter().flatten(), now);
        let names = std::iter::from_fn(|| match engine.next(now) {
            Next::Job(job) => Some(job.key.name),
            Next::Wait(_) => None,
        });
        if names.collect::<Vec<_>>().iter().any(|name| name == GATHERS) {
            break now;
        }
        assert!(now < Time(60_000), "it waits for ever");
    };
    assert_eq!(turn, Time(30_000));
}

#[test]
fn those_that_come_one_by_one_do_not_hold_it_up() {
    let mut engine = both();
    job(&mut engine, Time(0));
    engine.take(unfulfilled("b", 5), Time(400));
    assert_eq!(job(&mut engine, Time(400)).key.name, "b");
    assert_eq!(job(&mut engine, Time(500)).key.name, GATHERS);
}

#[test]
fn what_failed_is_not_waited_for() {
    let mut engine = both();
    let brings = job(&mut engine, Time(0));
    fails(&mut engine, brings, Category::Forbidden, None, Time(0));
    assert_eq!(job(&mut engine, Time(0)).key.name, GATHERS);
}

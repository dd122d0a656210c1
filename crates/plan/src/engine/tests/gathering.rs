//! A key that gathers what others bring is looked at once they are done.

use super::super::slot::PATIENCE;
use super::*;

/// An engine in which the wish `a` and the one that gathers are both due.
fn both() -> Engine {
    let mut engine = engine();
    let named = |kind: &'static Kind, version, object| {
        let mut live = live(kind, version, object);
        live.meta.name = GATHERS.into();
        Event::Set(kind, live)
    };
    engine.take([named(&CLUSTER_ROLE, 3, json!({})), named(&WISH, 4, json!({"verbs": ["list"]}))], Time(0));
    engine
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
fn what_failed_is_not_waited_for() {
    let mut engine = both();
    let brings = job(&mut engine, Time(0));
    fails(&mut engine, brings, Category::Forbidden, None, Time(0));
    assert_eq!(job(&mut engine, Time(0)).key.name, GATHERS);
}

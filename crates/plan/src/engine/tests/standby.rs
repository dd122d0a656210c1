//! Beside somebody who does the same job.

use super::*;
use crate::diagnostic::Code;
use crate::kind::LEASE;

fn peer() -> Diagnostic {
    Diagnostic::new(Code::PeerActive, ObjectRef::namespaced(&LEASE, "default", "theirs"), "they do it")
}

fn withheld(engine: &Engine) -> usize {
    engine.withheld().map(|(_, writes)| writes).sum()
}

#[test]
fn a_module_plans_and_tells_and_leaves_the_writes_to_them() {
    let mut engine = engine();
    engine.stand_by(0, Some(peer()));
    assert_eq!(wait(&mut engine, Time(0)), None);
    assert_eq!(withheld(&engine), 1, "the role lacks what is wished");
    assert_eq!(engine.waiting().map(|(_, waiting)| waiting).sum::<usize>(), 0, "all was looked at");
    assert_eq!(told(&mut engine), ["wishes + RW0006 Lease/default/theirs: they do it"]);
    // What is wrong is told, and when it is right again as well.
    engine.take([Event::Set(&WISH, live(&WISH, 9, json!({"verbs": "get"})))], Time(1));
    assert_eq!(wait(&mut engine, Time(1)), None);
    assert_eq!(withheld(&engine), 0, "what cannot be understood wants nothing");
    let first = told(&mut engine);
    assert!(first.first().unwrap().starts_with("wishes + RW0001 Wish/a: "), "{first:?}");
    engine.take([wish(10, &["list"])], Time(2));
    assert_eq!(wait(&mut engine, Time(2)), None);
    assert!(told(&mut engine).first().unwrap().starts_with("wishes - RW0001 Wish/a: "));
    assert_eq!(withheld(&engine), 1);
    // They go, and nothing new happens but that.
    engine.resume(0);
    assert_eq!(told(&mut engine), ["wishes - RW0006 Lease/default/theirs: they do it"]);
    let ops = settle(&mut engine, Time(3));
    assert!(ops.iter().any(|op| matches!(op.write, Write::Rules { .. }) && !op.repairs), "{ops:?}");
    assert_eq!(withheld(&engine), 0);
}

#[test]
fn what_they_do_is_not_withheld() {
    let mut engine = engine();
    engine.stand_by(0, Some(peer()));
    assert_eq!(wait(&mut engine, Time(0)), None);
    let verbs = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    engine.take([Event::Set(&CLUSTER_ROLE, live(&CLUSTER_ROLE, 5, verbs))], Time(1));
    assert_eq!(wait(&mut engine, Time(1)), None);
    assert_eq!(withheld(&engine), 0);
}

#[test]
fn beside_another_of_our_managers_nothing_is_planned_or_told() {
    let mut engine = engine();
    engine.take([Event::Set(&WISH, live(&WISH, 9, json!({"verbs": "get"})))], Time(0));
    engine.stand_by(0, None);
    assert_eq!(wait(&mut engine, Time(0)), None);
    assert_eq!((withheld(&engine), told(&mut engine)), (0, Vec::new()), "who leads tells it");
    assert_eq!(engine.waiting().map(|(_, waiting)| waiting).sum::<usize>(), 1);
    // A peer is seen and then lost from sight: what was left to them waits again.
    engine.take([wish(10, &["list"])], Time(1));
    engine.stand_by(0, Some(peer()));
    assert_eq!((wait(&mut engine, Time(1)), withheld(&engine)), (None, 1));
    engine.stand_by(0, None);
    assert_eq!((wait(&mut engine, Time(2)), withheld(&engine)), (None, 0));
    assert_eq!(engine.waiting().map(|(_, waiting)| waiting).sum::<usize>(), 1);
}

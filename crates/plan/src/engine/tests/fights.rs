//! Somebody else who writes the same objects.

use super::super::contest::REPAIRS;
use super::*;

/// Somebody else stores a role without rules.
fn undone(engine: &mut Engine, now: Time) {
    let version = engine.snapshot().all(&CLUSTER_ROLE).map(|live| live.meta.resource_version).max().unwrap_or(0) + 1;
    let wrote = |manager: &str, time: &str| json!({"manager": manager, "operation": "Apply", "time": time});
    let writers = [wrote("rolewright", "2026-11-16T00:00:00Z"), wrote("argocd", "2026-11-16T00:00:01Z")];
    let role = json!({"metadata": {"managedFields": writers}});
    engine.take([Event::Set(&CLUSTER_ROLE, live(&CLUSTER_ROLE, version, role))], now);
}

fn rules(ops: &[Op]) -> usize {
    ops.iter().filter(|op| matches!(op.write, Write::Rules { .. })).count()
}

#[test]
fn a_fight_is_given_up_and_a_single_change_is_not() {
    let mut engine = engine();
    settle(&mut engine, Time(0));
    let peers = |told: Vec<String>| told.into_iter().filter(|told| told.contains("RW0006")).collect::<Vec<_>>();
    // Whoever changes it now and then never wins.
    let mut now = Time(0);
    for _ in 0..30 {
        now = now + Duration::from_secs(10);
        undone(&mut engine, now);
        assert_eq!(rules(&settle(&mut engine, now)), 1);
    }
    now = now + Duration::from_hours(1);
    for _ in 0..REPAIRS {
        undone(&mut engine, now);
        let ops = settle(&mut engine, now);
        assert!(rules(&ops) == 1 && ops.first().unwrap().repairs, "{ops:?}");
    }
    assert!(peers(told(&mut engine)).is_empty(), "nothing is left to write so far");
    undone(&mut engine, now);
    assert_eq!(rules(&settle(&mut engine, now)), 0);
    let told_once = peers(told(&mut engine));
    assert!(
        matches!(told_once.as_slice(), [told] if told.starts_with("wishes + RW0006 ClusterRole/a: `argocd` changes it back"))
    );
    let ready = engine.snapshot().get(&ObjectRef::cluster(&WISH, "a")).unwrap().conditions.first().unwrap().clone();
    assert_eq!((ready.status, ready.reason.as_str()), (Status::False, "PeerActive"));
    // One try after one, two, four, eight and then ten minutes, whatever happens meanwhile.
    for minutes in [1, 2, 4, 8, 10, 10] {
        let next = wait(&mut engine, now).unwrap();
        assert_eq!(next.since(now), Duration::from_mins(minutes));
        let meanwhile = now + Duration::from_secs(30);
        undone(&mut engine, meanwhile);
        assert_eq!(rules(&settle(&mut engine, meanwhile)), 0);
        now = next;
        assert_eq!(rules(&settle(&mut engine, now)), 1);
        undone(&mut engine, now);
        assert_eq!(rules(&settle(&mut engine, now)), 0);
        told(&mut engine);
    }
    // What is wanted anew is written at once.
    engine.take([wish(10_000, &["list"])], now);
    assert_eq!(rules(&settle(&mut engine, now)), 1);
    let cleared = peers(told(&mut engine));
    assert!(matches!(cleared.as_slice(), [told] if told.starts_with("wishes - RW0006")), "{cleared:?}");
    // After some peace a single change is undone at once.
    now = now + Duration::from_mins(11);
    undone(&mut engine, now);
    assert_eq!(rules(&settle(&mut engine, now)), 1);
}

#[test]
fn whoever_undoes_writes_before_we_look_does_not_make_us_write_for_ever() {
    let mut engine = engine();
    let mut writes = 0;
    for second in 0..120 {
        let now = Time(second * 1_000);
        // News about the role hurry whatever waits.
        undone(&mut engine, now);
        while let Next::Job(job) = engine.next(now) {
            let mut cluster = Simulation::on(engine.snapshot());
            let mut outcomes: Vec<Outcome> =
                job.plan.ops.iter().map(|op| cluster.write(engine.snapshot(), op)).collect();
            writes += rules(&job.plan.ops);
            for outcome in &mut outcomes {
                if let Ok(Event::Set(kind, stored)) = outcome
                    && **kind == CLUSTER_ROLE
                {
                    *stored = live(&CLUSTER_ROLE, stored.meta.resource_version, json!({}));
                }
            }
            engine.finish(job, outcomes, now);
        }
    }
    assert!((2..20).contains(&writes), "{writes}");
}

#[test]
fn writes_that_fail_are_no_fight() {
    let mut engine = engine();
    settle(&mut engine, Time(0));
    let mut now = Time(0);
    undone(&mut engine, now);
    for _ in 0..3 * REPAIRS {
        let job = job(&mut engine, now);
        assert!(job.plan.ops.iter().any(|op| op.repairs), "it stays a repair: {job:?}");
        fails(&mut engine, job, Category::Conflict, None, now);
        now = engine.next_wait(now).unwrap();
    }
    assert_eq!(rules(&settle(&mut engine, now)), 1);
}

//! Faults in front of a service that always answers the same.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde_json::Value;
use tower::Service;

use super::*;

/// Answers everything with the same text, and counts writes.
#[derive(Clone, Default)]
struct Fake {
    text: String,
    writes: Arc<AtomicU64>,
}

impl Service<Request<()>> for Fake {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        if request.method() != "GET" {
            self.writes.fetch_add(1, Ordering::Relaxed);
        }
        ready(Ok(Response::new(Full::new(Bytes::from(self.text.clone())))))
    }
}

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/// What a client sees: a status with the answer, or the error's words.
async fn ask(service: &mut Faulty<Fake>, method: &str, path: &str) -> Result<(u16, String), String> {
    let request = Request::builder().method(method).uri(path).body(()).unwrap();
    let answer = service.call(request).await.map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

fn event(kind: &str, name: &str, version: u32) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"object\":{{\"metadata\":{{\"name\":\"{name}\",\"resourceVersion\":\"{version}\"}}}}}}\n"
    )
}

/// Lines of a watch as `TYPE name@version`.
fn lines(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        let (kind, meta) = (event["type"].as_str().unwrap(), &event["object"]["metadata"]);
        match event["object"]["code"].as_u64() {
            Some(code) => format!("{kind} {code}"),
            None => format!("{kind} {}@{}", meta["name"].as_str().unwrap(), meta["resourceVersion"].as_str().unwrap()),
        }
    };
    text.lines().map(line).collect()
}

fn only(fault: Fault) -> Plan {
    let mut plan = Plan { stall: Duration::from_secs(5), retry_after: 3, ..Plan::default() };
    let rate = match fault {
        Fault::Conflict => &mut plan.conflict,
        Fault::Gone => &mut plan.gone,
        Fault::Busy => &mut plan.busy,
        Fault::Broken => &mut plan.broken,
        Fault::Late => &mut plan.late,
        Fault::Dropped => &mut plan.dropped,
        Fault::Cut => &mut plan.cut,
        Fault::Doubled => &mut plan.doubled,
        Fault::Swapped => &mut plan.swapped,
        Fault::Killed => return Plan { kill: Some(Kill { at_write: 1, done: false }), ..plan },
    };
    *rate = 1000;
    plan
}

#[tokio::test(start_paused = true)]
async fn every_fault_looks_like_the_real_one() {
    let cases = [
        (Fault::Conflict, "PUT", "", Ok((409, "Conflict"))),
        (Fault::Conflict, "GET", "", Ok((200, ""))),
        (Fault::Gone, "GET", "?limit=5&continue=abc", Ok((410, "Expired"))),
        (Fault::Gone, "GET", "?limit=5&continue=", Ok((200, ""))),
        (Fault::Busy, "GET", "", Ok((429, "\"retryAfterSeconds\":3"))),
        (Fault::Broken, "PATCH", "", Ok((500, "InternalError"))),
        (Fault::Late, "GET", "", Err("no answer (injected)")),
        (Fault::Dropped, "DELETE", "", Err("connection reset (injected)")),
        (Fault::Dropped, "GET", "?watch=true", Err("connection reset (injected)")),
    ];
    for (fault, method, query, expected) in cases {
        let layer = FaultLayer::new(1, only(fault));
        let seen = ask(&mut layer.layer(Fake::default()), method, &format!("{ROLES}{query}")).await;
        match (seen, expected) {
            (Ok((status, body)), Ok((code, text))) => {
                assert_eq!(status, code, "{fault:?} {method}{query}");
                assert!(body.contains(text), "{fault:?}: {body}");
                assert_eq!(layer.counts().faults.get(&fault).copied(), (code != 200).then_some(1));
            }
            (seen, expected) => assert_eq!(seen.unwrap_err(), expected.unwrap_err(), "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn a_seed_decides_whatever_the_order() {
    let draws = async |seed: u64, order: &mut dyn Iterator<Item = usize>| {
        let layer = FaultLayer::new(seed, Plan { late: 0, ..Plan::rough() });
        let mut service = layer.layer(Fake::default());
        let mut seen: Vec<Vec<Result<u16, String>>> = vec![Vec::new(); 3];
        for role in order {
            let answer = ask(&mut service, "PUT", &format!("{ROLES}/{role}")).await;
            seen[role].push(answer.map(|(status, _)| status));
        }
        (seen, layer.counts())
    };
    let one = draws(7, &mut (0..300).map(|n| n % 3)).await;
    let other = draws(7, &mut (0..300).map(|n| n / 100)).await;
    assert_eq!(one, other);
    assert_ne!(one.0, draws(8, &mut (0..300).map(|n| n % 3)).await.0);
    let kinds: BTreeSet<_> = one.1.faults.keys().copied().collect();
    assert_eq!(kinds, BTreeSet::from([Fault::Conflict, Fault::Busy, Fault::Broken, Fault::Dropped]));
}

#[tokio::test]
async fn writes_without_an_answer_may_be_done() {
    let fake = Fake::default();
    let layer = FaultLayer::new(3, only(Fault::Dropped));
    for _ in 0..100 {
        ask(&mut layer.layer(fake.clone()), "PUT", ROLES).await.unwrap_err();
    }
    let done = fake.writes.load(Ordering::Relaxed);
    assert!((20..80).contains(&done), "{done}");
    assert_eq!(layer.counts().writes, done);
    layer.quiet();
    ask(&mut layer.layer(fake.clone()), "PUT", ROLES).await.unwrap();
    assert_eq!(layer.counts().writes, done + 1);
}

#[tokio::test(start_paused = true)]
async fn clients_die_at_the_write_that_kills() {
    for (done, reached) in [(true, 3), (false, 2)] {
        let fake = Fake::default();
        let layer = FaultLayer::new(3, Plan::default().killing(3, done).sparing("/leases/"));
        let mut service = layer.layer(fake.clone());
        ask(&mut service, "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/x").await.unwrap();
        for _ in 0..2 {
            ask(&mut service, "GET", ROLES).await.unwrap();
            ask(&mut service, "PUT", ROLES).await.unwrap();
        }
        tokio::select! {
            answer = ask(&mut service, "PUT", ROLES) => panic!("{answer:?}"),
            () = layer.killed() => {}
        }
        for method in ["GET", "PUT"] {
            let silence = tokio::time::timeout(Duration::from_mins(1), ask(&mut service, method, ROLES)).await;
            assert!(silence.is_err());
        }
        // The lease is not counted here, but it is there.
        assert_eq!(fake.writes.load(Ordering::Relaxed), reached + 1);
        assert_eq!(layer.counts().faults, BTreeMap::from([(Fault::Killed, 1)]));
    }
}

#[tokio::test(start_paused = true)]
async fn watches_end_double_and_swap() {
    let text = [
        event("ADDED", "a", 1),
        event("ADDED", "b", 2),
        event("MODIFIED", "b", 3),
        event("DELETED", "b", 4),
        event("BOOKMARK", "", 5),
        event("MODIFIED", "a", 6),
    ];
    let cases = [
        (None, &["ADDED a@1", "ADDED b@2", "MODIFIED b@3", "DELETED b@4", "BOOKMARK @5", "MODIFIED a@6"][..]),
        (Some(Fault::Cut), &[]),
        (Some(Fault::Gone), &["ERROR 410"]),
        // Swapped if about different objects; never over a bookmark.
        (
            Some(Fault::Swapped),
            &["ADDED b@2", "ADDED a@1", "MODIFIED b@3", "DELETED b@4", "BOOKMARK @5", "MODIFIED a@6"],
        ),
        (
            Some(Fault::Doubled),
            &[
                "ADDED a@1",
                "ADDED a@1",
                "ADDED b@2",
                "ADDED b@2",
                "MODIFIED b@3",
                "MODIFIED b@3",
                "DELETED b@4",
                "DELETED b@4",
                "BOOKMARK @5",
                "MODIFIED a@6",
                "MODIFIED a@6",
            ],
        ),
    ];
    for (fault, expected) in cases {
        let layer = FaultLayer::new(1, fault.map_or_else(Plan::default, only));
        let mut service = layer.layer(Fake { text: text.concat(), ..Fake::default() });
        let (status, body) = ask(&mut service, "GET", &format!("{ROLES}?&watch=true")).await.unwrap();
        assert_eq!(
            (status, lines(&body)),
            (200, expected.iter().map(|line| (*line).to_owned()).collect()),
            "{fault:?}"
        );
        assert_eq!(layer.counts().faults.keys().next().copied(), fault);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_on_misses_nothing() {
    // A watch from a version on, over and over until everything was seen.
    let all: Vec<String> = (1..=200).map(|version| event("MODIFIED", &format!("n{}", version % 7), version)).collect();
    let mut met = BTreeSet::new();
    for seed in 0..50 {
        let layer = FaultLayer::new(seed, Plan { busy: 0, broken: 0, late: 0, dropped: 0, ..Plan::rough() });
        let (mut version, mut state) = (0, BTreeMap::new());
        while version < all.len() {
            let mut service = layer.layer(Fake { text: all[version..].concat(), ..Fake::default() });
            let (_, body) = ask(&mut service, "GET", &format!("{ROLES}?watch=1")).await.unwrap();
            for line in lines(&body) {
                let Some((name, seen)) = line.strip_prefix("MODIFIED ").and_then(|line| line.split_once('@')) else {
                    break;
                };
                version = seen.parse().unwrap();
                let before = state.insert(name.to_owned(), version);
                assert!(before <= Some(version), "events of one object keep their order");
            }
        }
        assert_eq!(state.into_values().collect::<BTreeSet<_>>(), (194..=200).collect(), "seed {seed}");
        met.extend(layer.counts().faults.into_keys());
    }
    assert_eq!(met, BTreeSet::from([Fault::Gone, Fault::Cut, Fault::Doubled, Fault::Swapped]));
}

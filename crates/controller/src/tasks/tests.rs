use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::sync::{Arc, Mutex};

use super::*;

const GRACE: Duration = Duration::from_secs(20);

type Log = Arc<Mutex<Vec<&'static str>>>;

/// A task that ends when it is told to, and says so.
fn good(log: &Log, name: &'static str) -> impl FnOnce(Stop) -> BoxFuture + use<> {
    let log = log.clone();
    move |stop| {
        Box::pin(async move {
            stop.requested().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            log.lock().unwrap().push(name);
            Ok(())
        })
    }
}

type BoxFuture = std::pin::Pin<Box<dyn Future<Output = Result<(), TaskError>> + Send>>;

type Start = fn(&mut Tasks);

fn never() -> std::future::Pending<()> {
    pending()
}

#[tokio::test(start_paused = true)]
async fn workers_end_before_services() {
    let (mut tasks, log) = (Tasks::default(), Log::default());
    tasks.serve("lease", good(&log, "lease"));
    tasks.work("loop", good(&log, "loop"));
    tasks.work("events", good(&log, "events"));
    let mut signals = 0;
    let signal = || {
        signals += 1;
        let now = signals == 1;
        async move { if now { ready(()).await } else { pending().await } }
    };
    tasks.run(signal, GRACE).await.unwrap();
    let log = log.lock().unwrap().clone();
    assert_eq!(log.last(), Some(&"lease"));
    assert_eq!(log.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_any_task_ends_all_and_is_named() {
    async fn fails(_: Stop) -> Result<(), std::io::Error> {
        Err(std::io::Error::other("no more room"))
    }
    async fn panics(_: Stop) -> Result<(), Infallible> {
        panic!("out of range: {}", 7)
    }
    async fn returns(_: Stop) -> Result<(), Infallible> {
        Ok(())
    }
    let cases: [(Start, &str); 6] = [
        (|tasks| tasks.work("bad", fails), "task `bad` failed: no more room"),
        (|tasks| tasks.work("bad", panics), "task `bad` panicked: out of range: 7"),
        (|tasks| tasks.work("bad", returns), "task `bad` ended by itself"),
        (|tasks| tasks.serve("bad", fails), "task `bad` failed: no more room"),
        (|tasks| tasks.serve("bad", panics), "task `bad` panicked: out of range: 7"),
        (|tasks| tasks.serve("bad", returns), "task `bad` ended by itself"),
    ];
    for (spawn, expected) in cases {
        let (mut tasks, log) = (Tasks::default(), Log::default());
        tasks.serve("lease", good(&log, "lease"));
        tasks.work("loop", good(&log, "loop"));
        spawn(&mut tasks);
        let error = tasks.run(never, GRACE).await.unwrap_err();
        assert_eq!(Chain(&error).to_string(), expected);
        assert_eq!(*log.lock().unwrap(), ["loop", "lease"], "{expected}: the others end in order");
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_longer_than_the_grace() {
    let mut tasks = Tasks::default();
    tasks.work("stuck", |_| pending::<Result<(), Infallible>>());
    tasks.serve("lease", |stop| async move {
        stop.requested().await;
        Ok::<_, Infallible>(())
    });
    let began = Instant::now();
    let mut first = true;
    let signal = || {
        let now = std::mem::take(&mut first);
        async move { if now { ready(()).await } else { pending().await } }
    };
    let error = tasks.run(signal, GRACE).await.unwrap_err();
    assert_eq!(error.to_string(), "these tasks did not end in time: lease, stuck");
    assert_eq!(began.elapsed().as_secs(), GRACE.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_second_signal_ends_the_wait() {
    let mut tasks = Tasks::default();
    tasks.work("stuck", |_| pending::<Result<(), Infallible>>());
    let signal = || tokio::time::sleep(Duration::from_secs(3));
    let began = Instant::now();
    let error = tasks.run(signal, GRACE).await.unwrap_err();
    assert_eq!(error.to_string(), "interrupted while these tasks were ending: stuck");
    assert_eq!(began.elapsed().as_secs(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_failure_while_ending_is_told() {
    let mut tasks = Tasks::default();
    tasks.work("loop", |stop| async move {
        stop.requested().await;
        Err("half written")
    });
    let mut first = true;
    let signal = || {
        let now = std::mem::take(&mut first);
        async move { if now { ready(()).await } else { pending().await } }
    };
    let error = tasks.run(signal, GRACE).await.unwrap_err();
    assert_eq!(Chain(&error).to_string(), "task `loop` failed: half written");
}

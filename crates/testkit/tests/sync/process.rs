//! The whole process of a manager, which also tells what happens.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use kube::Client;
use rolewright_controller::run::{Leases, Process, run};
use rolewright_plan::sync::RoleRefs;
use rolewright_testkit::place::{PATIENCE, quick};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Takes steps while a process runs as whoever the client is.
pub(crate) async fn during(client: Client, steps: impl Future<Output = Result<()>>) -> Result<()> {
    let process = Process {
        manager: quick(),
        leases: Leases::None,
        listen: None,
        instance: "tests".to_owned(),
        grace: Duration::from_secs(5),
    };
    let ended = Arc::new(Notify::new());
    let signal = ended.clone();
    let running = tokio::spawn(run(client, vec![Box::new(RoleRefs::default())], process, move || {
        let signal = signal.clone();
        async move { signal.notified().await }
    }));
    let done = steps.await;
    ended.notify_one();
    timeout(PATIENCE, running).await.context("the manager does not end")???;
    done
}

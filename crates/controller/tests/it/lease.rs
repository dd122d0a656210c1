//! The election: one leads, whatever happens; and who ends hands over.

mod peers;
mod schedules;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Client};
use rolewright_controller::lease::{Leadership, Settings, candidate};
use rolewright_controller::metrics::Metrics;
use rolewright_testkit::embedded::admin;
use rolewright_testkit::fault::{FaultLayer, Plan};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tower::Layer;

use crate::places::{client_of, in_process};

/// A candidate that runs.
struct Running {
    leadership: Leadership,
    metrics: Arc<Metrics>,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    fn start(client: Client, settings: Settings) -> Result<Self> {
        let metrics = Arc::new(Metrics::default());
        let name = settings.name.clone();
        let (candidate, leadership) = candidate(client, settings, metrics.clone())?;
        metrics.follow("default", &name, leadership.clone());
        let (end, ended) = oneshot::channel::<()>();
        let task = tokio::spawn(candidate.run(async {
            let _ = ended.await;
        }));
        Ok(Self { leadership, metrics, end, task })
    }

    /// Done when it leads.
    async fn leads(&self) {
        let mut changes = self.leadership.changes();
        while !self.leadership.is_leader() {
            changes.changed().await.unwrap();
        }
    }

    /// Done when it no longer leads.
    async fn lost(&self) {
        let mut changes = self.leadership.changes();
        while self.leadership.is_leader() {
            changes.changed().await.unwrap();
        }
    }

    /// Ends it as a process should end.
    async fn end(self) -> Result<()> {
        drop(self.end);
        Ok(self.task.await?)
    }

    /// Ends it as a process should not.
    fn die(self) -> Leadership {
        self.task.abort();
        self.leadership
    }
}

fn settings(identity: &str) -> Settings {
    Settings::new("default", "manager", identity)
}

async fn lease(client: &Client, name: &str) -> Result<LeaseSpec> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
    Ok(leases.get(name).await?.spec.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn who_dies_is_followed_when_the_lease_runs_out() -> Result<()> {
    let server = in_process()?;
    let client = client_of(&server);
    let first = Running::start(client.clone(), settings("first"))?;
    first.leads().await;
    let second = Running::start(client.clone(), settings("second"))?;
    sleep(Duration::from_mins(10)).await;
    assert!(first.leadership.is_leader() && !second.leadership.is_leader());
    let died = Instant::now();
    let first = first.die();
    while !second.leadership.is_leader() {
        sleep(Duration::from_millis(100)).await;
        assert!(!(first.is_leader() && second.leadership.is_leader()), "two lead");
    }
    let wait = died.elapsed().as_secs();
    // The last sign of life is up to 2 s old, seen up to 4.4 s later, and looked at every 4.4 s.
    assert!((57..=69).contains(&wait), "{wait} s");
    let spec = lease(&client, "manager").await?;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("second"), Some(1)));
    assert_eq!(spec.lease_duration_seconds, Some(60));
    server.end();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn who_ends_hands_over_at_once() -> Result<()> {
    let server = in_process()?;
    let client = client_of(&server);
    let first = Running::start(client.clone(), settings("first"))?;
    first.leads().await;
    let second = Running::start(client.clone(), settings("second"))?;
    sleep(Duration::from_mins(1)).await;
    let (leadership, mut changes) = (first.leadership.clone(), first.leadership.changes());
    changes.mark_unchanged();
    first.end().await?;
    assert!(!leadership.is_leader() && !*changes.borrow_and_update(), "and says so");
    let ended = Instant::now();
    second.leads().await;
    assert!(ended.elapsed() < Duration::from_secs(5));
    let text = second.metrics.encode();
    assert!(text.contains("rolewright_lease_leader{lease=\"default/manager\"} 1\n"), "{text}");
    assert!(text.contains("rolewright_lease_terms_total{lease=\"default/manager\"} 1\n"), "{text}");
    second.end().await?;
    let spec = lease(&client, "manager").await?;
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some(""), Some(1)));
    assert_eq!((spec.lease_duration_seconds, &spec.acquire_time), (Some(1), &spec.renew_time));
    server.end();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn leadership_ends_by_itself_when_the_task_hangs() -> Result<()> {
    let server = in_process()?;
    let (candidate, leadership) = candidate(client_of(&server), settings("first"), Arc::default())?;
    let mut run = Box::pin(candidate.run(std::future::pending()));
    let mut changes = leadership.changes();
    tokio::select! {
        () = &mut run => unreachable!("nobody ends it"),
        changed = changes.changed() => changed?,
    }
    // From here on nobody polls the task.
    sleep(Duration::from_millis(49_900)).await;
    assert!(leadership.is_leader());
    sleep(Duration::from_millis(200)).await;
    assert!(!leadership.is_leader());
    // And when it goes on, the lease is still its own.
    tokio::select! {
        () = &mut run => unreachable!("nobody ends it"),
        () = sleep(Duration::from_secs(5)) => {}
    }
    assert_eq!(leadership.term(), Some(2));
    server.end();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn who_cannot_reach_the_server_stops_before_others_start() -> Result<()> {
    let server = in_process()?;
    let client = client_of(&server);
    // After its fourth write nothing is answered any more.
    let layer = FaultLayer::new(1, Plan::default().killing(4, false));
    let away = Client::new(layer.layer(server.router_as(admin())), "default");
    let first = Running::start(away, settings("first"))?;
    first.leads().await;
    let second = Running::start(client.clone(), settings("second"))?;
    layer.killed().await;
    let cut = Instant::now();
    timeout(Duration::from_mins(1), first.lost()).await?;
    assert!(cut.elapsed() >= Duration::from_secs(47), "renewed 2 s before");
    assert!(!second.leadership.is_leader());
    second.leads().await;
    assert!(cut.elapsed() >= Duration::from_secs(57));
    assert!(
        first
            .metrics
            .encode()
            .contains("rolewright_lease_renewals_total{lease=\"default/manager\",outcome=\"failed\"}")
    );
    server.end();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_taken_or_deleted_is_noticed() -> Result<()> {
    let server = in_process()?;
    let client = client_of(&server);
    let leases: Api<Lease> = Api::namespaced(client.clone(), "default");
    let first = Running::start(client.clone(), settings("first"))?;
    first.leads().await;
    // An edit that takes nothing from it is none of its business.
    let label = serde_json::json!({"metadata": {"labels": {"team": "access"}}});
    leases.patch("manager", &PatchParams::default(), &Patch::Merge(label)).await?;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(first.leadership.term(), Some(1));
    let labels = leases.get("manager").await?.metadata.labels.unwrap_or_default();
    assert_eq!((labels["team"].as_str(), labels["app.kubernetes.io/managed-by"].as_str()), ("access", "rolewright"));
    // Somebody deletes it: ours again, but that is another term.
    leases.delete("manager", &DeleteParams::default()).await?;
    sleep(Duration::from_secs(10)).await;
    assert_eq!(first.leadership.term(), Some(2));
    // Somebody takes it by hand.
    let taken = serde_json::json!({"spec": {"holderIdentity": "somebody"}});
    leases.patch("manager", &PatchParams::default(), &Patch::Merge(taken)).await?;
    sleep(Duration::from_secs(3)).await;
    assert!(!first.leadership.is_leader());
    server.end();
    Ok(())
}

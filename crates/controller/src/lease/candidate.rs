//! The candidate: takes the lease when it is free, renews it, gives it back.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio::time::{Instant, sleep};

use super::leadership::{Leadership, Moment, Office};
use super::lock::{Lock, LockError};
use super::observation::{Observation, Step};
use super::{Settings, SettingsError};
use crate::metrics::{LeaseLabels, Metrics};

/// A candidate, and how to know whether it leads. Nothing happens before [`Candidate::run`].
pub fn candidate(
    client: Client,
    settings: Settings,
    metrics: Arc<Metrics>,
) -> Result<(Candidate, Leadership), SettingsError> {
    settings.check()?;
    let (office, leadership) = Office::vacant(settings.margin());
    let lock = Lock::new(client, &settings);
    let label = LeaseLabels::of(&settings.namespace, &settings.name);
    let campaign =
        Campaign { lock, settings, metrics, label, seen: Observation::default(), complaint: None, rounds: 0 };
    Ok((Candidate { campaign, office }, leadership))
}

/// Takes part in an election.
#[derive(Debug)]
pub struct Candidate {
    campaign: Campaign,
    office: Office,
}

impl Candidate {
    /// Takes part until `shutdown` is done, then gives the lease back. Whoever writes as leader must have ended by then.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let Self { mut campaign, office } = self;
        tokio::select! {
            () = office.announce() => {}
            () = campaign.run(&office, shutdown) => {}
        }
        // For those who hear of changes only: this says what is new at once, and then waits.
        office.announce().now_or_never();
    }
}

#[derive(Debug)]
struct Campaign {
    lock: Lock,
    settings: Settings,
    metrics: Arc<Metrics>,
    /// What the lease is called there.
    label: LeaseLabels,
    seen: Observation,
    /// What was last complained about: the same is not said twice in a row.
    complaint: Option<String>,
    rounds: u64,
}

impl Campaign {
    async fn run(&mut self, office: &Office, shutdown: impl Future<Output = ()>) {
        let shutdown = shutdown.shared();
        loop {
            let moment = self.settings.retry;
            // A write that is under way gets a moment, lest it be stored after we gave the lease back.
            let given_up = async {
                shutdown.clone().await;
                sleep(moment).await;
            };
            tokio::select! {
                biased;
                () = self.round(office) => {}
                () = given_up => break,
            }
            let pause = self.pause(office);
            tokio::select! {
                () = shutdown.clone() => break,
                () = sleep(pause) => {}
            }
        }
        self.leave(office).await;
    }

    /// Looks at the lease and does what is to be done about it.
    async fn round(&mut self, office: &Office) {
        let done = match self.renew(office).await {
            Some(done) => done,
            None => self.look(office).await,
        };
        if office.is_held() || done.is_err() {
            self.metrics.renewed(&self.label, done.is_ok());
        }
        self.complain(done.err());
    }

    /// The short way of a leader: nobody should have touched the lease. `None` if somebody did, or if we do not lead.
    async fn renew(&mut self, office: &Office) -> Option<Result<(), LockError>> {
        if !office.is_held() || self.seen.step(&self.settings.identity, Instant::now()) != Step::Renew {
            return None;
        }
        match self.write(office).await {
            Err(LockError::Changed) => None,
            done => Some(done),
        }
    }

    async fn look(&mut self, office: &Office) -> Result<(), LockError> {
        let lease = self.lock.get().await?;
        let before = self.seen.holder().to_owned();
        self.seen.see(lease, Instant::now());
        let holder = self.seen.holder();
        let step = self.seen.step(&self.settings.identity, Instant::now());
        if step != Step::Renew && office.vacate() {
            tracing::warn!(lease = self.settings.name, holder, "no longer leading: the lease was taken from us");
        }
        office.saw(if step == Step::Wait { holder } else { "" });
        if step == Step::Wait {
            if before != holder {
                tracing::info!(lease = self.settings.name, holder, "somebody else leads");
            }
            return Ok(());
        }
        match self.write(office).await {
            // Somebody was faster.
            Err(LockError::Changed) => Ok(()),
            done => done,
        }
    }

    /// Writes the lease as ours.
    async fn write(&mut self, office: &Office) -> Result<(), LockError> {
        let asked = Moment::now();
        let stored = self.lock.put(&self.seen.ours(&self.settings, Timestamp::now())).await?;
        self.seen.see(Some(stored), Instant::now());
        if office.hold(asked, self.settings.renew_deadline) {
            self.metrics.began_to_lead(&self.label);
            tracing::info!(lease = self.settings.name, identity = self.settings.identity, "leading");
        }
        Ok(())
    }

    /// Gives the lease back if we hold it.
    async fn leave(&mut self, office: &Office) {
        office.vacate();
        let done = match self.lock.get().await {
            Ok(lease) => {
                self.seen.see(lease, Instant::now());
                if self.seen.step(&self.settings.identity, Instant::now()) != Step::Renew {
                    return;
                }
                self.lock.put(&self.seen.free(&self.settings, Timestamp::now())).await.map(drop)
            }
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => tracing::info!(lease = self.settings.name, "gave the lease back"),
            Err(error) => tracing::warn!(lease = self.settings.name, %error, "could not give the lease back"),
        }
    }

    /// Leaders keep time. The others spread, each in its own way, so that they do not come all at once.
    fn pause(&mut self, office: &Office) -> Duration {
        self.rounds = self.rounds.wrapping_add(1);
        if office.is_held() {
            return self.settings.retry;
        }
        let mut hasher = DefaultHasher::new();
        (&self.settings.identity, self.rounds).hash(&mut hasher);
        let percent = u32::try_from(hasher.finish() % 120).unwrap_or(0);
        self.settings.retry + self.settings.retry.saturating_mul(percent) / 100
    }

    fn complain(&mut self, error: Option<LockError>) {
        let Settings { namespace, name, .. } = &self.settings;
        let text = error.map(|error| match error {
            LockError::Forbidden(why) => {
                let command = format!("rolewright manifests rbac --namespace {namespace} --lease {name}");
                format!("{why}; hint: `{command}` prints the role that allows it")
            }
            error => error.to_string(),
        });
        if let Some(error) = text.as_ref().filter(|_| text != self.complaint) {
            tracing::warn!(lease = self.settings.name, error, "the lease could not be read or written");
        }
        self.complaint = text;
    }
}

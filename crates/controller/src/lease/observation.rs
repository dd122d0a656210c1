//! What was seen of the lease, and what follows from it. Pure: times come in as arguments.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use rolewright_plan::vocabulary::label;
use tokio::time::Instant;

use super::Settings;

/// The lease as last seen.
#[derive(Debug, Default)]
pub(super) struct Observation {
    lease: Option<Lease>,
    /// When we first saw this content of it.
    since: Option<Instant>,
}

/// What to do about the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is none.
    Create,
    /// It is free.
    Take,
    /// It is ours.
    Renew,
    /// It is somebody else's.
    Wait,
}

impl Observation {
    /// Takes note of the lease as the server has it.
    pub(super) fn see(&mut self, lease: Option<Lease>, now: Instant) {
        let spec = |lease: &Option<Lease>| lease.as_ref().map(|lease| lease.spec.clone());
        // Labels and such are no sign of life.
        if self.since.is_none() || spec(&lease) != spec(&self.lease) {
            self.since = Some(now);
        }
        self.lease = lease;
    }

    /// Who holds the lease; `""` if nobody does.
    pub(super) fn holder(&self) -> &str {
        self.spec().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
    }

    fn spec(&self) -> Option<&LeaseSpec> {
        self.lease.as_ref().and_then(|lease| lease.spec.as_ref())
    }

    pub(super) fn step(&self, identity: &str, now: Instant) -> Step {
        if self.lease.is_none() {
            return Step::Create;
        }
        match self.holder() {
            "" => Step::Take,
            holder if holder == identity => Step::Renew,
            _ if self.has_run_out(now) => Step::Take,
            _ => Step::Wait,
        }
    }

    fn has_run_out(&self, now: Instant) -> bool {
        let seconds = self.spec().and_then(|spec| spec.lease_duration_seconds).unwrap_or(0);
        let duration = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= duration)
    }

    /// The lease in our hands, to be written. What else is in its metadata stays as it was seen.
    pub(super) fn ours(&self, settings: &Settings, time: Timestamp) -> Lease {
        let now = Some(MicroTime(time));
        let before = self.spec();
        let transitions = before.and_then(|spec| spec.lease_transitions);
        let held = before.filter(|_| self.holder() == settings.identity);
        let spec = LeaseSpec {
            holder_identity: Some(settings.identity.clone()),
            lease_duration_seconds: settings.seconds(),
            acquire_time: held.and_then(|spec| spec.acquire_time.clone()).or_else(|| now.clone()),
            renew_time: now,
            lease_transitions: Some(match (&self.lease, held) {
                (None, _) => 0,
                (Some(_), Some(_)) => transitions.unwrap_or(0),
                (Some(_), None) => transitions.unwrap_or(0).saturating_add(1),
            }),
            ..LeaseSpec::default()
        };
        Lease { metadata: self.metadata(settings), spec: Some(spec) }
    }

    /// The lease given back: nobody holds it, and whoever wants it need not wait.
    pub(super) fn free(&self, settings: &Settings, time: Timestamp) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            ..self.ours(settings, time).spec.unwrap_or_default()
        };
        let spec = LeaseSpec { acquire_time: spec.renew_time.clone(), ..spec };
        Lease { metadata: self.metadata(settings), spec: Some(spec) }
    }

    /// Labels say whose it is, for those who clear up after us; what somebody else put there stays.
    fn metadata(&self, settings: &Settings) -> ObjectMeta {
        let mut metadata = match &self.lease {
            Some(lease) => lease.metadata.clone(),
            None => ObjectMeta {
                name: Some(settings.name.clone()),
                namespace: Some(settings.namespace.clone()),
                ..ObjectMeta::default()
            },
        };
        let labels = metadata.labels.get_or_insert_default();
        for (name, value) in label::LEASE {
            labels.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(identity: &str) -> Settings {
        Settings::new("default", "lease", identity)
    }

    fn held_by(holder: &str) -> Lease {
        Observation::default().ours(&settings(holder), Timestamp::UNIX_EPOCH)
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn leases_run_out_by_our_own_clock() {
        let start = Instant::now();
        let mut seen = Observation::default();
        assert_eq!(seen.step("me", start), Step::Create);
        seen.see(Some(held_by("other")), start);
        assert_eq!(seen.step("me", start + seconds(59)), Step::Wait);
        assert_eq!(seen.step("other", start + seconds(99)), Step::Renew);
        // The same content again is no sign of life, nor are labels.
        let mut labelled = held_by("other");
        labelled.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
        seen.see(Some(labelled), start + seconds(40));
        assert_eq!(seen.step("me", start + seconds(60)), Step::Take);
        // A renewal is, even one whose times are far off.
        let renewed = Observation::default().ours(&settings("other"), Timestamp::MAX);
        seen.see(Some(renewed), start + seconds(60));
        assert_eq!(seen.step("me", start + seconds(119)), Step::Wait);
        assert_eq!(seen.step("me", start + seconds(120)), Step::Take);
        seen.see(None, start + seconds(120));
        assert_eq!(seen.step("me", start + seconds(120)), Step::Create);
    }

    #[test]
    fn what_says_nothing_is_free() {
        let now = Instant::now();
        let nobody = LeaseSpec { holder_identity: Some(String::new()), ..LeaseSpec::default() };
        let nothing = LeaseSpec { holder_identity: Some("other".to_owned()), ..LeaseSpec::default() };
        let negative = LeaseSpec { lease_duration_seconds: Some(-1), ..nothing.clone() };
        for spec in [None, Some(LeaseSpec::default()), Some(nobody), Some(nothing), Some(negative)] {
            let mut seen = Observation::default();
            seen.see(Some(Lease { spec: spec.clone(), ..Lease::default() }), now);
            assert_eq!(seen.step("me", now), Step::Take, "{spec:?}");
        }
    }

    #[test]
    fn labels_say_whose_it_is_and_others_stay() {
        let mut seen = Observation::default();
        let labels = |lease: Lease| lease.metadata.labels.unwrap();
        let ours = labels(seen.ours(&settings("a"), Timestamp::UNIX_EPOCH));
        assert_eq!(ours[label::MANAGED_BY], "rolewright");
        // A lease that client-go's elector made, which somebody has labelled.
        let theirs = [(label::MANAGED_BY.to_owned(), "helm".to_owned()), ("team".to_owned(), "a".to_owned())];
        let metadata = ObjectMeta { labels: Some(theirs.clone().into()), ..ObjectMeta::default() };
        seen.see(Some(Lease { metadata, spec: None }), Instant::now());
        for lease in
            [seen.ours(&settings("a"), Timestamp::UNIX_EPOCH), seen.free(&settings("a"), Timestamp::UNIX_EPOCH)]
        {
            let labels = labels(lease);
            assert!(theirs.iter().all(|(name, value)| labels[name] == *value), "{labels:?}");
            assert_eq!(labels["app.kubernetes.io/name"], "rolewright");
        }
    }

    #[test]
    fn transitions_count_new_holders() {
        let (first, later) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        let mut seen = Observation::default();
        let written = |seen: &mut Observation, lease: Lease| {
            seen.see(Some(lease.clone()), Instant::now());
            let spec = lease.spec.unwrap();
            (spec.lease_transitions.unwrap(), spec.acquire_time.unwrap().0, spec.renew_time.unwrap().0)
        };
        let lease = seen.ours(&settings("a"), first);
        assert_eq!(written(&mut seen, lease), (0, first, first));
        let lease = seen.ours(&settings("a"), later);
        assert_eq!(written(&mut seen, lease), (0, first, later), "renewed");
        let lease = seen.ours(&settings("b"), later);
        assert_eq!(written(&mut seen, lease), (1, later, later), "taken");
        let free = seen.free(&settings("b"), later);
        assert_eq!(free.spec.as_ref().unwrap().lease_duration_seconds, Some(1));
        assert_eq!(written(&mut seen, free), (1, later, later), "given back");
        assert_eq!(seen.holder(), "");
        let lease = seen.ours(&settings("b"), later);
        assert_eq!(written(&mut seen, lease), (2, later, later), "taken again");
    }
}

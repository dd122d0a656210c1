//! Leader election over a `coordination.k8s.io` Lease, understood by client-go's electors and by us alike.
//!
//! Whoever holds the lease writes; the others watch and wait. Three rules make that safe:
//! - A lease has run out when *we* saw no change of it for its duration. No clock but our own is trusted.
//! - Leadership is a level with an end: [`Leadership::is_leader`] turns false by itself when the deadline to renew passes,
//!   counted from before the last renewal was sent, whatever the task that renews is doing.
//! - Every write of the lease names the version that it was decided on.
//!
//! The lease is created by a PUT to its name, so that `get`, `update` and `create` limited to that name are all the
//! rights it takes; a POST would need the right to create any lease.

mod candidate;
mod holder;
mod leadership;
mod lock;
mod observation;

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

pub use candidate::{Candidate, candidate};
pub use holder::{Holder, holder};
pub use leadership::Leadership;

/// Which lease, who we are, and how patient everybody is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The namespace of the lease.
    pub namespace: String,
    /// The flag by which another is chosen, for hints.
    pub flag: &'static str,
    /// The name of the lease.
    pub name: String,
    /// Who we are: no other candidate may have this name.
    pub identity: String,
    /// How long others wait for a sign of life.
    pub duration: Duration,
    /// How long we lead after our last sign of life. What is left of `duration` is for requests that are under way.
    pub renew_deadline: Duration,
    /// How often a sign of life is given, and how often others look for one.
    pub retry: Duration,
}

impl Settings {
    /// The lease of that name with 60 s duration, 50 s to renew, and a look every 2 s.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            flag: "--lease-namespace",
            name: name.into(),
            identity: identity.into(),
            duration: Duration::from_mins(1),
            renew_deadline: Duration::from_secs(50),
            retry: Duration::from_secs(2),
        }
    }

    /// Checks what would make an election unsafe or idle.
    fn check(&self) -> Result<(), SettingsError> {
        if self.namespace.is_empty() || self.name.is_empty() || self.identity.is_empty() {
            return Err(SettingsError::Unnamed);
        }
        if self.duration <= self.renew_deadline || self.seconds().is_none() {
            return Err(SettingsError::Duration);
        }
        // Others look up to 2.2 times as rarely as `retry` says.
        if self.retry.is_zero() || self.renew_deadline <= self.retry.saturating_mul(2) {
            return Err(SettingsError::Retry);
        }
        Ok(())
    }

    /// The duration as the lease has it: whole seconds, never fewer than meant.
    fn seconds(&self) -> Option<i32> {
        let more = u64::from(self.duration.subsec_nanos() > 0);
        i32::try_from(self.duration.as_secs().checked_add(more)?).ok()
    }

    /// How long a write of the leader may take: what others wait beyond our term, less a fifth for clocks and for the way.
    fn margin(&self) -> Duration {
        self.duration.saturating_sub(self.renew_deadline) * 4 / 5
    }

    /// How long one request may take: several fit into the time to renew.
    fn patience(&self) -> Duration {
        (self.renew_deadline / 5).max(self.retry)
    }
}

/// Settings that no election can be held with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A name is missing.
    #[error("the lease needs a namespace, a name and an identity")]
    Unnamed,
    /// We would lead when others think that we do not.
    #[error("the duration of the lease must be longer than the deadline to renew it, and no longer than 68 years")]
    Duration,
    /// There is no time for a second try.
    #[error("the deadline to renew the lease must be more than twice the retry period, which must not be zero")]
    Retry,
}

/// A name that no other candidate has: the pod's, or else the host's, and something random.
pub fn identity(pod: Option<&str>) -> String {
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let base = pod.map_or_else(host, str::to_owned);
    let base = match base.trim() {
        "" => "rolewright",
        base => base,
    };
    format!("{base}{OURS}{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// Tells a candidate of ours from a controller that does the same job.
const OURS: &str = "_rolewright-";

/// Whether a holder of a lease is no rolewright.
pub(crate) fn is_foreign(holder: &str) -> bool {
    !holder.is_empty() && !holder.contains(OURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_unsafe_or_idle_are_refused() {
        let good = Settings::new("default", "lease", "me");
        assert_eq!(good.check(), Ok(()));
        let seconds = Duration::from_secs;
        let cases = [
            (Settings { identity: String::new(), ..good.clone() }, SettingsError::Unnamed),
            (Settings { name: String::new(), ..good.clone() }, SettingsError::Unnamed),
            (Settings { duration: seconds(50), ..good.clone() }, SettingsError::Duration),
            (Settings { duration: Duration::MAX, ..good.clone() }, SettingsError::Duration),
            (Settings { retry: Duration::ZERO, ..good.clone() }, SettingsError::Retry),
            (Settings { retry: seconds(25), ..good.clone() }, SettingsError::Retry),
        ];
        for (settings, error) in cases {
            assert_eq!(settings.check(), Err(error), "{settings:?}");
        }
    }

    #[test]
    fn durations_are_rounded_up() {
        let lease = |millis| Settings { duration: Duration::from_millis(millis), ..Settings::new("n", "l", "me") };
        assert_eq!(lease(60_000).seconds(), Some(60));
        assert_eq!(lease(60_001).seconds(), Some(61));
    }

    #[test]
    fn writes_end_before_others_lead() {
        let lease = |duration, deadline| Settings {
            duration: Duration::from_secs(duration),
            renew_deadline: Duration::from_secs(deadline),
            ..Settings::new("n", "l", "me")
        };
        for (duration, deadline, margin) in [(60, 50, 8_000), (15, 10, 4_000), (4, 3, 800)] {
            assert_eq!(lease(duration, deadline).margin(), Duration::from_millis(margin), "{duration} and {deadline}");
        }
    }

    #[test]
    fn identities_differ() {
        let (a, b) = (identity(Some("pod-1")), identity(Some("pod-1")));
        assert!(a.starts_with("pod-1_") && a != b, "{a} {b}");
        assert!(identity(Some(" ")).starts_with("rolewright_"));
        assert!(!is_foreign(&a) && !is_foreign("") && is_foreign("crossplane-rbac-manager-1_2b1c"));
        assert!(identity(None).len() > 17);
    }
}

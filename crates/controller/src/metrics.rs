//! What Prometheus is told: `rolewright_<component>_<noun>_<unit|total>`, with labels that can only take few values.

mod labels;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use rolewright_plan::engine::Category;
use rolewright_plan::{Code, Kind};

use crate::lease::Leadership;
pub(crate) use labels::LeaseLabels;
pub use labels::Told;
use labels::{KindLabels, ModuleLabels, OutcomeLabels, ProblemLabels, ReconcileLabels, RenewalLabels, WriteLabels};

/// A scrape in which every metric is, with each of its labels; a test keeps it true.
pub const SCRAPE: &str = include_str!("metrics/expected.txt");

/// From a write that was already under way to one that waited for a person.
const LAGS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0];

/// All numbers that the manager keeps of itself.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    leaderships: Mutex<Vec<(LeaseLabels, Leadership)>>,
    reconciles: Family<ReconcileLabels, Counter>,
    lag: Family<ModuleLabels, Histogram, fn() -> Histogram>,
    queue: Family<ModuleLabels, Gauge>,
    withheld: Family<ModuleLabels, Gauge>,
    problems: Family<ProblemLabels, Gauge>,
    snapshot: Family<KindLabels, Gauge>,
    restarts: Family<KindLabels, Counter>,
    writes: Family<WriteLabels, Counter>,
    repairs: Family<KindLabels, Counter>,
    leader: Family<LeaseLabels, Gauge>,
    terms: Family<LeaseLabels, Counter>,
    renewals: Family<RenewalLabels, Counter>,
    events: Family<OutcomeLabels, Counter>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("rolewright"),
            leaderships: Mutex::default(),
            reconciles: Family::default(),
            lag: Family::new_with_constructor(|| Histogram::new(LAGS)),
            queue: Family::default(),
            withheld: Family::default(),
            problems: Family::default(),
            snapshot: Family::default(),
            restarts: Family::default(),
            writes: Family::default(),
            repairs: Family::default(),
            leader: Family::default(),
            terms: Family::default(),
            renewals: Family::default(),
            events: Family::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let Self { registry, .. } = self;
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version that runs", version);
        let engine = registry.sub_registry_with_prefix("engine");
        engine.register("reconciles", "Plans that were written, by module and outcome", self.reconciles.clone());
        let help = "Time from the news that made a key due until nothing is left to write";
        engine.register_with_unit("lag", help, Unit::Seconds, self.lag.clone());
        engine.register("queue_keys", "Keys that wait to be looked at", self.queue.clone());
        let help = "Writes that are planned and left to somebody else who does the job of the module";
        engine.register("withheld_writes", help, self.withheld.clone());
        engine.register("problems", "Problems that users were told of and that are still there", self.problems.clone());
        let watch = registry.sub_registry_with_prefix("watch");
        watch.register("snapshot_objects", "Objects that are known, by kind", self.snapshot.clone());
        watch.register("restarts", "Watches that had to begin anew with a list", self.restarts.clone());
        let apply = registry.sub_registry_with_prefix("apply");
        apply.register("writes", "Requests that write, by kind, verb and outcome", self.writes.clone());
        apply.register("drift_repairs", "Objects of ours that somebody else changed, mended", self.repairs.clone());
        let lease = registry.sub_registry_with_prefix("lease");
        lease.register("leader", "Whether this process leads, by lease", self.leader.clone());
        lease.register("terms", "Times that this process began to lead, by lease", self.terms.clone());
        lease.register(
            "renewals",
            "Signs of life of the leader, and failures to reach the lease",
            self.renewals.clone(),
        );
        let events = registry.sub_registry_with_prefix("events");
        events.register("sent", "Kubernetes events, by what came of them", self.events.clone());
    }

    /// Shows whether this process leads by a lease, as it is when somebody looks.
    pub fn follow(&self, namespace: &str, name: &str, leadership: Leadership) {
        let mut leaderships = self.leaderships.lock().unwrap_or_else(PoisonError::into_inner);
        leaderships.push((LeaseLabels::of(namespace, name), leadership));
    }

    /// A plan was written: all of it, or not.
    pub fn reconciled(&self, module: &'static str, complete: bool) {
        let outcome = if complete { "complete" } else { "failed" };
        self.reconciles.get_or_create(&ReconcileLabels { module, outcome }).inc();
    }

    /// A key needs no write any more.
    pub fn converged(&self, module: &'static str, after: Duration) {
        self.lag.get_or_create(&ModuleLabels { module }).observe(after.as_secs_f64());
    }

    /// So many keys wait.
    pub fn waiting(&self, module: &'static str, keys: usize) {
        self.queue.get_or_create(&ModuleLabels { module }).set(gauged(keys));
    }

    /// So many writes are planned and left to others.
    pub fn withheld(&self, module: &'static str, writes: usize) {
        self.withheld.get_or_create(&ModuleLabels { module }).set(gauged(writes));
    }

    /// A problem is there that was not, or no longer.
    pub fn problem(&self, module: &'static str, code: Code, there: bool) {
        let problems = self.problems.get_or_create(&ProblemLabels::of(module, code));
        if there {
            problems.inc()
        } else {
            problems.dec()
        };
    }

    /// So many objects of a kind are known.
    pub fn known(&self, kind: &'static Kind, objects: usize) {
        self.snapshot.get_or_create(&KindLabels::of(kind)).set(gauged(objects));
    }

    /// A watch lost its place.
    pub fn watch_restarted(&self, kind: &'static Kind) {
        self.restarts.get_or_create(&KindLabels::of(kind)).inc();
    }

    /// A write was answered. `verb` is one of `Write::verb`.
    pub fn wrote(&self, kind: &'static Kind, verb: &'static str, failure: Option<Category>) {
        self.writes.get_or_create(&WriteLabels::of(kind, verb, failure)).inc();
    }

    /// What somebody else did to an object of ours was undone.
    pub fn repaired(&self, kind: &'static Kind) {
        self.repairs.get_or_create(&KindLabels::of(kind)).inc();
    }

    /// What came of an event.
    pub fn told(&self, told: Told) {
        self.events.get_or_create(&OutcomeLabels { outcome: told.label() }).inc();
    }

    pub(crate) fn renewed(&self, lease: &LeaseLabels, done: bool) {
        let outcome = if done { "ok" } else { "failed" };
        self.renewals.get_or_create(&RenewalLabels { lease: lease.clone(), outcome }).inc();
    }

    pub(crate) fn began_to_lead(&self, lease: &LeaseLabels) {
        self.terms.get_or_create(lease).inc();
    }

    /// All of it in the text format of OpenMetrics.
    pub fn encode(&self) -> String {
        for (lease, leadership) in &*self.leaderships.lock().unwrap_or_else(PoisonError::into_inner) {
            self.leader.get_or_create(lease).set(leadership.is_leader().into());
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

fn gauged(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

//! Servers where nobody but the manager aggregates roles.

use anyhow::Result;
use rolewright_controller::metrics::Metrics;
use rolewright_core::aggregate::fit::Fitter;
use rolewright_plan::Module;
use rolewright_plan::aggregation::{ClusterRoleAggregation, Mode};
use rolewright_server::{Controllers, Settings};
use rolewright_testkit::grants::Grants;
pub(crate) use rolewright_testkit::manifest::{rbac, with};
pub(crate) use rolewright_testkit::place::{PATIENCE, Place, Running, is_idle};

pub(crate) const SUITE: &str = "manager";

/// Our server.
pub(crate) fn ours() -> Result<Place> {
    let controllers = Controllers { aggregation: false, ..Controllers::default() };
    Place::embedded(SUITE, Settings { controllers, ..Settings::default() })
}

/// The real server.
pub(crate) async fn real() -> Result<Option<Place>> {
    Place::kubernetes_only(SUITE, "garbage-collector,namespace,serviceaccount").await
}

/// Grants, and aggregation.
pub(crate) fn modules() -> Vec<Box<dyn Module>> {
    vec![Box::new(Grants), Box::new(ClusterRoleAggregation::new(Mode::Exclusive, Fitter::default()))]
}

/// Starts a manager with both modules.
pub(crate) fn manage(place: &Place) -> Result<Running> {
    place.manage(modules())
}

/// How long it took from news until nothing was left to write, as a dashboard would see it. Times are told, not judged.
pub(crate) fn lag(metrics: &Metrics, module: &str) -> String {
    let text = metrics.encode();
    let read = |name: &str, labels: &[&str]| {
        let start = format!("rolewright_engine_lag_seconds_{name}{{");
        let line =
            text.lines().find(|line| line.starts_with(&start) && labels.iter().all(|label| line.contains(label)));
        line.and_then(|line| line.rsplit(' ').next()).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let module = format!("module=\"{module}\"");
    let (count, sum) = (read("count", &[&module]), read("sum", &[&module]));
    let within = read("bucket", &["le=\"1.0\"", &module]);
    format!("{within} of {count} converged within a second, {:.1} ms on average", 1000.0 * sum / count.max(1.0))
}

//! A name of a metric is an API: all of them, as they are scraped.

use std::time::Duration;

use rolewright_plan::engine::Category;
use rolewright_plan::{Code, rbac};

use super::{LeaseLabels, Metrics, Told};
use crate::lease::Leadership;

#[test]
fn every_metric_has_its_name() {
    let metrics = Metrics::default();
    metrics.reconciled("aggregation", true);
    metrics.reconciled("aggregation", false);
    metrics.converged("aggregation", Duration::from_millis(3));
    metrics.waiting("aggregation", 7);
    metrics.withheld("aggregation", 2);
    for there in [true, true, false] {
        metrics.problem("aggregation", Code::UnionTooLarge, there);
    }
    metrics.known(&rbac::CLUSTER_ROLE, 80);
    metrics.watch_restarted(&rbac::CLUSTER_ROLE);
    metrics.wrote(&rbac::CLUSTER_ROLE, "update", None);
    metrics.wrote(&rbac::CLUSTER_ROLE, "update", Some(Category::Conflict));
    metrics.repaired(&rbac::CLUSTER_ROLE);
    let lease = LeaseLabels::of("rolewright-system", "rolewright");
    metrics.renewed(&lease, true);
    metrics.renewed(&lease, false);
    metrics.began_to_lead(&lease);
    metrics.follow("rolewright-system", "rolewright", Leadership::of_nobody());
    metrics.follow("crossplane-system", "theirs", Leadership::of_nobody());
    for told in [Told::Created, Told::Known, Told::Failed, Told::Dropped] {
        metrics.told(told);
    }
    let text = metrics.encode().replace(env!("CARGO_PKG_VERSION"), "VERSION");
    // Families list their members in no order.
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("_bucket{")).collect();
    for run in lines.chunk_by_mut(|a, b| a.starts_with('#') == b.starts_with('#')) {
        if run.first().is_some_and(|line| !line.starts_with('#')) {
            run.sort_unstable();
        }
    }
    assert_eq!(lines.join("\n"), super::SCRAPE.trim_end());
    assert_eq!(text.matches("_bucket{").count(), super::LAGS.len() + 1);
}

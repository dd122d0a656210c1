//! The kinds that have particularities. Each file is a kind or a family of them; all others are plain storage.

use crate::catalog::Conversion;
use crate::strategy::Strategy;

struct Plain;

impl Strategy for Plain {}

/// The rules of a resource.
pub(crate) fn strategy(group: &str, resource: &str) -> &'static dyn Strategy {
    match (group, resource) {
        _ => &Plain,
    }
}

/// How a resource differs from the stored form of its objects.
pub(crate) fn conversion(group: &str, version: &str, resource: &str) -> Option<Conversion> {
    match (group, version, resource) {
        ("events.k8s.io", "v1", "events") | ("autoscaling", "v1", "horizontalpodautoscalers") => {
            Some(Conversion { from_stored: |_| {}, to_stored: |_| {} })
        }
        _ => None,
    }
}

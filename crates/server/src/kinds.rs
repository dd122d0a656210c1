//! The kinds that have particularities. Each file is a kind or a family of them; all others are plain storage.

use crate::strategy::Strategy;

struct Plain;

impl Strategy for Plain {}

/// The rules of a resource.
pub(crate) fn strategy(group: &str, resource: &str) -> &'static dyn Strategy {
    match (group, resource) {
        _ => &Plain,
    }
}

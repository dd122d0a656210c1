//! The kinds that have particularities. Each file is a kind or a family of them; all others are plain storage.

mod admission;
mod apiservice;
mod autoscaling;
mod batch;
mod defaults;
mod networking;
#[cfg(test)]
mod oracle;
mod pod;
mod quantity;
mod quota;
mod read;
mod rules;
mod semantic;
mod service;
mod storage;
mod stored;
mod workload;

use crate::strategy::Strategy;

struct Plain;

impl Strategy for Plain {}

/// The rules of a resource.
pub(crate) fn strategy(group: &str, resource: &str) -> &'static dyn Strategy {
    match (group, resource) {
        (group, resource) => stored::strategy(group, resource).unwrap_or(&Plain),
    }
}

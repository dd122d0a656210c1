//! One plan, written once by whoever runs us.

use std::sync::Arc;

use kube::Client;
use rolewright_plan::Plan;
use rolewright_plan::engine::Outcome;
use tokio::sync::Semaphore;

use crate::apply::{PATIENCE, Writer};
use crate::metrics::Metrics;
use crate::served::Versions;

/// So many requests are under way at the same time.
const REQUESTS: usize = 8;

/// Writes a plan, whoever leads; returns what came of it.
pub async fn write(client: Client, plan: &Plan) -> Vec<Outcome> {
    let writer = Writer {
        client,
        versions: Versions::default(),
        requests: Arc::new(Semaphore::new(REQUESTS)),
        may_write: Arc::new(|| true),
        patience: PATIENCE,
        metrics: Arc::new(Metrics::default()),
    };
    writer.write(plan).await
}

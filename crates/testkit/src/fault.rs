//! Faults between a Kubernetes client and a server, as a tower layer.
//!
//! ```ignore
//! let faults = FaultLayer::new(seed, Plan::rough());
//! let client = kube::Client::new(faults.layer(server.router_as(admin())), "default");           // without a socket
//! let client = ClientBuilder::try_from(config)?.with_layer(&faults).build();                     // over HTTPS
//! ```
//!
//! Which fault hits what follows from the seed, the request's method and path, and how many such requests came before:
//! not from time, and not from what other requests do meanwhile. Nothing is injected that a correct client cannot get
//! over: what a watch does not deliver is delivered after it began anew, and events of one object keep their order.

mod answer;
mod dice;
mod plan;
mod service;
mod state;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use tower::Layer;

pub use plan::{Fault, Kill, Plan};
pub use service::{FaultBody, Faulty};
use state::State;

/// Puts faults in front of a service. Clones share what they count.
#[derive(Clone, Debug)]
pub struct FaultLayer(Arc<State>);

/// What passed, and what did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were made, those included that never reached the server.
    pub requests: u64,
    /// Writes that reached the server.
    pub writes: u64,
    /// What was injected, how often.
    pub faults: BTreeMap<Fault, u64>,
}

impl FaultLayer {
    /// Faults by this plan.
    pub fn new(seed: u64, plan: Plan) -> Self {
        Self(Arc::new(State::new(seed, plan)))
    }

    /// No more faults from now on: what is left must converge.
    pub fn quiet(&self) {
        self.0.quiet();
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.0.counts()
    }

    /// Done when the write came that kills: the client gets no answer any more and should be dropped.
    pub async fn killed(&self) {
        self.0.killed().await;
    }
}

impl<S> Layer<S> for FaultLayer {
    type Service = Faulty<S>;

    fn layer(&self, inner: S) -> Faulty<S> {
        Faulty::new(inner, self.0.clone())
    }
}

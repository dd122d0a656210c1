//! What the tests of all crates share.
//!
//! - [`strategy`]: random worlds, rules, selectors and questions that are mostly meaningful: names collide, wildcards
//!   nest, bindings dangle.
//! - [`wire`]: Kubernetes' JSON for core's values.
//! - [`testbed`]: the Go program around Kubernetes' own code: [`oracle`] asks single questions, [`apiserver`] runs the real
//!   server.
//! - [`grants`]: the smallest module of the manager that needs all that modules share.
//! - [`manifest`]: objects as tests write them down.
//! - `place`, with the feature of that name: a server of either kind with managers on it.
//! - [`client`]: HTTP/2 over TLS, for servers of either kind.
//! - [`mod@compare`]: random cases against the oracle; [`writes`]: what becomes of a write on both sides.
//! - [`openapi`]: documents as both servers have them.
//! - [`random`]: choices from a seed.
//! - [`peers`]: other projects' programs that run on both servers, and their custom resource definitions.
//! - [`mod@bench`]: rows of the comparison tables; [`process`]: what a process takes.
//! - [`fault`]: what goes wrong between a client and a server; [`requests`]: what is asked for and refused.
//! - [`corpus`]: counterexamples that were found once and are replayed for ever.

pub mod apiserver;
pub mod ask;
pub mod bench;
pub mod client;
pub mod compare;
pub mod corpus;
pub mod fault;
pub mod features;
pub mod grants;
pub mod manifest;
pub mod openapi;
pub mod oracle;
pub mod peers;
#[cfg(feature = "place")]
pub mod place;
pub mod process;
pub mod random;
pub mod requests;
pub mod strategy;
pub mod testbed;
pub mod wire;
pub mod writes;

/// The embedded server, for suites of crates that must not know it.
pub mod embedded {
    pub use rolewright_server::{Controllers, Listening, Server, Settings, admin};
}

// Suites of crates below the server need what the server knows of metadata, and may not depend on it.
pub use rolewright_server::strategy::embedded::Metadata;

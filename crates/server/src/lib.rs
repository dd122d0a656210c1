//! The embedded Kubernetes-compatible API server.

pub mod facts;
mod kinds;
pub mod query;
pub mod selector;
pub mod status;
pub mod strategy;

//! The embedded Kubernetes-compatible API server.

pub mod codec;
pub mod facts;
mod kinds;
pub mod status;
pub mod strategy;

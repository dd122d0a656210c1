//! The embedded Kubernetes-compatible API server.

pub mod facts;
pub mod kinds;
pub mod status;
pub mod strategy;

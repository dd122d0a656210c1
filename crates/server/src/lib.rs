//! The embedded Kubernetes-compatible API server.

pub mod audit;
pub mod authn;
pub mod facts;
mod kinds;
pub mod kubeconfig;
pub mod status;
pub mod strategy;
pub mod tls;
pub mod uid;

//! The embedded Kubernetes-compatible API server.

pub mod audit;
pub mod authn;
mod catalog;
mod cluster;
pub mod codec;
pub mod facts;
mod http;
pub mod kinds;
pub mod kubeconfig;
pub mod patch;
pub mod query;
pub mod selector;
pub mod status;
pub mod store;
pub mod strategy;
mod time;
pub mod tls;
pub mod uid;

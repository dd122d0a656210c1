//! The embedded Kubernetes-compatible API server.

mod catalog;
mod cluster;
pub mod facts;
mod http;
mod kinds;
pub mod status;
pub mod store;
pub mod strategy;
pub mod table;
mod time;

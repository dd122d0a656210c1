//! The embedded Kubernetes-compatible API server.

mod catalog;
mod cluster;
pub mod codec;
pub mod facts;
mod http;
mod kinds;
pub mod managed;
pub mod query;
pub mod selector;
pub mod status;
pub mod store;
pub mod strategy;
mod time;

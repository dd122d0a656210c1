//! The embedded Kubernetes-compatible API server.

pub mod audit;
pub mod authn;
mod bootstrap;
mod catalog;
mod cluster;
pub mod codec;
mod controller;
mod credentials;
mod custom;
pub mod facts;
mod http;
mod json;
pub mod kinds;
pub mod kubeconfig;
mod listen;
pub mod managed;
mod openapi;
mod ownership;
pub mod patch;
pub mod query;
mod registry;
mod restore;
mod review;
pub mod selector;
mod server;
pub mod status;
pub mod store;
pub mod strategy;
pub mod table;
mod time;
pub mod tls;
pub mod uid;

pub use cluster::Guard;
pub use credentials::CredentialError;
pub use listen::{ListenError, Listening};
pub use server::{Controllers, Server, Settings, StartError, admin};

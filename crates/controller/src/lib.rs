//! The manager's hands: it watches a cluster for the engine, writes what the engine plans, and says what came of it.
//!
//! Everything that decides is in `rolewright-plan`; everything here talks to the API server.

mod apply;
mod clock;
pub mod connect;
pub mod events;
pub mod health;
pub mod lease;
pub mod load;
pub mod manager;
pub mod metrics;
pub mod observer;
pub mod once;
mod raw;
pub mod run;
mod served;
pub mod tasks;
pub mod telemetry;
mod watch;
pub mod witness;

pub use manager::{Leading, Manager, Settings};
pub use observer::Observer;

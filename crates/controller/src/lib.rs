//! The manager's hands: it watches a cluster for the engine, writes what the engine plans, and says what came of it.
//!
//! Everything that decides is in `rolewright-plan`; everything here talks to the API server.

mod apply;
mod clock;
pub mod connect;
pub mod load;
pub mod manager;
mod raw;
mod served;
mod watch;

pub use manager::{Leading, Manager, Settings};

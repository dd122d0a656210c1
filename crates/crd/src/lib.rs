//! Custom resource definitions: whether they are valid, and what they make of objects.
//!
//! Pure: no I/O, no clock. Definitions and objects come from clients, so every step is bounded.

mod default;
mod format;
mod go;
mod lists;
pub mod metadata;
mod pattern;
mod prune;
mod ratchet;
pub mod schema;
pub mod strategy;
mod validate;

pub use pattern::Pattern;
pub use schema::Schema;

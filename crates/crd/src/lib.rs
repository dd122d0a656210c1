//! Custom resource definitions: whether they are valid, and what they make of objects.
//!
//! Pure: no I/O, no clock. Definitions and objects come from clients, so every step is bounded.

mod default;
pub mod definition;
mod format;
mod go;
mod lists;
pub mod metadata;
pub mod naming;
mod pattern;
mod prune;
mod ratchet;
mod regexp;
pub mod schema;
pub mod strategy;
mod validate;
pub mod version;

pub use pattern::Pattern;
pub use schema::Schema;

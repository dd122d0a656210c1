//! Custom resource definitions: whether they are valid, and what they make of objects.
//!
//! Pure: no I/O, no clock. Definitions and objects come from clients, so every step is bounded.

mod default;
mod pattern;
mod prune;
pub mod schema;

pub use pattern::Pattern;
pub use schema::Schema;

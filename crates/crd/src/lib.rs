//! Custom resource definitions: whether they are valid, and what they make of objects.
//!
//! Pure: no I/O, no clock. Definitions and objects come from clients, so every step is bounded.

pub mod columns;
mod default;
pub mod definition;
mod format;
pub mod go;
#[cfg(test)]
mod hostile;
pub mod jsonpath;
mod lists;
pub mod metadata;
pub mod naming;
pub mod openapi;
mod pattern;
mod prune;
mod ratchet;
pub mod rules;
pub mod schema;
pub mod strategy;
mod validate;
pub mod version;

pub use columns::Columns;
pub use pattern::Pattern;
pub use rules::Rules;
pub use schema::Schema;

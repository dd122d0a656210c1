//! Custom resource definitions: whether they are valid, and what they make of objects.
//!
//! Pure: no I/O, no clock. Definitions and objects come from clients, so every step is bounded.

pub mod definition;

//! Selectors as clients write them into the query of a URL.

pub mod field;
pub mod label;

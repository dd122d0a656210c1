//! Kubernetes' dialect of the Common Expression Language: parsing, type checking, cost and evaluation.
//!
//! Pure: no I/O, no clock. Expressions and values come from clients, so every step is bounded.

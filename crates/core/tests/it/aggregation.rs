//! Aggregation by example.

mod cases;
mod changes;
mod fit;
mod notation;
mod provenance;
mod size;
mod work;

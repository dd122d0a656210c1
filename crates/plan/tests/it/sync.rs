//! Config Sync's permissions: a world in, what is there once all plans are followed out.

mod asking;
mod departing;
mod keeping;
mod laws;
mod repo;
mod taking_over;
mod world;

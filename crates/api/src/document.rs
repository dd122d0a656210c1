//! Text that Kubernetes reads: JSON and YAML with the eyes of Go, before anything has a type.

pub mod base64;
pub mod json;
mod node;
pub mod text;
pub mod tree;
pub mod yaml;

pub use node::{MAX_DEPTH, Node};

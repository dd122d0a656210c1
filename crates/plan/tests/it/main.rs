//! What holds of planning, whatever happens in a cluster.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod cluster;
mod crossplane;
mod order_laws;
mod sync;

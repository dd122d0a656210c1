//! The manager's parts against a server: the real one, ours over TLS, and ours without a socket.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod events;
mod faults;
mod health;
mod lease;
mod places;

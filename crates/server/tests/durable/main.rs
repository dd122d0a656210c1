#![cfg(test)]
//! A cluster that outlives its process: what was acknowledged is there after a restart, what was not is never shown, and
//! what cannot be trusted is not served.

mod client;
mod failing;
mod files;
mod growing;
mod restarting;
mod watching;

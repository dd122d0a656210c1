//! Core, asked as its users ask it: tables of cases, and laws over random input.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]

mod aggregation;
mod aggregation_laws;
mod allocation;
mod authorizer;
mod bootstrapping;
mod covering;
mod difference;
mod escalating;
mod explaining;
mod laws;
mod matching;
mod selector;
mod traps;
mod validation;
mod wire;

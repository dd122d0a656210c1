//! Random input that is mostly meaningful.
//!
//! Words come from short lists, so that names collide, patterns nest and references sometimes hit and sometimes dangle.
//! Questions are drawn *from the world*: most are made to match some rule and then often twisted in one respect, because
//! a purely random question is nearly always denied and tests nothing.

mod ask;
pub mod document;
mod object;
mod rule;
pub mod schema;
pub mod words;
mod world;

pub use ask::{AskSeed, ask_seed};
pub use object::{any_binding, any_label_selector, any_role};
pub use rule::{rule, rules, tidy_rule};
pub use world::{aggregation, binding, cluster_role, label_selector, labels, world};

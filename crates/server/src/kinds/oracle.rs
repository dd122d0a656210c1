//! The same objects to these rules and to Kubernetes' own code.

#![expect(clippy::print_stdout, reason = "a suite prints what it covered")]

mod changing;
mod defaulting;
mod preparing;
mod random;
mod tally;

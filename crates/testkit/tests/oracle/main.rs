//! The same questions to core and to Kubernetes' own Go code, over random worlds. Not one answer may differ.
//!
//! `ROLEWRIGHT_ORACLE_DECISIONS` sets how many decisions are compared (50,000 unless told); the other suites scale with
//! it. A counterexample is shrunk, kept under `corpus/` and replayed by every later run.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "what was covered is printed")]

mod aggregating;
mod authorize;
mod decoding;
mod escalate;
mod managing;
mod patching;
mod random;
mod rulesets;
mod selecting;
mod tables;
mod unordered;
mod validating;

//! The same expressions to our engine and to cel-go in Kubernetes' environment: issues, types, estimates, values, faults and costs
//! must be the same.
//!
//! `ROLEWRIGHT_CEL_EXPRESSIONS` sets how many random expressions are compared.

// WHY: tells clippy that helpers are test code as well.
#![cfg(test)]
#![expect(clippy::print_stdout, reason = "what was covered is printed")]

mod compare;
mod generate;
mod table;

use compare::{Case, compare};
use rolewright_testkit::oracle::Oracle;

#[test]
fn the_table_is_answered_alike() -> anyhow::Result<()> {
    let Some(mut oracle) = Oracle::start("cel table")? else { return Ok(()) };
    let cases = table::cases();
    println!("{} expressions of the table", cases.len());
    compare(&mut oracle, &cases)
}

#[test]
fn random_expressions_are_answered_alike() -> anyhow::Result<()> {
    let Some(mut oracle) = Oracle::start("cel random")? else { return Ok(()) };
    let count = std::env::var("ROLEWRIGHT_CEL_EXPRESSIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(4000);
    let cases: Vec<Case> = generate::cases(count);
    println!("{} random expressions", cases.len());
    compare(&mut oracle, &cases)
}

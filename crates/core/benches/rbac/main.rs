//! Core against Kubernetes' own Go code on the same world, in the same run.

mod aggregate;
mod covers;
mod decide;
mod difference;

use anyhow::Result;
use rolewright_testkit::oracle::Oracle;

fn main() -> Result<()> {
    let mut oracle = Oracle::start("the peer's side of the bench")?;
    decide::run(oracle.as_mut())?;
    covers::run(oracle.as_mut())?;
    aggregate::run(oracle.as_mut())?;
    difference::run()
}

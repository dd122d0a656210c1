//! Runs a comparison with Kubernetes over kept and over random cases.

use std::cell::RefCell;

use anyhow::bail;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::corpus;
use crate::oracle::Oracle;

/// How many decisions a run compares.
///
/// # Panics
///
/// If the environment asks for something else than a number.
pub fn decisions() -> u32 {
    let set = std::env::var("ROLEWRIGHT_ORACLE_DECISIONS").ok();
    set.map_or(50_000, |n| n.parse().expect("ROLEWRIGHT_ORACLE_DECISIONS is a number"))
}

/// Compares `cases` random cases, after all kept ones. `differs` returns what differs, or nothing.
///
/// # Panics
///
/// If anything differs. The smallest case that does is kept.
pub fn compare<C>(
    suite: &str,
    cases: u32,
    strategy: impl Strategy<Value = C>,
    differs: impl Fn(&mut Oracle, &C) -> anyhow::Result<Option<String>>,
) where
    C: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let found = find(suite, cases, strategy, differs).err().map(|error| format!("{error:#}"));
    assert!(found.is_none(), "{}", found.unwrap_or_default());
}

fn find<C>(
    suite: &str,
    cases: u32,
    strategy: impl Strategy<Value = C>,
    differs: impl Fn(&mut Oracle, &C) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<()>
where
    C: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let Some(oracle) = Oracle::start(suite)? else { return Ok(()) };
    let oracle = RefCell::new(oracle);
    let run = |case: &C| differs(&mut oracle.borrow_mut(), case).expect("the oracle answers");
    for (file, case) in corpus::load::<C>(suite)? {
        if let Some(difference) = run(&case) {
            bail!("{suite}/{file}: {difference}");
        }
    }
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&strategy, |case| match run(&case) {
        Some(difference) => Err(TestCaseError::fail(difference)),
        None => Ok(()),
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(TestError::Fail(difference, case)) => {
            let path = corpus::keep(suite, &case)?;
            let text = serde_json::to_string_pretty(&case)?;
            bail!("{difference}\n{text}\nkept as `{}`", path.display())
        }
        Err(TestError::Abort(why)) => bail!("{suite}: {why}"),
    }
}

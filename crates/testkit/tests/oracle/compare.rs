//! Runs a comparison over kept and over random cases.

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use rolewright_testkit::corpus;
use rolewright_testkit::oracle::Oracle;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How many decisions a run compares.
pub(crate) fn decisions() -> u32 {
    let set = std::env::var("ROLEWRIGHT_ORACLE_DECISIONS").ok();
    set.map_or(50_000, |n| n.parse().expect("ROLEWRIGHT_ORACLE_DECISIONS is a number"))
}

/// Compares `cases` random cases, after all kept ones. `differs` returns what differs, or nothing.
pub(crate) fn compare<C>(
    suite: &str,
    cases: u32,
    strategy: impl Strategy<Value = C>,
    differs: impl Fn(&mut Oracle, &C) -> anyhow::Result<Option<String>>,
) where
    C: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let Some(oracle) = Oracle::start(suite).expect("the oracle starts") else { return };
    let oracle = RefCell::new(oracle);
    let run = |case: &C| differs(&mut oracle.borrow_mut(), case).expect("the oracle answers");
    for (file, case) in corpus::load::<C>(suite).expect("the corpus is readable") {
        if let Some(difference) = run(&case) {
            panic!("{suite}/{file}: {difference}");
        }
    }
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&strategy, |case| match run(&case) {
        Some(difference) => Err(TestCaseError::fail(difference)),
        None => Ok(()),
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(difference, case)) => {
            let path = corpus::keep(suite, &case).expect("the corpus is writable");
            let text = serde_json::to_string_pretty(&case).expect("a case is JSON");
            panic!("{difference}\n{text}\nkept as `{}`", path.display());
        }
        Err(TestError::Abort(why)) => panic!("{suite}: {why}"),
    }
}

/// Both sides as sets of texts, for lists whose order Kubernetes leaves to its caches.
pub(crate) fn differ_as_bags<T: Serialize>(what: &str, ours: &[T], theirs: &[T]) -> Option<String> {
    let bag = |list: &[T]| {
        let mut texts: Vec<String> = list.iter().map(|x| serde_json::to_string(x).expect("values are JSON")).collect();
        texts.sort();
        texts
    };
    let (ours, theirs) = (bag(ours), bag(theirs));
    (ours != theirs).then(|| format!("{what}: ours {ours:?}, Kubernetes {theirs:?}"))
}

/// The single messages in an error text of Kubernetes, which puts several into brackets in no particular order.
pub(crate) fn messages(text: &str) -> BTreeSet<String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    inner.split(", ").filter(|message| !message.is_empty()).map(ToOwned::to_owned).collect()
}

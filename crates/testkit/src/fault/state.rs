//! What clones of a layer share.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::Counts;
use super::dice::{self, Class, Verdict};
use super::plan::{Fault, Plan};

#[derive(Debug)]
pub(super) struct State {
    seed: u64,
    pub(super) plan: Plan,
    inner: Mutex<Inner>,
    killed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Inner {
    quiet: bool,
    counts: Counts,
    /// How many requests of a class went to a path.
    seen: HashMap<(Class, String), u64>,
}

impl State {
    pub(super) fn new(seed: u64, plan: Plan) -> Self {
        Self { seed, plan, inner: Mutex::default(), killed: watch::Sender::new(false) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn spares(&self, path: &str) -> bool {
        self.plan.spares.iter().any(|spared| path.contains(spared))
    }

    /// Decides about a request, and counts it. With the number of such requests before it.
    pub(super) fn request(&self, class: Class, method: &str, path: &str) -> (Verdict, u64) {
        let mut inner = self.inner();
        let seen = inner.seen.entry((class, format!("{method} {path}"))).or_default();
        let nth = *seen;
        *seen += 1;
        inner.counts.requests += 1;
        let mut verdict = dice::request(self.seed, &self.plan, class, method, path, nth);
        if inner.quiet {
            verdict = Verdict { fault: None, done: true };
        }
        let kill = self.plan.kill.filter(|kill| inner.counts.writes + 1 == kill.at_write && !inner.quiet);
        if class == Class::Write && verdict.done {
            if let Some(kill) = kill {
                verdict = Verdict { fault: Some(Fault::Killed), done: kill.done };
            }
            inner.counts.writes += u64::from(verdict.done);
        }
        if let Some(fault) = verdict.fault {
            *inner.counts.faults.entry(fault).or_default() += 1;
        }
        (verdict, nth)
    }

    /// Decides about an event, and counts what goes wrong.
    pub(super) fn event(&self, stream: u64, nth: u64) -> Option<Fault> {
        if self.inner().quiet { None } else { dice::event(stream, &self.plan, nth) }
    }

    pub(super) fn count(&self, fault: Fault) {
        *self.inner().counts.faults.entry(fault).or_default() += 1;
    }

    pub(super) fn stream(&self, path: &str, nth: u64) -> u64 {
        dice::stream(self.seed, path, nth)
    }

    pub(super) fn quiet(&self) {
        self.inner().quiet = true;
    }

    pub(super) fn counts(&self) -> Counts {
        let Counts { requests, writes, ref faults } = self.inner().counts;
        Counts { requests, writes, faults: BTreeMap::clone(faults) }
    }

    pub(super) fn kill(&self) {
        self.killed.send_replace(true);
    }

    pub(super) fn is_killed(&self) -> bool {
        *self.killed.borrow()
    }

    pub(super) async fn killed(&self) {
        // The sender is ours.
        let _ = self.killed.subscribe().wait_for(|killed| *killed).await;
    }
}

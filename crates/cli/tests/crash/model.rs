//! What the clients know: what they sent, what was acknowledged, what they saw.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, bail, ensure};
use tokio::sync::Notify;

use crate::process::{Folder, undisturbed};

/// A simple generator: a seed is a run, more or less.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub(crate) fn fork(&mut self) -> Self {
        Self::new(self.below(usize::MAX >> 33) as u64)
    }
}

/// What is in an object: a text of whoever wrote it last; none if it is not there.
pub(crate) type Content = Option<String>;

/// An object that one client writes, one write after the other.
#[derive(Clone, Default)]
struct Owned {
    /// After the last acknowledged write.
    acknowledged: Content,
    /// After the write that nobody answered.
    in_flight: Option<Content>,
}

/// All that is known.
#[derive(Default)]
pub(crate) struct Model {
    owned: RefCell<BTreeMap<String, Owned>>,
    /// Objects that everybody writes: each text that was sent.
    sent: RefCell<BTreeMap<String, Vec<String>>>,
    /// What each revision is: an object and its content.
    revisions: RefCell<HashMap<u64, (String, Content)>>,
    /// The newest revision of each object that anybody was told of.
    newest: RefCell<BTreeMap<String, (u64, Content)>>,
    /// The largest revision that anybody was told of.
    largest: Cell<u64>,
    /// The last revision on the disk before the server started.
    pub(crate) on_disk: Cell<u64>,
    /// What somebody noticed that must not be.
    faults: RefCell<Vec<String>>,
    /// Writers and watchers that still run.
    running: Cell<usize>,
    ended: Notify,
    pub(crate) acknowledgements: Cell<usize>,
    in_flight_kept: Cell<usize>,
    in_flight_lost: Cell<usize>,
    pub(crate) events: Cell<usize>,
}

impl Model {
    /// A write is on its way.
    pub(crate) fn send(&self, path: &str, content: Content) {
        self.owned.borrow_mut().entry(path.to_owned()).or_default().in_flight = Some(content);
    }

    /// It was acknowledged.
    pub(crate) fn acknowledge(&self, path: &str) {
        let mut owned = self.owned.borrow_mut();
        let owned = owned.entry(path.to_owned()).or_default();
        if let Some(content) = owned.in_flight.take() {
            owned.acknowledged = content;
        }
        self.acknowledgements.set(self.acknowledgements.get() + 1);
    }

    /// What an object of a client of its own must be now.
    pub(crate) fn content(&self, path: &str) -> Content {
        self.owned.borrow().get(path).and_then(|owned| owned.acknowledged.clone())
    }

    /// A text for an object that everybody writes is on its way.
    pub(crate) fn send_shared(&self, path: &str, text: &str) {
        self.sent.borrow_mut().entry(path.to_owned()).or_default().push(text.to_owned());
    }

    /// Somebody was told that an object was this at a revision.
    pub(crate) fn told(&self, path: &str, revision: u64, content: &Content) -> Result<()> {
        self.told_of(revision);
        let told = (path.to_owned(), content.clone());
        let known = self.revisions.borrow_mut().entry(revision).or_insert_with(|| told.clone()).clone();
        ensure!(known == told, "revision {revision} is {known:?} and {told:?}");
        let mut newest = self.newest.borrow_mut();
        let newest = newest.entry(path.to_owned()).or_default();
        if revision > newest.0 {
            *newest = (revision, content.clone());
        }
        Ok(())
    }

    /// Somebody was told that the cluster is at a revision.
    pub(crate) fn told_of(&self, revision: u64) {
        self.largest.set(self.largest.get().max(revision));
    }

    /// Compares what is there after a restart with what is known.
    pub(crate) fn compare(&self, found: &BTreeMap<String, (u64, String)>) -> Result<()> {
        for (path, owned) in self.owned.borrow_mut().iter_mut() {
            let now = found.get(path).map(|(_, text)| text.clone());
            let in_flight = owned.in_flight.take();
            if now == owned.acknowledged {
                self.in_flight_lost.set(self.in_flight_lost.get() + usize::from(in_flight.is_some()));
            } else if in_flight.as_ref() == Some(&now) {
                self.in_flight_kept.set(self.in_flight_kept.get() + 1);
            } else {
                bail!("{path} is {now:?}, acknowledged was {:?}, in flight {in_flight:?}", owned.acknowledged);
            }
            owned.acknowledged = now;
        }
        for (path, sent) in self.sent.borrow().iter() {
            let Some((_, text)) = found.get(path) else { continue };
            ensure!(sent.contains(text), "{path} is {text}, which nobody sent");
        }
        for (path, (revision, content)) in self.newest.borrow().iter() {
            match found.get(path) {
                Some((now, text)) if now == revision => {
                    ensure!(content.as_ref() == Some(text), "{path} at {revision} is {text}, was {content:?}");
                }
                Some((now, _)) => ensure!(now > revision, "{path} went back from {revision} to {now}"),
                // Whether it may be gone is said by whoever writes it; shared ones are never deleted.
                None => ensure!(!self.sent.borrow().contains_key(path), "{path} is gone, was at {revision}"),
            }
        }
        Ok(())
    }

    /// Nothing that anybody was told of is newer than what is on the disk.
    pub(crate) fn check_disk(&self, folder: &Folder) -> Result<()> {
        let report = undisturbed(|| rolewright_server::store::check(folder.path())).context("what the kill left")?;
        ensure!(report.revision >= self.on_disk.get(), "{} after {}", report.revision, self.on_disk.get());
        ensure!(report.revision >= self.largest.get(), "told of {}, kept {}", self.largest.get(), report.revision);
        self.on_disk.set(report.revision);
        Ok(())
    }

    pub(crate) fn starts(&self) {
        self.running.set(self.running.get() + 1);
    }

    pub(crate) fn ends(&self, noticed: Result<()>) {
        self.faults.borrow_mut().extend(noticed.err().map(|fault| format!("{fault:#}")));
        self.running.set(self.running.get() - 1);
        self.ended.notify_one();
    }

    /// Waits until everybody has noticed that the server is gone.
    pub(crate) async fn come_to_rest(&self) -> Result<()> {
        while self.running.get() > 0 {
            self.ended.notified().await;
        }
        let faults = self.faults.borrow();
        ensure!(faults.is_empty(), "{faults:?}");
        Ok(())
    }

    /// The run was worth something.
    pub(crate) fn covered(&self, rounds: usize) {
        let seen = [
            ("acknowledged writes", self.acknowledgements.get(), 8 * rounds),
            ("events seen", self.events.get(), 8 * rounds),
            ("writes in flight that were kept", self.in_flight_kept.get(), rounds / 10),
            ("writes in flight that were lost", self.in_flight_lost.get(), rounds / 10),
        ];
        for (what, count, least) in seen {
            assert!(count >= least, "only {count} {what}");
        }
    }
}

//! What was done and is not stored yet, and the thread that stores it.
//!
//! A transaction is visible to the next one at once, but nobody is told of it before it is stored: answers wait for the
//! revision that they show, watches stop there. While one block is on its way to the disk, the transactions of everybody
//! else gather for the next: however many clients write, they share the wait.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use rolewright_core::Name;
use tokio::sync::watch;

use super::{Cluster, Collection, Entry, Page, State};
use crate::status::Failure;
use crate::store::record::{Writer, stored_size};
use crate::store::{Payload, Store};

/// One object as a transaction leaves it.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) resource: Name,
    pub(super) entry: Arc<Entry>,
    pub(super) gone: bool,
}

/// One transaction.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) revision: u64,
    pub(super) changes: Vec<Noted>,
    pub(super) touched: BTreeSet<Collection>,
}

/// Transactions on their way to the store.
pub(crate) struct Journal {
    queue: Mutex<Queue>,
    wake: Condvar,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct Queue {
    commits: Vec<Commit>,
    closed: bool,
}

#[derive(Clone, Default)]
struct Progress {
    /// Everything up to here is stored.
    durable: u64,
    failed: Option<Arc<str>>,
    /// The store was given back.
    over: bool,
}

/// The log is rewritten when it is this much larger than twice what is in it.
const SLACK: u64 = 1 << 20;
/// The size of the blocks of a rewritten log, and the most that goes into one block of transactions.
const BLOCK: usize = 1 << 20;
const MOST_BLOCK: usize = 64 << 20;

impl Journal {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: Mutex::default(),
            wake: Condvar::new(),
            progress: watch::Sender::new(Progress::default()),
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nobody panics while holding it.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// INVARIANT: called under the state's lock, so that commits come in the order of their revisions.
    pub(super) fn push(&self, commit: Commit) {
        self.queue().commits.push(commit);
        self.wake.notify_one();
    }

    /// Everything up to this revision is stored.
    pub(super) fn durable(&self) -> u64 {
        self.progress.borrow().durable
    }

    /// What was loaded is stored.
    pub(super) fn start_at(&self, revision: u64) {
        self.progress.send_modify(|progress| progress.durable = revision);
    }

    pub(super) async fn reached(&self, revision: u64) -> Result<(), Failure> {
        if self.durable() >= revision {
            return Ok(());
        }
        let mut progress = self.progress.subscribe();
        let settled = |progress: &Progress| progress.durable >= revision || progress.failed.is_some() || progress.over;
        // The sender lives as long as the journal, which this borrows.
        let Ok(progress) = progress.wait_for(settled).await else { return Ok(()) };
        match &progress.failed {
            _ if progress.durable >= revision => Ok(()),
            Some(why) => Err(Failure::internal(format!("cannot store: {why}"))),
            None => Err(Failure::internal("cannot store: the server has ended")),
        }
    }

    /// Why something could not be stored, if it could not.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        self.progress.borrow().failed.clone()
    }

    /// Done when something could not be stored; says why.
    pub(crate) async fn failed(&self) -> Arc<str> {
        let mut progress = self.progress.subscribe();
        let why = progress.wait_for(|progress| progress.failed.is_some()).await.ok().and_then(|why| why.failed.clone());
        why.unwrap_or_default()
    }

    /// Stores what is waiting and gives the store back. Writes that come later fail.
    pub(crate) fn close(&self) {
        self.queue().closed = true;
        self.wake.notify_one();
    }

    /// Done when the store was given back.
    pub(crate) async fn closed(&self) {
        // The sender lives as long as the journal, which this borrows.
        let _ = self.progress.subscribe().wait_for(|progress| progress.over).await;
    }

    /// What is waiting, once there is something; `None` when nothing will come any more.
    fn next(&self) -> Option<Vec<Commit>> {
        let waiting = |queue: &mut Queue| queue.commits.is_empty() && !queue.closed;
        let mut queue = self.wake.wait_while(self.queue(), waiting).unwrap_or_else(PoisonError::into_inner);
        let commits = std::mem::take(&mut queue.commits);
        (!commits.is_empty()).then_some(commits)
    }

    /// Stores what comes until the journal is closed or the store fails. `live` is about how many bytes are no history.
    pub(crate) fn start(self: &Arc<Self>, cluster: &Arc<Cluster>, store: Box<dyn Store>, live: u64) -> io::Result<()> {
        let mut committer =
            Committer { journal: self.clone(), cluster: Arc::downgrade(cluster), rewrite_at: 2 * live + SLACK, store };
        let thread = std::thread::Builder::new().name("committer".to_owned());
        let over = Over(self.clone());
        let run = move || {
            committer.run();
            // The lock of the store is free when somebody hears that this is over.
            drop(committer);
            drop(over);
        };
        thread.spawn(run).map(|_| ())
    }
}

/// Says that the store was given back, also after a panic.
struct Over(Arc<Journal>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.progress.send_modify(|progress| {
            if std::thread::panicking() {
                progress.failed = Some("the thread that stores panicked".into());
            }
            progress.over = true;
        });
    }
}

/// The thread that stores.
struct Committer {
    journal: Arc<Journal>,
    cluster: Weak<Cluster>,
    store: Box<dyn Store>,
    /// The log is rewritten when it is larger.
    rewrite_at: u64,
}

impl Committer {
    fn run(&mut self) {
        while let Some(commits) = self.journal.next() {
            if let Err(error) = self.commit(commits) {
                let why: Arc<str> = format!("`{}`: {error}", self.store.place()).into();
                self.journal.progress.send_modify(|progress| progress.failed = Some(why));
                break;
            }
        }
    }

    fn commit(&mut self, mut commits: Vec<Commit>) -> io::Result<()> {
        if !self.rewrite(&mut commits) {
            for payload in payloads(&commits) {
                self.store.append(&payload)?;
            }
        }
        let Some(last) = commits.last().map(|commit| commit.revision) else { return Ok(()) };
        self.journal.progress.send_modify(|progress| progress.durable = last);
        if let Some(cluster) = self.cluster.upgrade() {
            let touched: BTreeSet<Collection> = commits.iter().flat_map(|commit| &commit.touched).copied().collect();
            cluster.announce(touched, last);
        }
        Ok(())
    }

    /// Writes the log anew where most of it is history, with these commits and those that came since. Where that does not
    /// work out, nothing is lost but the time.
    fn rewrite(&mut self, commits: &mut Vec<Commit>) -> bool {
        let size = self.store.size();
        let Some(cluster) = self.cluster.upgrade().filter(|_| size > self.rewrite_at) else { return false };
        let snapshot = {
            // Who pushes holds this lock for writing: the queue stands still.
            let state = cluster.read();
            self.rewrite_at = 2 * live(&state) + SLACK;
            // A cluster that grew has little history.
            if size <= self.rewrite_at {
                return false;
            }
            commits.append(&mut self.journal.queue().commits);
            Snapshot::of(&state)
        };
        let done = self.store.rewrite(&mut snapshot.payloads()).is_ok();
        if !done {
            self.rewrite_at = 2 * size;
        }
        done
    }
}

/// Commits as payloads: one, unless they are very large.
fn payloads(commits: &[Commit]) -> Vec<Payload> {
    let mut all = Vec::new();
    let mut writer = Writer::default();
    for commit in commits {
        for Noted { resource, entry, gone } in &commit.changes {
            writer.change(resource, entry, *gone);
        }
        writer.revision(commit.revision);
        if writer.len() > MOST_BLOCK {
            all.push(std::mem::take(&mut writer).finish());
        }
    }
    if writer.len() > 0 {
        all.push(writer.finish());
    }
    all
}

/// About how many bytes a log without history has.
fn live(state: &State) -> u64 {
    let page = Page::default();
    state.tables().flat_map(|(_, table)| table.entries(&page).map(|entry| stored_size(entry))).sum()
}

/// All that there is at one moment.
struct Snapshot {
    revision: u64,
    /// By resource, with its last change.
    tables: Vec<(Name, u64, Vec<Arc<Entry>>)>,
}

impl Snapshot {
    fn of(state: &State) -> Self {
        let stored = state.tables().filter(|(_, table)| !table.resource.is_empty());
        let tables = stored.map(|(_, table)| {
            (table.resource.clone(), table.log().last(), table.entries(&Page::default()).cloned().collect())
        });
        Self { revision: state.revision(), tables: tables.collect() }
    }

    fn payloads(&self) -> impl Iterator<Item = Payload> {
        let mut first = Writer::default();
        first.revision(self.revision);
        for (resource, changed, _) in &self.tables {
            first.collection(resource, *changed);
        }
        let mut objects =
            self.tables.iter().flat_map(|(resource, _, entries)| entries.iter().map(move |entry| (resource, entry)));
        let rest = std::iter::from_fn(move || {
            let mut writer = Writer::default();
            while writer.len() < BLOCK {
                let Some((resource, entry)) = objects.next() else { break };
                writer.change(resource, entry, false);
            }
            (writer.len() > 0).then(|| writer.finish())
        });
        std::iter::once(first.finish()).chain(rest)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(journal) = &self.journal {
            journal.close();
        }
    }
}

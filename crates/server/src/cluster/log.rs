//! What changed lately in one collection, so that watches can follow and lists can look back.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Entry;

/// How many changes are kept, and how many bytes of objects they may hold alive.
const MOST_CHANGES: usize = 16_384;
const MOST_BYTES: usize = 32 << 20;

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One change.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) kind: ChangeKind,
    /// How the object was before.
    pub(crate) old: Option<Arc<Entry>>,
    /// How it is now; for a deleted one its last state, with the revision of the deletion.
    pub(crate) new: Arc<Entry>,
}

/// The latest changes, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Log {
    changes: VecDeque<Arc<Change>>,
    /// Every change after this revision is here.
    floor: u64,
    bytes: usize,
}

/// Where a reader of a log stands: it has seen everything up to this revision.
pub(crate) type Position = u64;

impl Log {
    pub(super) fn push(&mut self, change: Change) {
        self.bytes += weight(&change);
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > MOST_CHANGES || self.bytes > MOST_BYTES {
            let Some(oldest) = self.changes.pop_front() else { return };
            self.bytes -= weight(&oldest);
            self.floor = oldest.revision;
        }
    }

    /// Everything after `position`, oldest first; `None` if some of it is forgotten.
    pub(crate) fn after(&self, position: Position) -> Option<impl DoubleEndedIterator<Item = &Arc<Change>>> {
        if position < self.floor {
            return None;
        }
        let from = self.changes.partition_point(|change| change.revision <= position);
        Some(self.changes.range(from..))
    }

    /// A log that starts after a revision.
    pub(super) fn from(floor: Position) -> Self {
        Self { floor, ..Self::default() }
    }

    /// The revision of the last change.
    pub(super) fn last(&self) -> Position {
        self.changes.back().map_or(self.floor, |change| change.revision)
    }

    /// The oldest position that can be followed.
    pub(crate) fn floor(&self) -> Position {
        self.floor
    }

    /// Forgets everything up to a revision.
    #[cfg(test)]
    pub(super) fn forget(&mut self, revision: u64) {
        self.changes.retain(|change| change.revision > revision);
        self.bytes = self.changes.iter().map(|change| weight(change)).sum();
        self.floor = revision;
    }
}

fn weight(change: &Change) -> usize {
    change.new.body.len()
}

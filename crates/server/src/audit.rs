//! The audit log: who asked for what, and what came of it, as Kubernetes' audit events, one JSON object per line.
//!
//! Events have the level Metadata: no bodies, and so no secrets.

mod event;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use hyper::header::HeaderMap;

pub use self::event::{AuditedObject, Record, Response, Stage, source_addresses};
use self::writer::Writer;

/// How many events may wait to be written.
const WAITING: usize = 8192;
/// Longer ids are not believed to be ids; they would fill the log and the answer's header.
const MAX_ID: usize = 256;

/// Writes events to a file, in the background.
///
/// Requests never wait for the disk. When it is slower than they are, or full, events are lost, counted, and reported on
/// stderr: a control plane that stands still because of its log is worse than a gap that is known.
#[derive(Debug)]
pub struct Audit {
    queue: Option<SyncSender<Record>>,
    lost: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Audit {
    /// Appends to this file, which only its owner may read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer::open(path, lost.clone())?;
        let (queue, events) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&events))?;
        Ok(Self { queue: Some(queue), lost, thread: Some(thread) })
    }

    /// Hands an event to the log.
    pub fn event(&self, record: Record) {
        let Some(queue) = &self.queue else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.try_send(record) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many events were not written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Audit {
    /// Waits until everything is written.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The id of a request: the one that the client gave as `Audit-ID`, or a new one. Answers carry it too.
pub fn audit_id(headers: &HeaderMap) -> String {
    let given = headers.get("audit-id").and_then(|id| id.to_str().ok());
    match given {
        Some(id) if !id.is_empty() && id.len() <= MAX_ID => id.to_owned(),
        _ => crate::uid::uuid_v4(),
    }
}

//! The log: what the cluster commits, block after block, in one file that is rewritten when most of it is history.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader};
use std::path::Path;

use super::block::{BlockHead, FILL, HEAD, Head, UNIT, fill};
use super::medium::{Folder, LogFile, Medium};
use super::scan::{End, scan};
use super::{LOCK, Payload, Store, StoreError, Sync};

/// The file grows by this much, as zeros: a write into it then changes no length, which a disk takes in half the time.
const GROWTH: u64 = if cfg!(test) { 1 << 14 } else { 1 << 20 };

/// A log on a medium.
pub(super) struct Log<M: Medium> {
    medium: M,
    sync: Sync,
    open: Option<Open<M::File>>,
    /// Held as long as the log.
    _lock: Option<File>,
}

struct Open<F> {
    file: F,
    end: End,
    /// Zeros reach to here.
    length: u64,
}

impl Log<Folder> {
    /// The log in a folder, which is made where it is missing. One process at a time has it.
    pub(super) fn in_folder(folder: &Path, sync: Sync) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Folder { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let medium = Folder::at(folder);
        // Nothing is left in a folder that is somebody else's. One with a lock may be on its way to be ours.
        if medium.is_foreign().map_err(failed)? && !fs::exists(folder.join(LOCK)).map_err(failed)? {
            return Err(StoreError::NotEmpty { path: folder.to_owned() });
        }
        let mut options = File::options();
        let lock = options.read(true).write(true).create(true).truncate(false).open(folder.join(LOCK));
        let lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { path: folder.to_owned() }),
            locked => locked.map_err(|error| failed(error.into()))?,
        }
        if medium.is_foreign().map_err(failed)? {
            return Err(StoreError::NotEmpty { path: folder.to_owned() });
        }
        let mut log = Self { medium, sync, open: None, _lock: Some(lock) };
        // At once: from here on the folder is ours, and other files may come into it.
        if log.medium.open().map_err(log.io())?.is_none() {
            log.begin()?;
            // The name of the folder is on the disk when the folder above is, and so on. What cannot be opened was not made here.
            let folder = fs::canonicalize(folder).map_err(failed)?;
            for above in folder.ancestors().skip(1).filter_map(|above| File::open(above).ok()) {
                match above.sync_all() {
                    // Some file systems have nothing to sync here, and say so.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                    synced => synced.map_err(failed)?,
                }
            }
        }
        Ok(log)
    }
}

impl<M: Medium> Log<M> {
    #[cfg(test)]
    pub(super) fn on(medium: M, sync: Sync) -> Self {
        Self { medium, sync, open: None, _lock: None }
    }

    fn io(&self) -> impl Fn(io::Error) -> StoreError + use<M> {
        let path = self.medium.path().to_owned();
        move |source| StoreError::Io { path: path.clone(), source }
    }

    /// An empty log.
    fn begin(&mut self) -> Result<(), StoreError> {
        let mut head = Head { cluster: [0; 16] };
        crate::uid::fill(&mut head.cluster);
        self.renew(head, &mut std::iter::empty()).map_err(self.io())
    }

    /// A file with these payloads, in place of what is there.
    fn renew(&mut self, head: Head, payloads: &mut dyn Iterator<Item = Payload>) -> io::Result<()> {
        let mut file = self.medium.create()?;
        file.write_at(0, &head.written())?;
        let end = End { head, at: HEAD as u64, number: 1, chain: head.chain(), torn: false };
        let mut open = Open { file, end, length: HEAD as u64 };
        for payload in payloads {
            let (block, end) = block(open.end, &payload)?;
            open.file.write_at(open.end.at, &block)?;
            (open.end, open.length) = (end, end.at);
        }
        open.grow(0)?;
        open.file.sync()?;
        // INVARIANT: should this fail, nobody knows which of the two is there after a power cut: neither is written any more.
        self.open = None;
        self.medium.replace()?;
        self.open = Some(open);
        Ok(())
    }
}

impl<F: LogFile> Open<F> {
    /// Sees to it that `more` bytes and the zeros after them fit.
    fn grow(&mut self, more: u64) -> io::Result<bool> {
        let needed = self.end.at + more + UNIT as u64;
        if needed <= self.length {
            return Ok(false);
        }
        let length = needed.next_multiple_of(GROWTH);
        self.zero(self.length, length)?;
        self.length = length;
        Ok(true)
    }

    fn zero(&mut self, from: u64, to: u64) -> io::Result<()> {
        let zeros = vec![0; usize::try_from(GROWTH.min(to.saturating_sub(from))).unwrap_or_default()];
        let mut at = from;
        while at < to {
            let some = usize::try_from(to - at).unwrap_or(usize::MAX).min(zeros.len());
            self.file.write_at(at, zeros.get(..some).unwrap_or_default())?;
            at += some as u64;
        }
        Ok(())
    }
}

/// A block at the end of a file, and where the file ends then.
fn block(end: End, payload: &[u8]) -> io::Result<(Vec<u8>, End)> {
    let head = BlockHead::of(payload, end.number, end.chain);
    let head = head.ok_or_else(|| io::Error::other("a transaction of more than 4 GB"))?;
    let mut bytes = Vec::with_capacity(payload.len() + 2 * UNIT);
    bytes.extend_from_slice(&head.written());
    bytes.extend_from_slice(payload);
    let filled = usize::try_from(fill(payload.len() as u64)).unwrap_or(UNIT);
    bytes.resize(bytes.len() + filled, FILL);
    let end = End { at: end.at + bytes.len() as u64, number: end.number + 1, chain: head.sum, ..end };
    Ok((bytes, end))
}

fn closed() -> io::Error {
    io::Error::other("it was never read, or failed before")
}

impl<M: Medium> Store for Log<M> {
    fn load(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), StoreError> {
        let io = self.io();
        let Some(file) = self.medium.open().map_err(&io)? else {
            return self.begin();
        };
        let length = file.length().map_err(&io)?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let end = scan(&mut reader, length, each).map_err(|fault| StoreError::of(self.medium.path(), fault))?;
        let mut open = Open { file: reader.into_inner(), end, length };
        if open.end.torn {
            open.zero(end.at, length).map_err(&io)?;
            open.file.sync().map_err(&io)?;
            open.end.torn = false;
        }
        self.medium.discard();
        self.open = Some(open);
        Ok(())
    }

    fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        // INVARIANT: after a failure nobody knows what is on the disk, so nothing is written after it.
        let mut open = self.open.take().ok_or_else(closed)?;
        let (block, end) = block(open.end, payload)?;
        if open.grow(block.len() as u64)? && self.sync == Sync::Disk {
            open.file.sync()?;
        }
        open.file.write_at(open.end.at, &block)?;
        if self.sync == Sync::Disk {
            open.file.sync()?;
        }
        open.end = end;
        self.open = Some(open);
        Ok(())
    }

    fn rewrite(&mut self, payloads: &mut dyn Iterator<Item = Payload>) -> io::Result<()> {
        let head = self.open.as_ref().ok_or_else(closed)?.end.head;
        let renewed = self.renew(head, payloads);
        if renewed.is_err() {
            self.medium.discard();
        }
        renewed
    }

    fn size(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.end.at)
    }

    fn place(&self) -> String {
        self.medium.path().display().to_string()
    }
}

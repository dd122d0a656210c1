//! Where objects go so that they outlive the process: a log in a folder (docs/adr/0007).
//!
//! The server reads from memory only. What it commits is appended to the log, one block for all transactions that wait,
//! and everybody who asked for one of them is answered when the block is on the disk. At the next start the log is read.

mod block;
mod checksum;
mod log;
mod medium;
#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "the files of a test are small")]
mod power_cuts;
pub(crate) mod record;
mod report;
mod scan;

use std::io;
use std::path::{Path, PathBuf};

use self::block::{FORMAT, HeadFault};
use self::log::Log;
pub use self::report::{Report, check, check_bytes};
use self::scan::Fault;

/// The file whose lock says that a process has the folder.
const LOCK: &str = "lock";

/// Bytes that are stored all or not at all.
pub type Payload = Vec<u8>;

/// Keeps what the server commits.
pub trait Store: Send {
    /// Hands out everything that is kept, oldest first. Called once, before anything else.
    fn load(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), StoreError>;

    /// Keeps one payload more. It is safe when this returns; after an error nothing can be stored any more.
    fn append(&mut self, payload: &[u8]) -> io::Result<()>;

    /// Keeps these payloads in the place of all others. After an error everything is as it was, or, where that cannot be
    /// known, nothing can be stored any more.
    fn rewrite(&mut self, payloads: &mut dyn Iterator<Item = Payload>) -> io::Result<()>;

    /// Bytes that are kept.
    fn size(&self) -> u64;

    /// What errors call it.
    fn place(&self) -> String;
}

/// When a write counts as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// When it is on the disk: it survives a power cut.
    #[default]
    Disk,
    /// When the operating system has it: it survives the end of the process, not that of the machine.
    System,
}

/// Where a server keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The folder.
    pub folder: PathBuf,
    /// What an answer promises.
    pub sync: Sync,
}

/// Why stored data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be made, opened or written.
    #[error("cannot use the data folder `{}`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Another process has it.
    #[error("the data folder `{}` is in use by another process; hint: end that one first, or use another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// It is full of somebody else's files.
    #[error("the data folder `{}` holds files but no `objects.log`; hint: use an empty folder, or put the log back", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// There is nothing to check.
    #[error("there is no data in `{}`", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// The file is none of ours.
    #[error("`{}` was not written by rolewright; hint: use another folder, or move the file away", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file has another form.
    #[error("`{}` has the format {found}, and this version of rolewright reads {FORMAT}; hint: use the version that wrote it", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// The file is not as it was written.
    #[error("`{}` is damaged at byte {at}: {what}; hint: put back a copy of the folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// The file holds objects that this server does not know.
    #[error("`{}` holds objects of `{resource}`, which nothing here serves; hint: use the version of rolewright that wrote it", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// Their resource.
        resource: String,
    },
    /// The file cannot be read or written.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

impl StoreError {
    fn of(path: &Path, fault: Fault) -> Self {
        let path = path.to_owned();
        match fault {
            Fault::Io(source) => Self::Io { path, source },
            Fault::Head(HeadFault::Foreign) => Self::Foreign { path },
            Fault::Head(HeadFault::Format(found)) => Self::Format { path, found },
            Fault::Head(HeadFault::Damaged) => Self::Damaged { path, at: 0, what: "its head".to_owned() },
            Fault::Damaged(at, what) => Self::Damaged { path, at, what },
        }
    }
}

/// The store in a folder, which is made where it is missing. One process at a time has it.
pub fn open(data: &Data) -> Result<Box<dyn Store>, StoreError> {
    Ok(Box::new(Log::in_folder(&data.folder, data.sync)?))
}

//! What the log is written to: a folder on a disk, or a disk of a test that fails when it is told to.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Holds one log, which can be replaced as a whole.
pub(super) trait Medium: Send {
    type File: LogFile;
    /// The log; none in an empty folder.
    fn open(&self) -> io::Result<Option<Self::File>>;
    /// A new one beside it.
    fn create(&self) -> io::Result<Self::File>;
    /// Puts the new one in the place of the old one. Whatever happens meanwhile, it is the one or the other.
    fn replace(&self) -> io::Result<()>;
    /// Forgets the new one.
    fn discard(&self);
    /// What errors call it.
    fn path(&self) -> &Path;
}

/// A file that is read once from its start, and then written.
pub(super) trait LogFile: Read + Send {
    fn length(&self) -> io::Result<u64>;
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Returns when everything that was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    folder: PathBuf,
    log: PathBuf,
    new: PathBuf,
}

/// The names of the log and of the one that is to replace it.
const LOG: &str = "objects.log";
const NEW: &str = "objects.log.new";

impl Folder {
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), log: folder.join(LOG), new: folder.join(NEW) }
    }

    /// Whether the folder holds anything but what we may have left there before there was a log.
    pub(super) fn is_foreign(&self) -> io::Result<bool> {
        if self.log.try_exists()? {
            return Ok(false);
        }
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            if ![super::LOCK, NEW, "lost+found"].iter().any(|known| name == *known) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Medium for Folder {
    type File = File;

    fn open(&self) -> io::Result<Option<File>> {
        match File::options().read(true).write(true).open(&self.log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn create(&self) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        // Secrets are in it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.new)
    }

    fn replace(&self) -> io::Result<()> {
        fs::rename(&self.new, &self.log)?;
        // The name is on the disk when its folder is.
        File::open(&self.folder)?.sync_all()
    }

    fn discard(&self) {
        // What is left of it is overwritten by the next one.
        let _ = fs::remove_file(&self.new);
    }

    fn path(&self) -> &Path {
        &self.log
    }
}

impl LogFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

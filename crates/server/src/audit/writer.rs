//! The thread that writes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::Record;

/// Events that are written together, when so many wait.
const BATCH: usize = 256;
/// Losses are reported at most this often.
const QUIET: Duration = Duration::from_secs(10);

pub(super) struct Writer<W = File> {
    file: W,
    lost: Arc<AtomicU64>,
    reported: u64,
    spoke: Option<Instant>,
    /// The last write failed and may have left a part of a line.
    torn: bool,
}

impl Writer {
    pub(super) fn open(path: &Path, lost: Arc<AtomicU64>) -> io::Result<Self> {
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self::new(options.open(path)?, lost))
    }
}

impl<W: Write> Writer<W> {
    fn new(file: W, lost: Arc<AtomicU64>) -> Self {
        Self { file, lost, reported: 0, spoke: None, torn: false }
    }

    pub(super) fn run(mut self, events: &Receiver<Record>) {
        while let Ok(first) = events.recv() {
            let mut lines = first.line();
            let mut count = 1;
            for record in events.try_iter().take(BATCH - 1) {
                lines.extend(record.line());
                count += 1;
            }
            let fault = self.write(&lines, count).err();
            self.report(fault.as_ref(), &mut io::stderr());
        }
    }

    fn write(&mut self, lines: &[u8], count: u64) -> io::Result<()> {
        let mut write = || {
            if self.torn {
                self.file.write_all(b"\n")?;
            }
            self.torn = true;
            self.file.write_all(lines)?;
            self.file.flush()
        };
        let written = write();
        self.torn = written.is_err();
        if written.is_err() {
            self.lost.fetch_add(count, Ordering::Relaxed);
        }
        written
    }

    fn report(&mut self, fault: Option<&io::Error>, to: &mut impl Write) {
        let lost = self.lost.load(Ordering::Relaxed);
        if lost == self.reported || self.spoke.is_some_and(|at| at.elapsed() < QUIET) {
            return;
        }
        self.reported = lost;
        self.spoke = Some(Instant::now());
        let why = fault.map_or_else(|| "the disk is too slow".to_owned(), ToString::to_string);
        // WHY: where stderr is gone too, nobody is left to tell.
        let _ = writeln!(to, "audit: {lost} events lost so far: {why}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes and no more, like a full disk, until there is room again.
    struct Full {
        room: usize,
        written: Vec<u8>,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room);
            if fits == 0 {
                return Err(io::Error::other("no space left on device"));
            }
            self.written.extend(&bytes[..fits]);
            self.room -= fits;
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_counted_and_told_once_and_lines_stay_whole_afterwards() {
        let lost = Arc::new(AtomicU64::new(0));
        let mut writer = Writer::new(Full { room: 10, written: Vec::new() }, lost.clone());
        assert!(writer.write(b"{\"a\":1}\n", 1).is_ok());
        let fault = writer.write(b"{\"b\":1}\n{\"c\":1}\n", 2).unwrap_err();
        assert!(writer.write(b"{\"d\":1}\n", 1).is_err());
        assert_eq!(lost.load(Ordering::Relaxed), 3);
        let mut told = Vec::new();
        writer.report(Some(&fault), &mut told);
        writer.report(Some(&fault), &mut told);
        assert_eq!(String::from_utf8(told).unwrap(), "audit: 3 events lost so far: no space left on device\n");
        writer.file.room = 1000;
        assert!(writer.write(b"{\"e\":1}\n", 1).is_ok());
        let text = String::from_utf8(writer.file.written).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"\n{\"e\":1}\n");
    }
}

//! Reads a file from its head to its end, and tells what a power cut left from what is damaged.

use std::io::{self, Read};

use super::block::{BlockHead, FILL, HEAD, Head, HeadFault, SECTOR, UNIT};

/// Where a file that is in order ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) head: Head,
    /// Where the next block goes, its number, and what it follows.
    pub(super) at: u64,
    pub(super) number: u64,
    pub(super) chain: u32,
    /// A block was being written when the machine stopped: there is something to wipe after the end.
    pub(super) torn: bool,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    Head(HeadFault),
    /// Where, and what is wrong there.
    Damaged(u64, String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

const SHORT: &str = "the file ends too early";

/// Hands out the payload of every block.
pub(super) fn scan(
    file: &mut impl Read,
    length: u64,
    each: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<End, Fault> {
    let mut file = Counted { file, at: 0, length };
    let mut head = [0; HEAD];
    let some = usize::try_from(length.min(HEAD as u64)).unwrap_or(HEAD);
    file.fill(head.get_mut(..some).unwrap_or_default())?;
    let head = match Head::read(&head) {
        Err(HeadFault::Damaged) if some < HEAD => return Err(Fault::Damaged(length, SHORT.to_owned())),
        read => read.map_err(Fault::Head)?,
    };
    let mut end = End { head, at: file.at, number: 1, chain: head.chain(), torn: false };
    let mut body = Vec::new();
    loop {
        let mut unit = [0; UNIT];
        file.fill(&mut unit)?;
        if unit == [0; UNIT] {
            return file.tail(end);
        }
        let damaged = |what: &str| Err(Fault::Damaged(end.at, what.to_owned()));
        let Some(block) = BlockHead::read(&unit) else { return damaged("there is no block where one should start") };
        if (block.number, block.chain) != (end.number, end.chain) {
            return damaged("a block that belongs elsewhere");
        }
        let size = block.body();
        if file.left() < size + UNIT as u64 {
            return Err(Fault::Damaged(length, SHORT.to_owned()));
        }
        body.resize(usize::try_from(size).map_err(|_| Fault::Damaged(end.at, "a block too large".to_owned()))?, 0);
        let start = file.at;
        file.fill(&mut body)?;
        let (payload, fill) = body.split_at(block.length as usize);
        let whole = BlockHead::of(payload, block.number, block.chain) == Some(block);
        if !whole || fill.iter().any(|byte| *byte != FILL) {
            if !lost_a_sector(&body, start) {
                return damaged("the checksum of a block is wrong");
            }
            return file.nothing_left(end);
        }
        each(payload).map_err(|what| Fault::Damaged(end.at, what))?;
        end = End { at: file.at, number: end.number + 1, chain: block.sum, ..end };
    }
}

/// Whether one of the sectors that start within these bytes was never written.
fn lost_a_sector(body: &[u8], start: u64) -> bool {
    let first = usize::try_from((SECTOR - start % SECTOR) % SECTOR).unwrap_or_default();
    let sectors = body.get(first..).unwrap_or_default();
    sectors.chunks(usize::try_from(SECTOR).unwrap_or(512)).any(is_zero)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// A file that knows how much of it is left.
struct Counted<'a, R> {
    file: &'a mut R,
    at: u64,
    length: u64,
}

impl<R: Read> Counted<'_, R> {
    fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        if self.left() < bytes.len() as u64 {
            return Err(Fault::Damaged(self.length, SHORT.to_owned()));
        }
        self.file.read_exact(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// The file after the last block: zeros, or the rest of a block whose first sector was never written.
    fn tail(&mut self, mut end: End) -> Result<End, Fault> {
        let sector = end.at.next_multiple_of(SECTOR);
        self.units(|at, unit| {
            if is_zero(unit) {
                return Ok(());
            }
            let later = unit.first_chunk().and_then(BlockHead::read);
            if at < sector || later.is_some() {
                let what = "zeros, and after them more blocks";
                return Err(Fault::Damaged(end.at, what.to_owned()));
            }
            end.torn = true;
            Ok(())
        })?;
        Ok(end)
    }

    /// The file after a block of which a sector is missing: nobody has written there yet.
    fn nothing_left(&mut self, end: End) -> Result<End, Fault> {
        self.units(|_, unit| {
            let what = "a sector of a block is missing, and after it come more";
            if is_zero(unit) { Ok(()) } else { Err(Fault::Damaged(end.at, what.to_owned())) }
        })?;
        Ok(End { torn: true, ..end })
    }

    fn units(&mut self, mut each: impl FnMut(u64, &[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut buffer = [0; 256 * UNIT];
        while self.left() > 0 {
            let at = self.at;
            let some = usize::try_from(self.left()).unwrap_or(usize::MAX).min(buffer.len());
            let some = buffer.get_mut(..some).unwrap_or_default();
            self.fill(some)?;
            for (unit, at) in some.chunks(UNIT).zip((at..).step_by(UNIT)) {
                each(at, unit)?;
            }
        }
        Ok(())
    }
}

//! The form of the file: a head, blocks one after the other, and zeros up to its end.
//!
//! ```text
//! head    512 bytes: magic, format, cluster, checksum
//! block   32 bytes:  magic, length, number, checksum of the payload, the block before, 0, checksum of these
//!         payload, then 0xff up to the next multiple of 32
//! zeros   32 or more
//! ```
//! A block is written into zeros that were synced before, and the next one only when it is on the disk. What a power cut
//! leaves of it is therefore some of its sectors and zeros for the others. Anything else that does not fit is damage.

use super::checksum::crc32;

/// Disks write this much at once or not at all.
pub(super) const SECTOR: u64 = 512;
pub(super) const HEAD: usize = 512;
/// Blocks start at multiples of this, so that a sector holds the whole head of a block.
pub(super) const UNIT: usize = 32;

/// The first bytes of every file.
const MAGIC: &[u8; 16] = b"rolewright-data\n";
/// What this program reads and writes.
pub(super) const FORMAT: u32 = 1;
/// 0xf5 and 0xff are in no UTF-8, so no text that a client sends looks like the head of a block.
const BLOCK_MAGIC: [u8; 4] = [0xf5, b'r', b'w', 0xff];
pub(super) const FILL: u8 = 0xff;
/// The most that fits into a block.
const MOST: u32 = u32::MAX - 1_024;

/// The head of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Random, so that blocks of one file are none in another.
    pub(super) cluster: [u8; 16],
}

/// What is wrong with the head of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadFault {
    Foreign,
    Format(u32),
    Damaged,
}

impl Head {
    pub(super) fn written(self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        let fields = MAGIC.iter().copied().chain(FORMAT.to_le_bytes()).chain(self.cluster);
        for (byte, field) in head.iter_mut().zip(fields) {
            *byte = field;
        }
        let sum = crc32(0, head.get(..HEAD - 4).unwrap_or_default()).to_le_bytes();
        for (byte, field) in head.iter_mut().skip(HEAD - 4).zip(sum) {
            *byte = field;
        }
        head
    }

    pub(super) fn read(bytes: &[u8; HEAD]) -> Result<Self, HeadFault> {
        if !bytes.starts_with(MAGIC) {
            return Err(HeadFault::Foreign);
        }
        let mut fields = Fields(bytes.get(MAGIC.len()..).unwrap_or_default());
        let format = fields.u32();
        if format != FORMAT {
            return Err(HeadFault::Format(format));
        }
        let head = Self { cluster: fields.take() };
        if head.written() == *bytes { Ok(head) } else { Err(HeadFault::Damaged) }
    }

    /// What the first block follows.
    pub(super) fn chain(self) -> u32 {
        crc32(0, &self.cluster)
    }
}

/// The head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockHead {
    pub(super) length: u32,
    pub(super) number: u64,
    pub(super) payload_sum: u32,
    /// The checksum of the head before this.
    pub(super) chain: u32,
    pub(super) sum: u32,
}

impl BlockHead {
    /// The head of a block of these bytes; `None` for more than fits into one.
    pub(super) fn of(payload: &[u8], number: u64, chain: u32) -> Option<Self> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length < MOST)?;
        let mut head = Self { length, number, payload_sum: crc32(0, payload), chain, sum: 0 };
        head.sum = crc32(0, head.written().get(..UNIT - 4).unwrap_or_default());
        Some(head)
    }

    pub(super) fn written(self) -> [u8; UNIT] {
        let mut bytes = [0; UNIT];
        let fields = BLOCK_MAGIC
            .into_iter()
            .chain(self.length.to_le_bytes())
            .chain(self.number.to_le_bytes())
            .chain(self.payload_sum.to_le_bytes())
            .chain(self.chain.to_le_bytes())
            .chain([0; 4])
            .chain(self.sum.to_le_bytes());
        for (byte, field) in bytes.iter_mut().zip(fields) {
            *byte = field;
        }
        bytes
    }

    /// The head that these bytes are; `None` if they are none.
    pub(super) fn read(bytes: &[u8; UNIT]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.take() != BLOCK_MAGIC {
            return None;
        }
        let (length, number) = (fields.u32(), fields.u64());
        let (payload_sum, chain, _, sum) = (fields.u32(), fields.u32(), fields.u32(), fields.u32());
        let head = Self { length, number, payload_sum, chain, sum };
        let whole = head.written() == *bytes && crc32(0, bytes.get(..UNIT - 4).unwrap_or_default()) == sum;
        whole.then_some(head)
    }

    /// Bytes between the head and the next block.
    pub(super) fn body(self) -> u64 {
        u64::from(self.length) + fill(u64::from(self.length))
    }
}

/// How many bytes fill a block up: at least one, so that its last sector is not all zeros.
pub(super) fn fill(length: u64) -> u64 {
    UNIT as u64 - length % UNIT as u64
}

/// Numbers one after the other; zeros where the bytes end.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((first, rest)) = self.0.split_first_chunk() else { return [0; N] };
        self.0 = rest;
        *first
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_written_and_no_flipped_bit_passes() {
        let head = Head { cluster: *b"0123456789abcdef" };
        let written = head.written();
        assert_eq!(Head::read(&written), Ok(head));
        for bit in 0..HEAD * 8 {
            let mut bytes = written;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::read(&bytes).is_err(), "bit {bit}");
        }
        let block = BlockHead::of(b"payload", 7, 9).unwrap();
        let written = block.written();
        assert_eq!(BlockHead::read(&written), Some(block));
        for bit in 0..UNIT * 8 {
            let mut bytes = written;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(BlockHead::read(&bytes), None, "bit {bit}");
        }
    }

    #[test]
    fn a_block_ends_at_a_unit_and_with_its_fill() {
        for length in 0..100 {
            let filled = length + fill(length);
            assert!(filled.is_multiple_of(UNIT as u64) && filled > length);
        }
    }
}

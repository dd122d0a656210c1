//! Structural schemas of custom kinds, and objects for them: mostly valid, and then wrong in one respect.
//!
//! Everything is drawn from a string of random bytes. Without bytes left every choice is the plainest one, so that
//! shrinking the bytes shrinks schema and object.

#![expect(clippy::indexing_slicing, reason = "every index is taken modulo the length of its list")]

mod literals;
mod node;
mod object;

use serde_json::Value;

pub use literals::{FORMATS, PATTERNS};
pub use object::{mutated, object, value};

/// A source of choices.
#[derive(Clone, Debug)]
pub struct Choices {
    bytes: std::vec::IntoIter<u8>,
}

impl Choices {
    /// Choices by these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into_iter() }
    }

    /// As many choices as bytes are asked for, the same for the same seed.
    pub fn seeded(seed: u64, bytes: usize) -> Self {
        let mut state = seed;
        let next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)).to_le_bytes()[0]
        };
        Self::new(std::iter::repeat_with(next).take(bytes).collect())
    }

    /// The bytes that are left.
    pub fn collect(self) -> Vec<u8> {
        self.bytes.collect()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.bytes.next().unwrap_or(0)
    }

    /// True for `share` of 256 bytes, and not for a byte that is not there.
    pub(crate) fn chance(&mut self, share: u8) -> bool {
        let byte = self.byte();
        byte != 0 && byte <= share
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end.max(1)
    }
}

/// The `openAPIV3Schema` of a kind: an object with `spec` and `status`.
pub fn schema(choices: &mut Choices) -> Value {
    node::root(choices)
}

//! Short names for long texts.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// So many bytes of a text's hash, as hexadecimal digits.
pub(crate) fn hex(text: &str, bytes: usize) -> String {
    Sha256::digest(text).iter().take(bytes).fold(String::new(), |mut hash, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

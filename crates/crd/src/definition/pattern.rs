//! Whether Go's `regexp` accepts a pattern.

use regex::Regex;

/// Why a pattern is none.
pub(super) fn fault(pattern: &str) -> Option<String> {
    Regex::new(pattern).err().map(|_| format!("error parsing regexp: `{pattern}`"))
}

//! What the fuzz targets share: words that meet.
//!
//! Two texts of random bytes are almost never equal, so a target that compares them would see only denials. Most words
//! therefore come from a short list; the rest is free.

pub mod expression;
pub mod fields;
pub mod schema;
pub mod typed;

use std::fmt;

use arbitrary::Arbitrary;

/// A word of a rule, a request, a label or a selector.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub enum Word<'a> {
    /// The empty text: the core group, no subresource, no name.
    Empty,
    /// `*`.
    Star,
    /// An ordinary word.
    Pods,
    /// Another one.
    Scale,
    /// The first two as resource and subresource.
    PodsScale,
    /// The subresource of anything.
    StarScale,
    /// What looks like a pattern but is none.
    PodsStar,
    /// Anything.
    Free(&'a str),
}

impl<'a> Word<'a> {
    /// The word's text.
    pub fn text(&self) -> &'a str {
        match self {
            Self::Empty => "",
            Self::Star => "*",
            Self::Pods => "pods",
            Self::Scale => "scale",
            Self::PodsScale => "pods/scale",
            Self::StarScale => "*/scale",
            Self::PodsStar => "pods/*",
            Self::Free(text) => text,
        }
    }
}

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The texts of some words, as core's lists hold them.
pub fn names<List: FromIterator<rolewright_core::Name>>(words: &[Word<'_>]) -> List {
    words.iter().map(|word| word.text().into()).collect()
}

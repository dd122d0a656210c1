//! Patterns in Go's syntax, matched by the regex crate.

use std::sync::OnceLock;

use regex::Regex;

/// A pattern of a schema. It is compiled when it is first needed: most schemas of a cluster never see an object.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// The pattern as the schema has it.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    /// The pattern as the schema has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches somewhere in `text`; none if it cannot be compiled.
    pub fn matches(&self, text: &str) -> Option<bool> {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok());
        compiled.as_ref().map(|compiled| compiled.is_match(text))
    }
}

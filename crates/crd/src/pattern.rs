//! Patterns of schemas.

use std::sync::OnceLock;

use regex::Regex;
use rolewright_cel::regexp;

/// A pattern of a schema. It is compiled when it is first needed: most schemas of a cluster never see an object.
#[derive(Debug)]
pub struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Result<Regex, Box<str>>>,
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

    /// Whether it matches somewhere in `text`. What cannot be compiled matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled().as_ref().is_ok_and(|compiled| compiled.is_match(text))
    }

    /// Why it cannot be compiled, in Go's words.
    pub fn fault(&self) -> Option<&str> {
        self.compiled().as_ref().err().map(|fault| &**fault)
    }

    fn compiled(&self) -> &Result<Regex, Box<str>> {
        self.compiled.get_or_init(|| regexp::compile(&self.text).map_err(String::into_boxed_str))
    }
}

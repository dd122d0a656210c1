//! What is wrong with a manifest, in words that lead to its correction.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// Something that is wrong with a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Problem {
    /// The file or folder.
    pub file: Arc<str>,
    /// The line, where there is one.
    pub line: Option<usize>,
    /// The field; empty if it is not about a field.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Problem {
    /// Something is wrong with a file or folder as such.
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, field: String::new(), message: message.into(), hint: None }
    }

    /// The same, with a way out.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// `pr/role.yaml:12: rules[0].verbs: is missing; hint: ..`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; hint: {hint}"),
            None => Ok(()),
        }
    }
}

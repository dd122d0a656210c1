//! What a user should know: problems with their way out, each under a code that stays.

mod codes;

use std::fmt;

use crate::object::ObjectRef;

pub use codes::Code;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something is not as somebody wanted it.
    Warning,
    /// Somebody has rights that they should not have, or lacks ones that they should have.
    Error,
}

/// One thing that a user should know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagnostic {
    /// What it is about.
    pub object: ObjectRef,
    /// Which problem it is.
    pub code: Code,
    /// What is the case here: lowercase, no final period, input in backticks.
    pub message: String,
}

impl Diagnostic {
    /// A problem with an object.
    pub fn new(code: Code, object: ObjectRef, message: impl Into<String>) -> Self {
        Self { object, code, message: message.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.code, self.object, self.message)
    }
}

//! Where a value stands, as the schema validator writes it: relative to what is validated, and not always alike.

use std::fmt::{self, Write};

/// A path that borrows its parents and is written out only for a fault.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// What is validated.
    Root,
    /// A field that the schema has a property for.
    Field(&'a Place<'a>, &'a str),
    /// A field that is described by `additionalProperties`; it has a dot even at the root.
    Value(&'a Place<'a>, &'a str),
    /// An item of a list.
    Index(&'a Place<'a>, usize),
}

impl<'a> Place<'a> {
    pub(super) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(super) fn value(&'a self, name: &'a str) -> Self {
        Self::Value(self, name)
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(parent, name) => {
                parent.write(out)?;
                let dot = if out.is_empty() { "" } else { "." };
                write!(out, "{dot}{name}")
            }
            Self::Value(parent, name) => {
                parent.write(out)?;
                write!(out, ".{name}")
            }
            Self::Index(parent, index) => {
                parent.write(out)?;
                write!(out, "[{index}]")
            }
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        f.write_str(&text)
    }
}

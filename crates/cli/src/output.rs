//! All that is printed passes here: data to stdout, everything else to stderr, colour only where it is wanted.

use std::io::Write;

use anstyle::{AnsiColor, Style};

/// Headings.
pub(crate) const HEADING: Style = Style::new().bold();
/// What is granted.
pub(crate) const YES: Style = AnsiColor::Green.on_default();
/// What is refused or revoked.
pub(crate) const NO: Style = AnsiColor::Red.on_default();
/// What changes in place, or wants attention.
pub(crate) const CHANGE: Style = AnsiColor::Yellow.on_default();
/// What only supports.
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Standard output; colour is stripped when nobody looks or `NO_COLOR` is set.
pub(crate) fn stdout() -> impl Write {
    anstream::AutoStream::auto(std::io::stdout())
}

/// An error with its causes, on stderr. A stderr that is gone is nobody's loss.
pub(crate) fn error(error: &anyhow::Error) {
    let _ = writeln!(anstream::stderr(), "{NO}error:{NO:#} {error:#}");
}

/// A word beside the data, on stderr.
pub(crate) fn note(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{QUIET}note:{QUIET:#} {text}");
}

//! Everything that a task tells the user passes here: results on stdout, the rest on stderr.

use std::fmt::Display;
use std::io::{self, Write};

/// One line of the result.
#[expect(clippy::print_stdout, reason = "in unit tests only: the test runner captures nothing else")]
pub(crate) fn out(line: impl Display) {
    if cfg!(test) {
        println!("{line}");
    } else {
        // A reader that went away (`cargo xtask tidy | head`) must not turn the task's own answer into an error.
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

/// One line about what is going on.
#[expect(clippy::print_stderr, reason = "in unit tests only: the test runner captures nothing else")]
pub(crate) fn err(line: impl Display) {
    if cfg!(test) {
        eprintln!("{line}");
    } else {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

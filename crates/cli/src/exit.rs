//! Exit codes: 0 done, or the answer is yes; 1 the answer is no, or something was found; 2 usage (clap's own); 3 there is no
//! answer, because not everything could be read; 4 failed.

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Result;
use rolewright_server::store::StoreError;

const NO: u8 = 1;
const UNKNOWN: u8 = 3;
const FAILED: u8 = 4;

/// The answer to a question is no; says why.
#[derive(Debug)]
pub(crate) struct No<E>(pub(crate) E);

impl<E: std::error::Error> std::fmt::Display for No<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl<E: std::error::Error> std::error::Error for No<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// What was printed is the answer, and it is not yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer is no, or something was found.
    No,
    /// Not everything could be read, so that the answer may be wrong.
    Unknown,
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::No => "no",
            Self::Unknown => "unknown",
        })
    }
}

impl std::error::Error for Answer {}

/// The exit code of a command, after its error was printed.
pub(crate) fn code(result: Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // A reader that has seen enough, such as `head`, is no failure.
    if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(answer) = error.downcast_ref::<Answer>() {
        return ExitCode::from(match answer {
            Answer::No => NO,
            Answer::Unknown => UNKNOWN,
        });
    }
    crate::output::error(&error);
    ExitCode::from(if error.is::<No<StoreError>>() { NO } else { FAILED })
}

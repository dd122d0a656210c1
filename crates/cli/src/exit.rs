//! Exit codes: 0 done, 2 usage (clap's own), 4 failed. 1 and 3 belong to questions and come with them.

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Result;

const FAILED: u8 = 4;

/// The exit code of a command, after its error was printed.
pub(crate) fn code(result: Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // A reader that has seen enough, such as `head`, is no failure.
    if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    crate::output::error(&error);
    ExitCode::from(FAILED)
}

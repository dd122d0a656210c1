//! Running other programs.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The cargo that runs us, so that a task never mixes two toolchains.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Runs a program and returns what it printed. Its stderr is shown only when it fails, unless the caller passes it on.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        bail!("{} failed ({}){}{said}", shown(command), output.status, if said.is_empty() { "" } else { ": " });
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed something that is not UTF-8", shown(command)))
}

/// The command as one would type it, in backticks.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    format!("`{}`", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_names_the_command_and_what_it_said() {
        let error = stdout_of(Command::new("sh").args(["-c", "echo broken pipe >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("`sh -c"), "{error}");
        assert!(error.ends_with("broken pipe"), "{error}");
    }

    #[test]
    fn missing_program_is_named() {
        let error = stdout_of(&mut Command::new("no-such-program-anywhere")).unwrap_err().to_string();
        assert_eq!(error, "cannot start `no-such-program-anywhere`");
    }
}

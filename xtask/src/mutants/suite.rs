//! Running a `cargo test` command in the copy and reading who failed.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::scratch::Scratch;

const POLL: Duration = Duration::from_millis(20);

/// How a run of the tests ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// The first test that failed, or how the run broke off.
    Failed(String),
}

/// A `cargo test` command, tied to a tree and a target folder.
pub(super) struct Suite<'a> {
    /// The words after `cargo test`, up to `--`.
    cargo_args: &'a [String],
    /// From `--` on.
    test_args: &'a [String],
    mutant: &'a str,
    source: PathBuf,
    target: PathBuf,
}

impl<'a> Suite<'a> {
    pub(super) fn new(words: &'a [String], mutant: &'a str, source: PathBuf, target: PathBuf) -> Result<Self> {
        let [cargo, test, rest @ ..] = words else { bail!("a suite begins with `cargo test`") };
        if cargo != "cargo" || test != "test" {
            bail!("a suite begins with `cargo test`, not with `{cargo} {test}`");
        }
        let cut = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
        let (cargo_args, test_args) = rest.split_at(cut);
        Ok(Self { cargo_args, test_args, mutant, source, target })
    }

    /// Compiles the tests; the inner error is what the compiler said.
    pub(super) fn build(&self) -> Result<Result<(), String>> {
        let mut command = self.command();
        let output = command.arg("--no-run").arg("--quiet").output().context("cannot start cargo")?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(if output.status.success() { Ok(()) } else { Err(said()) })
    }

    /// Runs the tests, at most for `limit`.
    pub(super) fn run(&self, limit: Duration) -> Result<(Verdict, Duration)> {
        let folder = Scratch::new("mutant")?;
        let said = folder.path().join("said");
        let file = File::create(&said)?;
        let mut command = self.command();
        command.args(self.test_args).stdout(file.try_clone()?).stderr(file).stdin(Stdio::null());
        let started = Instant::now();
        let mut child = command.process_group(0).spawn().context("cannot start cargo")?;
        let guard = Guard::of(&child)?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                guard.dismiss()?;
                break status;
            }
            if started.elapsed() > limit {
                drop(guard);
                child.wait()?;
                return Ok((Verdict::Failed(format!("no end after {} s", limit.as_secs())), started.elapsed()));
            }
            thread::sleep(POLL);
        };
        let said = String::from_utf8_lossy(&std::fs::read(&said)?).into_owned();
        Ok((verdict(status, &said), started.elapsed()))
    }

    fn command(&self) -> Command {
        let mut command = process::cargo();
        command.arg("test").args(self.cargo_args).current_dir(&self.source);
        command.env("CARGO_TARGET_DIR", &self.target).env("ROLEWRIGHT_MUTANT", self.mutant);
        command
    }
}

/// Ends a whole process group when it is dropped, and also when we are killed: cargo, the tests and what they started
/// must not outlive an impatient Ctrl-C, because a mutant may loop for ever.
struct Guard {
    /// Waits until its stdin closes, which the system does for us however we end.
    watcher: Child,
}

impl Guard {
    fn of(leader: &Child) -> Result<Self> {
        let watcher = Command::new("sh")
            .args(["-c", "read -r line; kill -s KILL -- \"-$0\"", &leader.id().to_string()])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("cannot start `sh`")?;
        Ok(Self { watcher })
    }

    /// Lets go of a group that has ended by itself; its number may soon be somebody else's.
    fn dismiss(mut self) -> Result<()> {
        self.watcher.kill()?;
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.watcher.stdin.take());
        // The watcher ends either way, and there is nobody to tell.
        let _ = self.watcher.wait();
    }
}

fn verdict(status: ExitStatus, said: &str) -> Verdict {
    if status.success() {
        return Verdict::Passed;
    }
    let how = || status.signal().map_or_else(|| status.to_string(), |signal| format!("signal {signal}"));
    Verdict::Failed(first_failure(said).map_or_else(|| format!("the run broke off ({})", how()), str::to_owned))
}

/// The first failing test in what libtest printed, verbose or quiet.
fn first_failure(said: &str) -> Option<&str> {
    said.lines().find_map(|line| {
        let verbose = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... FAILED"));
        let quiet = line.strip_prefix("---- ").and_then(|rest| rest.split_once(" stdout ----"));
        verbose.or(quiet).map(|(name, _)| name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failure_is_read_from_both_forms() {
        assert_eq!(first_failure("test a ... ok\ntest m::b ... FAILED\ntest c ... FAILED\n"), Some("m::b"));
        assert_eq!(first_failure("..F.\nfailures:\n\n---- m::c stdout ----\npanicked\n"), Some("m::c"));
        assert_eq!(first_failure("error: no such target"), None);
    }

    #[test]
    fn run_that_dies_is_a_failure() {
        assert_eq!(verdict(ExitStatus::from_raw(0), ""), Verdict::Passed);
        assert_eq!(verdict(ExitStatus::from_raw(6), ""), Verdict::Failed("the run broke off (signal 6)".to_owned()));
    }

    #[test]
    fn only_cargo_test_is_a_suite() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let suite = |text: &str| Suite::new(&words(text), "", PathBuf::new(), PathBuf::new()).map(|_| ());
        assert!(suite("cargo test -p a -- --quiet").is_ok());
        assert!(suite("cargo bench").is_err());
        assert!(suite("make").is_err());
    }
}

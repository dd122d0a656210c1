//! `rolewright up` as a process.

mod ending;
mod kubeconfig;
mod refused;
mod running;
mod screen;
mod touring;
mod trying;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rolewright_testkit::testbed;
use serde_json::Value;

use crate::PATIENCE;

/// A folder of a test's own: what its processes keep, know of each other and write for a while is all in there.
pub(super) struct Home(PathBuf);

impl Home {
    pub(super) fn new() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("rolewright-up-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("bin"))?;
        let home = Self(folder.canonicalize()?);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rolewright"), home.path("bin/rolewright"))?;
        Ok(home)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A program in this home.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([self.path("bin")].into_iter().chain(std::env::split_paths(&path)));
        command.env("PATH", path.unwrap_or_default());
        command.env("HOME", &self.0).env("TMPDIR", &self.0).env("XDG_RUNTIME_DIR", &self.0).current_dir(&self.0);
        for variable in ["KUBECONFIG", "CLICOLOR_FORCE", "NO_COLOR", "COLUMNS", "TERM"] {
            command.env_remove(variable);
        }
        command
    }

    pub(super) fn rolewright(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command("rolewright").args(arguments).stdin(Stdio::null()).output()?)
    }

    /// Makes sure that there is a kubectl, the machine's or that of the testbed; false where there is none.
    pub(super) fn has_kubectl(&self) -> Result<bool> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if std::env::split_paths(&path).any(|folder| folder.join("kubectl").is_file()) {
            return Ok(true);
        }
        let Some(binary) = testbed::binary("what kubectl does with `up`")? else { return Ok(false) };
        let script = format!("#!/bin/sh\nexec '{}' kubectl \"$@\"\n", binary.display());
        let file = self.path("bin/kubectl");
        std::fs::write(&file, script)?;
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(true)
    }

    /// Runs lines of a shell; returns what they print. All must succeed.
    pub(super) fn shell(&self, script: &str) -> Result<String> {
        let output = self.command("bash").args(["-euo", "pipefail", "-c", script]).stdin(Stdio::null()).output()?;
        let said = String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?;
        ensure!(output.status.success(), "{script}\n{said}");
        Ok(said)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A sandbox that runs.
pub(super) struct Sandbox {
    pub(super) child: Child,
    said: Arc<Mutex<String>>,
    erred: Arc<Mutex<String>>,
}

impl Sandbox {
    /// `rolewright up` on a free port.
    pub(super) fn start(home: &Home, arguments: &[&str]) -> Result<Self> {
        Self::of(home.command("rolewright"), arguments)
    }

    /// The same by a command of one's own.
    pub(super) fn of(mut command: Command, arguments: &[&str]) -> Result<Self> {
        command.args(["up", "--port", "0"]).args(arguments).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let said = heard(child.stdout.take().context("piped")?);
        let erred = heard(child.stderr.take().context("piped")?);
        Ok(Self { child, said, erred })
    }

    /// The same, with one object per line, when it is ready; with what it said of itself.
    pub(super) fn ready(home: &Home, arguments: &[&str]) -> Result<(Self, Value)> {
        let sandbox = Self::start(home, &[&["-o", "json"], arguments].concat())?;
        sandbox.says("\"ready\"")?;
        let said = sandbox.said();
        let ready = serde_json::from_str(said.lines().next().context("a line")?)?;
        Ok((sandbox, ready))
    }

    /// All that it printed so far.
    pub(super) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// All that it said beside that.
    pub(super) fn erred(&self) -> String {
        self.erred.lock().unwrap().clone()
    }

    /// Waits until it has printed this.
    pub(super) fn says(&self, what: &str) -> Result<()> {
        until(what, || Ok(self.said().contains(what))).with_context(|| format!("{}{}", self.said(), self.erred()))
    }

    /// Ends it as Ctrl-C does; returns its exit code.
    pub(super) fn end(&mut self, signal: &str) -> Result<Option<i32>> {
        let status = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "no signal could be sent");
        self.ended()
    }

    pub(super) fn ended(&mut self) -> Result<Option<i32>> {
        let mut code = None;
        until("its end", || Ok(self.child.try_wait()?.inspect(|status| code = status.code()).is_some()))?;
        // The last words may still be on their way.
        until("its last word", || Ok(Arc::strong_count(&self.said) == 1 && Arc::strong_count(&self.erred) == 1))?;
        Ok(code)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // Mostly it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn heard(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let all = Arc::new(Mutex::new(String::new()));
    let heard = all.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut all = heard.lock().unwrap();
            all.push_str(&line);
            all.push('\n');
        }
    });
    all
}

/// Waits until something holds.
pub(super) fn until(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > PATIENCE {
            bail!("{what} did not come");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// A member of what it said of itself.
pub(super) fn text<'a>(ready: &'a Value, name: &str) -> &'a str {
    ready[name].as_str().unwrap_or_default()
}

/// `--kubeconfig FILE`, for a shell.
pub(super) fn kubectl(kubeconfig: impl AsRef<Path>) -> String {
    format!("kubectl --kubeconfig '{}'", kubeconfig.as_ref().display())
}

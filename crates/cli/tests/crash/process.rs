//! The program as users run it.

use std::fs;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use rolewright_testkit::client::Endpoint;

const TOKEN: &str = "crash";

/// Held while a program is started, and while this process has a folder locked: until it is another program, a child has
/// open whatever its parent has, and so would keep the lock a little longer.
static STARTING: Mutex<()> = Mutex::new(());

/// Nothing is started meanwhile.
pub(crate) fn undisturbed<T>(act: impl FnOnce() -> T) -> T {
    let _held = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}

/// Starts a program whose words are read.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    undisturbed(|| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn())
}

/// A folder that goes with its owner.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rolewright-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A running server.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) endpoint: Endpoint,
}

impl Running {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(["server", "--port", "0", "--admin-token", TOKEN, "--data"]).arg(folder.path()).args(arguments);
        Self::spawn(command, folder)
    }

    pub(crate) fn spawn(mut command: Command, folder: &Folder) -> Result<Self> {
        let mut child = start(&mut command)?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let Some(url) = line.strip_prefix("ready: ").and_then(|rest| rest.split_whitespace().next()) else {
            let mut errors = String::new();
            child.stderr.take().context("stderr is piped")?.read_to_string(&mut errors)?;
            bail!("the server does not start: {line}{errors}");
        };
        let config: Value = serde_json::from_slice(&fs::read(folder.path().join("admin.kubeconfig"))?)?;
        let ca = config.pointer("/clusters/0/cluster/certificate-authority-data").and_then(Value::as_str);
        let ca = STANDARD.decode(ca.context("the kubeconfig has the authority")?)?;
        let endpoint = Endpoint::new(url, &ca, TOKEN)?;
        Ok(Self { child, stdout, endpoint })
    }

    /// Kills it without a word.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits until it ends by itself; what it printed meanwhile.
    pub(crate) fn wait(mut self) -> Result<(ExitStatus, String, String)> {
        let (mut out, mut errors) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out)?;
        self.child.stderr.take().context("stderr is piped")?.read_to_string(&mut errors)?;
        Ok((self.child.wait()?, out, errors))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Mostly it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! A server as a process of its own.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rolewright_testkit::client::Endpoint;
use rolewright_testkit::{process, testbed};
use serde_json::Value;

use crate::connection::Connection;

const TOKEN: &str = "bench";

/// A running server; it ends when this is dropped.
pub(crate) struct Running {
    child: Ending,
    endpoint: Endpoint,
    scratch: Option<PathBuf>,
    /// From the start of the process until it said that it is ready.
    pub(crate) ready_in: Duration,
}

impl Running {
    /// `rolewright server`, as built for this bench.
    pub(crate) fn ours() -> Result<Self> {
        Self::ours_with(&[])
    }

    /// The same with further arguments.
    pub(crate) fn ours_with(arguments: &[&OsStr]) -> Result<Self> {
        let scratch = std::env::temp_dir().join(format!("rolewright-bench-{}", std::process::id()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(["server", "--port", "0", "--admin-token", TOKEN, "--kubeconfig"]).arg(&scratch).args(arguments);
        let (child, line, ready_in) = start(&mut command)?;
        let address = line.split_whitespace().nth(1).context("the ready line has the address")?;
        let config: Value = serde_json::from_slice(&fs::read(&scratch)?)?;
        let ca = config.pointer("/clusters/0/cluster/certificate-authority-data").and_then(Value::as_str);
        let ca = STANDARD.decode(ca.context("the kubeconfig has the authority")?)?;
        let endpoint = Endpoint::new(address, &ca, TOKEN)?;
        Ok(Self { child, endpoint, scratch: Some(scratch), ready_in })
    }

    /// `rolewright up` with its example: until it is ready, and its megabytes at rest.
    pub(crate) async fn sandbox(folder: &Path) -> Result<(Duration, f64)> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(["up", "--port", "0", "--quiet", "--kubeconfig"]).arg(folder.join("kubeconfig"));
        let (child, line, ready_in) = start(command.env("XDG_RUNTIME_DIR", folder))?;
        ensure!(line.starts_with("ready: "), "{line}");
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok((ready_in, process::resident(child.0.id())?))
    }

    /// `testbed apiserver`, where there is one.
    pub(crate) fn peer(arguments: &[&str]) -> Result<Option<Self>> {
        let Some(binary) = testbed::binary("the peer's side of the bench")? else { return Ok(None) };
        let mut command = Command::new::<&OsStr>(&binary);
        command.arg("apiserver").args(arguments);
        let (child, line, ready_in) = start(&mut command)?;
        let ready: Value = serde_json::from_str(&line)?;
        let text = |member: &str| ready.get(member).and_then(Value::as_str).context("the testbed says where it is");
        let endpoint = Endpoint::new(text("address")?, &fs::read(text("ca")?)?, text("token")?)?;
        Ok(Some(Self { child, endpoint, scratch: None, ready_in }))
    }

    /// A new connection as superuser.
    pub(crate) async fn connect(&self) -> Result<Connection> {
        Connection::to(&self.endpoint).await
    }

    /// A new connection with another token.
    pub(crate) async fn connect_as(&self, token: &str) -> Result<Connection> {
        Connection::to(&self.endpoint.with_token(token)).await
    }

    /// Resident megabytes now.
    pub(crate) fn memory(&self) -> Result<f64> {
        process::resident(self.child.0.id())
    }

    /// The same once it has come to rest.
    pub(crate) async fn memory_at_rest(&self) -> Result<f64> {
        tokio::time::sleep(Duration::from_secs(3)).await;
        self.memory()
    }
}

fn start(command: &mut Command) -> Result<(Ending, String, Duration)> {
    let began = Instant::now();
    let mut child = Ending(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
    ensure!(!line.is_empty(), "`{}` ended at once", command.get_program().display());
    Ok((child, line, began.elapsed()))
}

/// A process that ends with its owner.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // Nothing can be done about a child that will not end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(scratch) = &self.scratch {
            let _ = fs::remove_file(scratch);
        }
    }
}

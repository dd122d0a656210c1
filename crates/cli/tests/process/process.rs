//! The manager as a process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::PATIENCE;

/// A running manager.
pub(crate) struct Manager {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: Vec<String>,
}

/// A lease that leaves a write as long as it takes.
pub(crate) const PATIENT: [&str; 6] =
    ["--lease-duration", "60", "--lease-renew-deadline", "50", "--lease-retry", "0.1"];

impl Ended {
    /// The last line, which is the error if there is one.
    pub(crate) fn last(&self) -> &str {
        self.said.last().map_or("", String::as_str)
    }
}

impl Manager {
    /// Starts it as the only writer of aggregated roles, with a lease that is quick enough for a test.
    pub(crate) fn start(kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        Self::start_modules("aggregation", kubeconfig, arguments)
    }

    /// The same with other modules beside that.
    pub(crate) fn start_modules(modules: &str, kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args([
            "run",
            "--modules",
            modules,
            "--aggregation",
            "exclusive",
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            "json",
        ]);
        if !arguments.contains(&"--lease-duration") {
            command.args(["--lease-duration", "4", "--lease-renew-deadline", "3", "--lease-retry", "0.1"]);
        }
        command.args(arguments).arg("--kubeconfig").arg(kubeconfig);
        Self::spawn(command)
    }

    pub(crate) fn spawn(mut command: Command) -> Result<Self> {
        for variable in ["RUST_LOG", "POD_NAME", "POD_NAMESPACE", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
            command.env_remove(variable);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        Ok(Self { child, said })
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// Waits for a line of the log with this in its message.
    pub(crate) async fn says(&self, what: &str) -> Result<Value> {
        let start = Instant::now();
        loop {
            let lines = self.said();
            let found = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let mut found = found.filter(|line| line["message"].as_str().is_some_and(|text| text.contains(what)));
            if let Some(line) = found.next() {
                return Ok(line);
            }
            ensure!(start.elapsed() < PATIENCE, "it never says `{what}`: {lines:#?}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// The status and the body of what its port answers.
    pub(crate) async fn ask(&self, path: &str) -> Result<(u16, String)> {
        let line = self.says("health and metrics").await?;
        let address: SocketAddr = line["address"].as_str().context("it says where")?.parse()?;
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: probe\r\n\r\n").as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("an answer")?;
        let status = head.split(' ').nth(1).context("a status")?.parse()?;
        Ok((status, body.to_owned()))
    }

    /// Waits until its port answers so.
    pub(crate) async fn until(&self, path: &str, status: u16) -> Result<String> {
        let start = Instant::now();
        loop {
            let (found, body) = self.ask(path).await?;
            if found == status {
                return Ok(body);
            }
            ensure!(start.elapsed() < PATIENCE, "{path} is {found}: {body}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "no signal could be sent");
        Ok(())
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(mut self) -> Result<Ended> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                // The last words may still be on their way.
                while Arc::strong_count(&self.said) > 1 && start.elapsed() < PATIENCE {
                    sleep(Duration::from_millis(5)).await;
                }
                return Ok(Ended { code: status.code(), said: self.said() });
            }
            sleep(Duration::from_millis(10)).await;
        }
        bail!("it does not end: {:#?}", self.said())
    }

    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Ends it as Kubernetes ends a pod.
    pub(crate) async fn end(self) -> Result<Ended> {
        self.signal("TERM")?;
        self.ended().await
    }

    /// The same, when nothing may be wrong.
    pub(crate) async fn end_well(self) -> Result<()> {
        let ended = self.end().await?;
        ensure!(ended.code == Some(0), "{ended:#?}");
        Ok(())
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        // Mostly it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

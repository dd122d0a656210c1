//! A program that keeps roles: our manager, or Kubernetes' controller.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_testkit::peers::{Crossplane, Running};
use rolewright_testkit::process;
use rolewright_testkit::testbed::Lines;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::Server;

/// A program that takes less than this much of a processor for so long is at rest.
const REST: Duration = Duration::from_secs(2);
const RESTING: f64 = 0.02;
const LOOK: Duration = Duration::from_millis(50);
/// The manager where Kubernetes' controller does not run.
pub(crate) const EXCLUSIVE: [&str; 4] = ["--modules", "aggregation", "--aggregation", "exclusive"];
const PATIENCE: Duration = Duration::from_mins(5);

/// A running program; it is killed when this is dropped.
pub(crate) struct Program {
    id: u32,
    child: Kept,
}

enum Kept {
    Ours(Ending),
    Peer(Lines),
    Crossplane(Running),
}

impl Program {
    /// `rolewright run` as it is meant to run, with its lease.
    pub(crate) async fn ours(server: &Server, arguments: &[&str]) -> Result<Self> {
        let listen = free_port()?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_rolewright"));
        command.args(["run", "--log-level", "warn", "--lease-namespace", "default"]).args(arguments);
        command.arg("--listen").arg(listen.to_string()).arg("--kubeconfig").arg(server.kubeconfig());
        let child = Ending(command.stdin(Stdio::null()).spawn()?);
        let deadline = Instant::now() + PATIENCE;
        while !leads(listen).await.unwrap_or(false) {
            ensure!(Instant::now() < deadline, "the manager does not begin to lead");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(Self { id: child.0.id(), child: Kept::Ours(child) })
    }

    /// Kubernetes' controller, as fast as it can.
    pub(crate) fn peer(server: &Server) -> Result<Self> {
        let mut command = Command::new(&server.testbed);
        command.args(["controllers", "--only", "clusterrole-aggregation", "--qps", "0", "--kubeconfig"]);
        let mut lines = Lines::start(command.arg(server.kubeconfig()))?;
        let ready = lines.line()?;
        let id = ready.get("pid").and_then(Value::as_u64).context("the testbed says its id")?;
        Ok(Self { id: u32::try_from(id)?, child: Kept::Peer(lines) })
    }

    /// Crossplane's own manager.
    pub(crate) fn crossplane(server: &Server, crossplane: &Crossplane) -> Result<Self> {
        let log = std::env::temp_dir().join(format!("rolewright-bench-crossplane-{}.log", std::process::id()));
        let running = crossplane.rbac(server.kubeconfig(), &log)?;
        Ok(Self { id: running.id(), child: Kept::Crossplane(running) })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Asks it to end, and waits for that: a manager that is killed keeps its lease for a minute.
    pub(crate) fn end(self) -> Result<()> {
        match self.child {
            Kept::Ours(mut child) => {
                let asked = Command::new("kill").arg(self.id.to_string()).status()?;
                ensure!(asked.success() && child.0.wait()?.success(), "it does not end well");
            }
            Kept::Peer(mut lines) => lines.end()?,
            Kept::Crossplane(mut running) => running.end()?,
        }
        Ok(())
    }

    /// Time on a processor so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        process::cpu(self.id)
    }

    /// Resident megabytes now.
    pub(crate) fn memory(&self) -> Result<f64> {
        process::resident(self.id)
    }

    /// Waits until it is at rest; returns its time on a processor when it came to be so.
    pub(crate) async fn rest(&self) -> Result<Duration> {
        Ok(busy_until(self.id).await?.1)
    }

    /// How much of a processor it takes in so much time, in percent.
    pub(crate) async fn busy(&self, time: Duration) -> Result<f64> {
        let before = self.cpu()?;
        tokio::time::sleep(time).await;
        Ok(self.cpu()?.saturating_sub(before).as_secs_f64() / time.as_secs_f64() * 100.0)
    }
}

/// When a process came to rest, and its time on a processor until then.
pub(crate) async fn busy_until(id: u32) -> Result<(Instant, Duration)> {
    let deadline = Instant::now() + PATIENCE;
    // Looked at often, to tell when the rest began.
    let mut looks = VecDeque::from([(Instant::now(), process::cpu(id)?)]);
    loop {
        tokio::time::sleep(LOOK).await;
        let now = (Instant::now(), process::cpu(id)?);
        ensure!(now.0 < deadline, "it does not come to rest");
        looks.push_back(now);
        while let Some(&(at, cpu)) = looks.front().filter(|(at, _)| now.0 - *at >= REST) {
            if now.1.saturating_sub(cpu).as_secs_f64() < RESTING * (now.0 - at).as_secs_f64() {
                return Ok((at, cpu));
            }
            looks.pop_front();
        }
    }
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

fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// Whether a manager has seen everything and may write.
async fn leads(address: SocketAddr) -> Result<bool> {
    let ready = ask(address, "/readyz").await?.starts_with("HTTP/1.1 200");
    let metrics = ask(address, "/metrics").await?;
    let mut leases = metrics.lines().filter(|line| line.starts_with("rolewright_lease_leader{")).peekable();
    Ok(ready && leases.peek().is_some() && leases.all(|lease| lease.ends_with(" 1")))
}

async fn ask(address: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

//! `rolewright server`: the embedded API server on its own.

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use rolewright_server::store::{self, Data, StoreError, Sync};
use rolewright_server::{Guard, ListenError, Listening, Settings, StartError};

use crate::exit::No;
use crate::signal;

/// How the server is started.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 6443)]
    port: u16,
    /// The address; others than loopback let the network in
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// A bearer token for a member of system:masters; without one the kubeconfig has a client certificate
    #[arg(long, env = "ROLEWRIGHT_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// Where to keep the cluster; without it, the cluster ends with the process
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// When a write is acknowledged
    #[arg(long, value_enum, default_value_t = SyncArg::Fsync, requires = "data")]
    data_sync: SyncArg,
    /// Verify what is kept in --data, print what it is, and end
    #[arg(long, requires = "data")]
    check: bool,
    /// Where to write the kubeconfig [default: admin.kubeconfig in --data, or else rolewright-PORT.kubeconfig in the
    /// folder for temporary files]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Where to append every request with its decision, as Kubernetes' audit events
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,
    /// Who may write aggregated roles
    #[arg(long, value_enum, default_value_t = GuardArg::Strict)]
    aggregation_guard: GuardArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SyncArg {
    /// When it is on the disk: it survives a power cut
    Fsync,
    /// When the operating system has it: it survives kill -9, not a power cut
    Os,
}

impl From<SyncArg> for Sync {
    fn from(sync: SyncArg) -> Self {
        match sync {
            SyncArg::Fsync => Self::Disk,
            SyncArg::Os => Self::System,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GuardArg {
    /// As Kubernetes: only who holds every right
    Strict,
    /// Anyone, up to the rules that the author holds
    Covers,
}

impl From<GuardArg> for Guard {
    fn from(guard: GuardArg) -> Self {
        match guard {
            GuardArg::Strict => Self::Strict,
            GuardArg::Covers => Self::Covers,
        }
    }
}

pub(crate) fn run(args: ServerArgs, out: &mut impl Write) -> Result<()> {
    if let Some(folder) = args.data.as_deref().filter(|_| args.check) {
        return check(folder, out);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(serve(args, out))
}

/// Prints what a folder keeps.
fn check(folder: &Path, out: &mut impl Write) -> Result<()> {
    let report = store::check(folder).map_err(No)?;
    for (resource, count) in &report.objects {
        writeln!(out, "{count:>8}  {resource}")?;
    }
    writeln!(out, "{:>8}  objects, last revision {}", report.total(), report.revision)?;
    if report.torn {
        writeln!(out, "a write that was never acknowledged is at the end; the next start removes it")?;
    }
    Ok(writeln!(out, "ok")?)
}

async fn serve(args: ServerArgs, out: &mut impl Write) -> Result<()> {
    let settings = Settings {
        guard: args.aggregation_guard.into(),
        admin_token: args.admin_token,
        audit_log: args.audit_log,
        data: args.data.clone().map(|folder| Data { folder, sync: args.data_sync.into() }),
        ..Settings::default()
    };
    let listening = Listening::start(SocketAddr::new(args.bind, args.port), settings).await.map_err(explained)?;
    let port = listening.address.port();
    let kubeconfig = args.kubeconfig.or_else(|| args.data.as_ref().map(|data| data.join("admin.kubeconfig")));
    let kubeconfig = kubeconfig.unwrap_or_else(|| std::env::temp_dir().join(format!("rolewright-{port}.kubeconfig")));
    listening.write_kubeconfig(&kubeconfig).with_context(|| {
        format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", kubeconfig.display())
    })?;
    // One line: who started us may read no further.
    write!(out, "ready: {}  try: kubectl --kubeconfig {} get clusterroles", listening.url(), kubeconfig.display())?;
    match (&args.data, args.data_sync) {
        (None, _) => writeln!(out)?,
        (Some(data), SyncArg::Fsync) => writeln!(out, "  data: {}, on the disk before an answer", data.display())?,
        (Some(data), SyncArg::Os) => {
            writeln!(out, "  data: {}, not safe from power cuts (--data-sync os)", data.display())?;
        }
    }
    out.flush()?;
    let server = listening.server.clone();
    listening.run(signal::ended()).await;
    match server.failure() {
        Some(why) => bail!("cannot store: {why}; hint: make room and start again, every acknowledged write is there"),
        None => Ok(()),
    }
}

/// An error with the way out.
pub(crate) fn explained(error: ListenError) -> anyhow::Error {
    let hint = match &error {
        ListenError::Bind { source, .. } => match source.kind() {
            ErrorKind::AddrInUse => "--port 0 takes a free port",
            ErrorKind::PermissionDenied => "low ports are for root; --port 0 takes a free one",
            _ => "--bind wants an address of this machine",
        },
        ListenError::Start(StartError::Store(StoreError::Folder { .. } | StoreError::Io { .. })) => {
            "--data DIR with a folder that you may write to, or none to keep nothing"
        }
        ListenError::Start(StartError::Audit { .. }) => "--audit-log FILE with a file that you may write to",
        // They know themselves, or there is none.
        _ => return error.into(),
    };
    // The chain of causes is in one line before the hint.
    let error = anyhow::Error::from(error);
    anyhow!("{error:#}; hint: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_it_from_listening_has_a_way_out() {
        for (kind, way) in [
            (ErrorKind::AddrInUse, "; hint: --port 0 takes a free port"),
            (ErrorKind::PermissionDenied, "; hint: low ports are for root; --port 0 takes a free one"),
            (ErrorKind::AddrNotAvailable, "; hint: --bind wants an address of this machine"),
        ] {
            let error = ListenError::Bind { address: SocketAddr::from(([127, 0, 0, 1], 80)), source: kind.into() };
            let words = explained(error).to_string();
            assert!(words.starts_with("cannot listen on `127.0.0.1:80`: ") && words.ends_with(way), "{words}");
        }
    }
}

//! `rolewright server`: the embedded API server on its own.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rolewright_server::{Guard, ListenError, Listening, Settings};

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
    /// Where to write the kubeconfig [default: rolewright-PORT.kubeconfig in the folder for temporary files]
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(serve(args, out))
}

async fn serve(args: ServerArgs, out: &mut impl Write) -> Result<()> {
    let settings = Settings {
        guard: args.aggregation_guard.into(),
        admin_token: args.admin_token,
        audit_log: args.audit_log,
        ..Settings::default()
    };
    let listening = Listening::start(SocketAddr::new(args.bind, args.port), settings).await.map_err(explained)?;
    let port = listening.address.port();
    let kubeconfig =
        args.kubeconfig.unwrap_or_else(|| std::env::temp_dir().join(format!("rolewright-{port}.kubeconfig")));
    listening.write_kubeconfig(&kubeconfig).with_context(|| {
        format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", kubeconfig.display())
    })?;
    writeln!(out, "ready: {}  try: kubectl --kubeconfig {} get clusterroles", listening.url(), kubeconfig.display())?;
    out.flush()?;
    listening.run(ended()).await;
    Ok(())
}

fn explained(error: ListenError) -> anyhow::Error {
    let busy = matches!(&error, ListenError::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse);
    let error = anyhow::Error::from(error);
    if busy { error.context("the port is in use; hint: --port 0 takes a free one") } else { error }
}

/// Done at Ctrl-C or SIGTERM.
async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

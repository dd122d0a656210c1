//! `rolewright run`: the manager, on a cluster.

mod telemetry;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rolewright_controller::run::{Leases, Process, RunError, run as run_process};
use rolewright_controller::{Settings, lease};

use self::telemetry::TelemetryArgs;
use crate::cluster::ClusterArgs;
use crate::modules::{ModuleArgs, flags};
use crate::signal;

/// How the manager is started.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Where /livez, /readyz and /metrics are served
    #[arg(long, default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    lease: LeaseArgs,
    /// The name of the pod that we are, for others to tell us apart
    #[arg(long, env = "POD_NAME", value_name = "NAME")]
    pod: Option<String>,
    /// How often everything is listed and looked at anew
    #[arg(long, default_value = "3600", value_name = "SECONDS", value_parser = seconds)]
    resync: Duration,
    /// How many requests are under way at the same time
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    max_requests: usize,
    #[command(flatten)]
    telemetry: TelemetryArgs,
    #[command(flatten)]
    modules: ModuleArgs,
}

/// Who writes when several managers run.
#[derive(Debug, Args)]
struct LeaseArgs {
    /// Write without a lease of our own, for one manager alone; the leases of other controllers still count
    #[arg(long)]
    no_leader_election: bool,
    /// The name of the lease
    #[arg(long, default_value = "rolewright", value_name = "NAME")]
    lease_name: String,
    /// The namespace of the lease [default: the one that we run in]
    #[arg(long, env = "POD_NAMESPACE", value_name = "NAMESPACE")]
    lease_namespace: Option<String>,
    /// How long others wait for a sign of life of the leader
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = seconds)]
    lease_duration: Duration,
    /// How long we lead after our last sign of life
    #[arg(long, default_value = "50", value_name = "SECONDS", value_parser = seconds)]
    lease_renew_deadline: Duration,
    /// How often a sign of life is given
    #[arg(long, default_value = "2", value_name = "SECONDS", value_parser = seconds)]
    lease_retry: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

pub(crate) fn run(args: RunArgs) -> Result<()> {
    // One thread for all that the manager does: it waits much and computes little. Each further thread would keep memory of
    // its own, and waking it would cost more than what it does then.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    runtime.block_on(async {
        let telemetry = args.telemetry.start()?;
        let done = manage(args).await;
        telemetry.end().await;
        done
    })
}

async fn manage(args: RunArgs) -> Result<()> {
    let client = args.cluster.connect().await?;
    let instance = lease::identity(args.pod.as_deref());
    let namespace = args.lease.lease_namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
    let name = args.lease.lease_name.as_str();
    let mut rights = vec!["rolewright manifests rbac".to_owned()];
    rights.extend(flags(std::env::args()));
    rights.push(format!("--namespace {namespace} --lease {name}"));
    let lease = lease::Settings {
        duration: args.lease.lease_duration,
        renew_deadline: args.lease.lease_renew_deadline,
        retry: args.lease.lease_retry,
        ..lease::Settings::new(namespace, name, &instance)
    };
    let process = Process {
        manager: Settings {
            requests: args.max_requests,
            resync: args.resync,
            rights: rights.join(" "),
            ..Settings::default()
        },
        leases: if args.lease.no_leader_election { Leases::Shared(lease) } else { Leases::All(lease) },
        listen: Some(args.listen),
        instance,
        grace: Duration::from_secs(20),
    };
    run_process(client, args.modules.build(), process, signal::ended).await.map_err(explained)
}

fn explained(error: RunError) -> anyhow::Error {
    let busy = matches!(&error, RunError::Health(error) if error.is_busy());
    let error = anyhow::Error::from(error);
    if busy { error.context("the port is in use; hint: --listen ADDRESS chooses another") } else { error }
}

//! What can be typed.

use std::io::Write;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::command::{explain, manifests, plan, run, server, uninstall, up};

/// Computes, applies, protects and explains the permissions of Kubernetes platforms
#[derive(Debug, Parser)]
#[command(name = "rolewright", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what manifests and the manager would change, who would gain or lose what, and whether it is allowed
    Plan(plan::PlanArgs),
    /// Say why: where the rules of an aggregated role come from, or what a code means
    Explain(explain::ExplainArgs),
    /// Run the manager on a cluster: compute, apply and protect what its modules grant
    Run(run::RunArgs),
    /// Print what an operator applies for the manager
    Manifests(manifests::ManifestsArgs),
    /// Remove the manager from a cluster, and leave or take back the access that it gave
    Uninstall(uninstall::UninstallArgs),
    /// Watch a new API reach its users, on a cluster in memory
    Up,
    /// Run the embedded Kubernetes-compatible API server
    Server(server::ServerArgs),
}

impl Args {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<()> {
        match self.command {
            Command::Plan(args) => plan::run(&args, out),
            Command::Explain(args) => explain::run(&args, out),
            Command::Run(args) => run::run(args),
            Command::Manifests(args) => manifests::run(&args, out),
            Command::Uninstall(args) => uninstall::run(&args, out),
            Command::Up => up::run(out),
            Command::Server(args) => server::run(args, out),
        }
    }
}

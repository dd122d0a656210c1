//! What can be typed.

use std::io::Write;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::command::{server, up};

/// Computes, applies, protects and explains the permissions of Kubernetes platforms
#[derive(Debug, Parser)]
#[command(name = "rolewright", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch a new API reach its users, on a cluster in memory
    Up,
    /// Run the embedded Kubernetes-compatible API server
    Server(server::ServerArgs),
}

impl Args {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<()> {
        match self.command {
            Command::Up => up::run(out),
            Command::Server(args) => server::run(args, out),
        }
    }
}

//! Which cluster is meant.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rolewright_controller::connect::{Client, connect};

/// Which cluster is meant.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The kubeconfig
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

impl ClusterArgs {
    /// Connects as kubectl does, or as the pod that we are.
    pub(crate) async fn connect(&self) -> Result<Client> {
        Ok(connect(self.kubeconfig.as_deref(), self.context.as_deref()).await?)
    }
}

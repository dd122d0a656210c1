//! The real kube-apiserver, and plain requests to it.
//!
//! It comes from `testbed apiserver`, with etcd in the same process and Kubernetes' controllers if wanted. Who has no Go
//! may point `KUBEBUILDER_ASSETS` at a folder with `kube-apiserver` and `etcd`; controllers are not among those.

mod assets;
mod client;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use serde::Deserialize;

use self::assets::Assets;
pub use self::client::{Answer, Client};
use crate::testbed::{self, Lines};

/// A running API server. It ends, with its data, when this is dropped.
#[derive(Debug)]
pub struct ApiServer {
    /// How to reach it.
    pub ready: Ready,
    /// Whether Kubernetes' controllers run beside it.
    pub controllers: bool,
    process: Process,
}

/// What the server says of itself when it is ready.
#[derive(Clone, Debug, Deserialize)]
pub struct Ready {
    /// `https://127.0.0.1:PORT`
    pub address: String,
    /// A kubeconfig of a member of system:masters.
    pub kubeconfig: PathBuf,
    /// The token in that kubeconfig.
    pub token: String,
    /// The certificates to trust.
    pub ca: PathBuf,
}

#[derive(Debug)]
enum Process {
    Testbed(Lines),
    Assets(Assets),
}

impl ApiServer {
    /// Starts a server, with controllers where it can; nothing, with a word on stderr, where there is none to start.
    pub fn start(suite: &str) -> Result<Option<Self>> {
        Self::start_with(suite, &[])
    }

    /// The same with further arguments of `testbed apiserver`; other servers leave them out.
    pub fn start_with(suite: &str, arguments: &[String]) -> Result<Option<Self>> {
        if let Some(binary) = testbed::known() {
            let mut command = Command::new(binary);
            let mut process = Lines::start(command.args(["apiserver", "--controllers"]).args(arguments))?;
            let ready = serde_json::from_value(process.line()?)?;
            return Ok(Some(Self { ready, controllers: true, process: Process::Testbed(process) }));
        }
        if let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS") {
            let (assets, ready) = Assets::start(folder.as_ref())?;
            return Ok(Some(Self { ready, controllers: false, process: Process::Assets(assets) }));
        }
        testbed::binary(suite).map(|_| None)
    }

    /// Starts the testbed's server without Kubernetes' controllers.
    pub fn start_bare(testbed: &std::ffi::OsStr) -> Result<Self> {
        let mut process = Lines::start(Command::new(testbed).arg("apiserver"))?;
        let ready = serde_json::from_value(process.line()?)?;
        Ok(Self { ready, controllers: false, process: Process::Testbed(process) })
    }

    /// A client as superuser.
    pub fn client(&self) -> Result<Client> {
        match (&self.process, testbed::known()) {
            (Process::Testbed(_), Some(binary)) => Client::testbed(&binary, &self.ready),
            _ => Ok(Client::curl(&self.ready)),
        }
    }

    /// Ends the server and waits until it is gone.
    pub fn stop(self) -> Result<()> {
        match self.process {
            Process::Testbed(mut lines) => lines.end(),
            Process::Assets(assets) => {
                drop(assets);
                Ok(())
            }
        }
    }
}

//! A server of either kind with managers on it: what suites of the manager's modules share.
//!
//! ```ignore
//! let place = Place::embedded("my suite", Settings::default())?;                 // ours, without a socket
//! let Some(place) = Place::kubernetes("my suite", &[]).await? else { .. };       // the real one with its controllers
//! let manager = place.manage(vec![Box::new(module)])?;
//! place.apply(&manifest).await?;
//! place.until("a role", &rbac("ClusterRole", "x"), |role| role["rules"] == rules).await?;
//! manager.end().await?;
//! ```

mod bearer;
mod events;
mod objects;
pub mod rights;
mod running;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kube::Client;
use kube::client::ClientBuilder;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use rolewright_core::subject::User;
use rolewright_server::{Server, Settings, admin};
use tokio::time::timeout;
use tower::Layer;

use self::bearer::Bearer;
pub use self::running::{Running, is_idle, quick};
use crate::apiserver::ApiServer;
use crate::fault::FaultLayer;
use crate::requests::Requests;
use crate::testbed::{self, Lines};

/// Nothing takes longer.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A server. Clones are the same one; it ends with the last of them.
#[derive(Clone)]
pub struct Place {
    /// `ours` or `real`.
    pub name: &'static str,
    /// A client as superuser.
    pub client: Client,
    suite: &'static str,
    source: Source,
}

/// Where clients come from.
#[derive(Clone)]
enum Source {
    Ours(Server),
    Real { config: Box<kube::Config>, _kept: Arc<(ApiServer, Option<Lines>)> },
}

impl Place {
    /// Our server.
    pub fn embedded(suite: &'static str, settings: Settings) -> Result<Self> {
        Ok(Self::of(suite, Server::start(settings)?))
    }

    /// A server of ours that somebody else keeps.
    pub fn of(suite: &'static str, server: Server) -> Self {
        let client = Client::new(server.router_as(admin()), "default");
        Self { name: "ours", client, suite, source: Source::Ours(server) }
    }

    /// The real server with all of Kubernetes' controllers and further arguments of `testbed apiserver`; nothing, with a
    /// word on stderr, where there is none.
    pub async fn kubernetes(suite: &'static str, arguments: &[String]) -> Result<Option<Self>> {
        match ApiServer::start_with(suite, arguments)?.filter(|server| server.controllers) {
            Some(server) => Self::real(suite, server, None).await.map(Some),
            None => Ok(None),
        }
    }

    /// The real server beside these of Kubernetes' controllers.
    pub async fn kubernetes_only(suite: &'static str, controllers: &str) -> Result<Option<Self>> {
        let Some(binary) = testbed::binary(suite)? else { return Ok(None) };
        let server = ApiServer::start_bare(&binary)?;
        let mut command = std::process::Command::new(&binary);
        command.args(["controllers", "--only", controllers, "--kubeconfig"]);
        let mut controllers = Lines::start(command.arg(&server.ready.kubeconfig))?;
        controllers.line()?;
        Self::real(suite, server, Some(controllers)).await.map(Some)
    }

    async fn real(suite: &'static str, server: ApiServer, controllers: Option<Lines>) -> Result<Self> {
        let config = Kubeconfig::read_from(&server.ready.kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await?;
        // Who wants to see what is refused or lost must not have it tried again.
        config.default_retry = false;
        let client = Client::try_from(config.clone())?;
        let source = Source::Real { config: Box::new(config), _kept: Arc::new((server, controllers)) };
        Ok(Self { name: "real", client, suite, source })
    }

    /// Whether it is the real one.
    pub fn is_real(&self) -> bool {
        matches!(self.source, Source::Real { .. })
    }

    /// A client as superuser whose requests go through faults.
    pub fn client_through(&self, faults: &FaultLayer) -> Result<Client> {
        match &self.source {
            Source::Ours(server) => Ok(Client::new(faults.layer(server.router_as(admin())), "default")),
            Source::Real { config, .. } => Ok(ClientBuilder::try_from((**config).clone())?.with_layer(faults).build()),
        }
    }

    /// A client of somebody, whose requests are seen.
    pub fn client_as(&self, user: &User, requests: &Requests) -> Result<Client> {
        match &self.source {
            Source::Ours(server) => Ok(Client::new(requests.layer(server.router_as(user.clone())), "default")),
            Source::Real { config, .. } => {
                let mut config = (**config).clone();
                config.auth_info.impersonate = Some(user.name.to_string());
                Ok(ClientBuilder::try_from(config)?.with_layer(requests).build())
            }
        }
    }

    /// A client of whoever has this token.
    pub fn client_with(&self, token: &str) -> Result<Client> {
        match &self.source {
            Source::Ours(server) => Ok(Client::new(Bearer::new(token)?.layer(server.router()), "default")),
            Source::Real { config, .. } => {
                let mut config = (**config).clone();
                config.auth_info = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
                Ok(Client::try_from(config)?)
            }
        }
    }

    /// Ends a server of ours now; the real one ends when nobody holds it.
    pub fn end(&self) {
        if let Source::Ours(server) = &self.source {
            server.end();
        }
    }

    /// Takes a step, and says so.
    #[expect(clippy::print_stdout, reason = "where which steps were taken")]
    pub async fn step(&self, name: &str, steps: impl Future<Output = Result<()>>) -> Result<()> {
        let start = Instant::now();
        let done =
            timeout(PATIENCE * 5, steps).await.with_context(|| format!("{}: {name} takes too long", self.name))?;
        println!("{}, {}: {name} ({:.1} s)", self.suite, self.name, start.elapsed().as_secs_f64());
        done.with_context(|| format!("{}: {name}", self.name))
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.name, self.suite)
    }
}

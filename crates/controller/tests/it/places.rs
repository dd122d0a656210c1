//! Where suites run.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rolewright_testkit::apiserver::ApiServer;
use rolewright_testkit::embedded::{Listening, Server, Settings, admin};
use tokio::sync::oneshot;

/// Nothing takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A server over TLS, and how to get in.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) kubeconfig: PathBuf,
    /// Our server lives as long as this.
    _end: Option<oneshot::Sender<()>>,
}

/// Both servers; only ours, with a word on stderr, where there is no testbed.
pub(crate) async fn both() -> Result<Vec<Place>> {
    Ok([Some(ours().await?), real().await?].into_iter().flatten().collect())
}

/// The real server, one for all tests.
async fn real() -> Result<Option<Place>> {
    // It ends with this process, whose end it sees.
    static SERVER: OnceLock<Result<Option<ApiServer>, String>> = OnceLock::new();
    let started = tokio::task::spawn_blocking(|| {
        SERVER.get_or_init(|| ApiServer::start("the manager's suite").map_err(|error| format!("{error:#}")))
    });
    let server = started.await?.as_ref().map_err(|error| anyhow!("the real server: {error}"))?;
    let place = |server: &ApiServer| Place { name: "real", kubeconfig: server.ready.kubeconfig.clone(), _end: None };
    Ok(server.as_ref().map(place))
}

/// Our server on a socket.
async fn ours() -> Result<Place> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), Settings::default()).await?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let kubeconfig = std::env::temp_dir().join(format!("rolewright-it-{}-{count}.kubeconfig", std::process::id()));
    listening.write_kubeconfig(&kubeconfig)?;
    let (end, ended) = oneshot::channel();
    tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Ok(Place { name: "ours", kubeconfig, _end: Some(end) })
}

/// Our server without a socket, for tests that pause the time.
pub(crate) fn in_process() -> Result<Server> {
    Ok(Server::start(Settings::default())?)
}

/// Its superuser.
pub(crate) fn client_of(server: &Server) -> Client {
    Client::new(server.router_as(admin()), "default")
}

impl Place {
    pub(crate) async fn config(&self) -> Result<Config> {
        config(&self.kubeconfig).await
    }

    pub(crate) async fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.config().await?)?)
    }

    /// A user that can only do what somebody grants.
    pub(crate) async fn client_as(&self, user: &str) -> Result<Client> {
        let mut config = self.config().await?;
        config.auth_info.impersonate = Some(user.to_owned());
        Ok(Client::try_from(config)?)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.name == "ours" {
            // A file in the temporary folder does no harm.
            let _ = std::fs::remove_file(&self.kubeconfig);
        }
    }
}

async fn config(kubeconfig: &Path) -> Result<Config> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    Ok(config)
}

/// Looks again and again until it is so.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await.with_context(|| what.to_owned())? {
            return Ok(found);
        }
        ensure!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

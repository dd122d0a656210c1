//! The two servers that clients meet.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rolewright_server::{Controllers, Listening, Settings};
use rolewright_testkit::apiserver::ApiServer;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// No single answer takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and how to get in as its superuser.
pub(crate) struct Home {
    /// `real` or `ours`.
    pub(crate) name: &'static str,
    /// `127.0.0.1:6443`
    pub(crate) address: String,
    pub(crate) kubeconfig: PathBuf,
    client: kube::Client,
    /// Our server lives as long as this.
    _end: Option<oneshot::Sender<()>>,
}

/// The real server with its controllers, one for all tests; none, with a word on stderr, where there is no testbed.
pub(crate) async fn real() -> Result<Option<Home>> {
    // It ends with this process, whose end it sees.
    static SERVER: OnceLock<Result<Option<ApiServer>, String>> = OnceLock::new();
    let started = tokio::task::spawn_blocking(|| {
        SERVER.get_or_init(|| ApiServer::start("the clients' suite").map_err(|error| format!("{error:#}")))
    });
    let server = match started.await? {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(None),
        Err(error) => anyhow::bail!("the real server: {error}"),
    };
    ensure!(server.controllers, "the clients' suite needs Kubernetes' controllers, which come with the testbed");
    let address = server.ready.address.trim_start_matches("https://").to_owned();
    Home::new("real", address, server.ready.kubeconfig.clone(), None).await.map(Some)
}

/// Our server on a socket, with files in `folder`.
pub(crate) async fn ours(controllers: Controllers, folder: &Path) -> Result<Home> {
    let settings = Settings { controllers, admin_token: Some("clients".to_owned()), ..Settings::default() };
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), settings).await?;
    let kubeconfig = folder.join("ours.kubeconfig");
    listening.write_kubeconfig(&kubeconfig)?;
    let address = listening.address.to_string();
    let (end, ended) = oneshot::channel();
    tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Home::new("ours", address, kubeconfig, Some(end)).await
}

/// A folder of its own for a test; it is emptied first.
pub(crate) fn folder(test: &str) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("rolewright-clients-{}-{test}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

impl Home {
    async fn new(
        name: &'static str,
        address: String,
        kubeconfig: PathBuf,
        end: Option<oneshot::Sender<()>>,
    ) -> Result<Self> {
        let read = Kubeconfig::read_from(&kubeconfig)?;
        let config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
        Ok(Self { name, address, kubeconfig, client: kube::Client::try_from(config)?, _end: end })
    }

    /// Sends a plain request; the body of the answer is null where it is no JSON.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        let content = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let bytes = body.map(Value::to_string).unwrap_or_default().into_bytes();
        let request =
            Request::builder().method(method).uri(path).header("content-type", content).body(Body::from(bytes))?;
        let whole = async {
            let answer = self.client.send(request).await?;
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await?.to_bytes();
            anyhow::Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
        };
        timeout(PATIENCE, whole).await.with_context(|| format!("{}: no answer to {method} {path}", self.name))?
    }
}

//! Both servers, and plain requests to them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rolewright_server::{Guard, Listening, Server, Settings};
use rolewright_testkit::apiserver::ApiServer;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// No single answer takes longer.
const PATIENCE: Duration = Duration::from_mins(1);
/// The superuser's token of our server.
const TOKEN: &str = "escalation";

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// The superuser.
    Root,
    /// Somebody whom the superuser impersonates: a name and groups.
    User(String, Vec<String>),
    /// Whose token this is.
    Token(String),
}

impl Who {
    pub(crate) fn user(name: &str) -> Self {
        Self::User(name.to_owned(), Vec::new())
    }
}

/// A request, but for who asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// JSON if empty.
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &'static str, path: impl Into<String>, body: &Value) -> Self {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Self { method, path: path.into(), body, ..Self::default() }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path, &Value::Null)
    }

    pub(crate) fn typed(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Null if it is no JSON.
    pub(crate) body: Value,
}

/// A server that answers.
#[derive(Clone)]
pub(crate) struct Target {
    client: Client,
    root: String,
    /// What follows from a write is there with its answer.
    settled: bool,
}

impl Target {
    /// A server on a socket.
    pub(crate) async fn from_kubeconfig(file: &Path) -> Result<Self> {
        let mut config =
            kube::Config::from_custom_kubeconfig(Kubeconfig::read_from(file)?, &KubeConfigOptions::default()).await?;
        // WHY: the token is a secret that prints as nothing; on the way to JSON it is a text.
        let credentials = serde_json::to_value(std::mem::take(&mut config.auth_info))?;
        config.default_retry = false;
        let root = credentials["token"].as_str().context("the kubeconfig has a token")?.to_owned();
        Ok(Self { client: Client::try_from(config)?, root, settled: false })
    }

    /// Our server in the same process, and the server itself.
    pub(crate) fn in_process(guard: Guard) -> Result<(Server, Self)> {
        Self::with(Settings { guard, ..Settings::default() })
    }

    /// The same, set up in another way.
    pub(crate) fn with(settings: Settings) -> Result<(Server, Self)> {
        let server = Server::start(Settings { admin_token: Some(TOKEN.to_owned()), ..settings })?;
        let target = Self { client: Client::new(server.router(), "default"), root: TOKEN.to_owned(), settled: true };
        Ok((server, target))
    }

    /// Whether nothing needs to be waited for.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Sends a request.
    pub(crate) async fn send(&self, who: &Who, ask: &Ask) -> Result<Answer> {
        let content_type = if ask.content_type.is_empty() { "application/json" } else { ask.content_type };
        let mut request = Request::builder().method(ask.method).uri(&ask.path).header("Content-Type", content_type);
        let token = if let Who::Token(token) = who { token } else { &self.root };
        request = request.header("Authorization", format!("Bearer {token}"));
        if let Who::User(name, groups) = who {
            request = request.header("Impersonate-User", name);
            for group in groups {
                request = request.header("Impersonate-Group", group);
            }
        }
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(ask.body.clone()))?;
        let whole = async {
            let (head, body) = self.client.send(request).await?.into_parts();
            anyhow::Ok((head.status.as_u16(), body.collect().await?.to_bytes()))
        };
        let (status, body) =
            timeout(PATIENCE, whole).await.with_context(|| format!("{} {}", ask.method, ask.path))??;
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
    }

    /// Sends a request of the superuser that has to succeed.
    pub(crate) async fn must(&self, ask: &Ask) -> Result<Value> {
        let answer = self.send(&Who::Root, ask).await?;
        ensure!((200..300).contains(&answer.status), "{} {}: {}", ask.method, ask.path, answer.body);
        Ok(answer.body)
    }

    /// Asks until the answer is as wanted.
    pub(crate) async fn until(&self, who: &Who, ask: &Ask, wanted: impl Fn(&Answer) -> bool) -> Result<Answer> {
        let start = Instant::now();
        loop {
            let answer = self.send(who, ask).await?;
            if wanted(&answer) {
                return Ok(answer);
            }
            ensure!(start.elapsed() < PATIENCE, "{who:?} {} {}: still {answer:?}", ask.method, ask.path);
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The real server and ours. Both end when this is dropped.
pub(crate) struct Both {
    pub(crate) real: Target,
    pub(crate) ours: Target,
    _real: ApiServer,
    _ours: oneshot::Sender<()>,
}

impl Both {
    /// Starts both; nothing where there is no real one.
    pub(crate) async fn start(suite: &str) -> Result<Option<Self>> {
        let Some(server) = ApiServer::start(suite)? else { return Ok(None) };
        ensure!(server.controllers, "{suite} needs Kubernetes' controllers, which come with the testbed");
        let real = Target::from_kubeconfig(&server.ready.kubeconfig).await?;
        let (ours, end) = listening(Guard::Strict).await?;
        Ok(Some(Self { real, ours, _real: server, _ours: end }))
    }
}

/// Our server on a socket.
async fn listening(guard: Guard) -> Result<(Target, oneshot::Sender<()>)> {
    let settings = Settings { guard, admin_token: Some(TOKEN.to_owned()), ..Settings::default() };
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), settings).await?;
    let file = std::env::temp_dir().join(format!("rolewright-escalation-{}.kubeconfig", listening.address.port()));
    listening.write_kubeconfig(&file)?;
    let target = Target::from_kubeconfig(&file).await;
    std::fs::remove_file(&file)?;
    let (end, ended) = oneshot::channel();
    tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Ok((target?, end))
}

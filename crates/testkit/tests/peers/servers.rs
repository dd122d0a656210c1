//! The two servers that the peers meet.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rolewright_server::{Controllers, Listening, Settings};
use rolewright_testkit::apiserver::ApiServer;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// Nothing takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) const JSON: &str = "application/json";
pub(crate) const YAML: &str = "application/yaml";
pub(crate) const MERGE: &str = "application/merge-patch+json";

/// The real server and ours, and a folder for their files.
pub(crate) struct Pair {
    pub(crate) real: Home,
    pub(crate) ours: Home,
    pub(crate) folder: PathBuf,
}

/// A server, and how to get in as its superuser. It ends when this is dropped.
pub(crate) struct Home {
    /// `real`, `second`, `ours` or `other`.
    pub(crate) name: &'static str,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) client: kube::Client,
    _kept: Option<Kept>,
}

enum Kept {
    Real { _server: Box<ApiServer> },
    Embedded { _end: oneshot::Sender<()> },
}

/// A complete answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Null where it is no JSON.
    pub(crate) body: Value,
}

/// Both servers; none, with a word on stderr, where there is no testbed.
pub(crate) async fn pair(test: &str) -> Result<Option<Pair>> {
    let folder = std::env::temp_dir().join(format!("rolewright-peers-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let Some(real) = real("real").await? else { return Ok(None) };
    let second = std::env::var("ROLEWRIGHT_TWIN").is_ok_and(|twin| twin == "self");
    let ours = if second { real_again().await? } else { ours(&folder, "ours").await? };
    Ok(Some(Pair { real, ours, folder }))
}

/// Two real servers and two of ours.
pub(crate) struct Four {
    pub(crate) homes: [Home; 4],
    pub(crate) folder: PathBuf,
}

/// Four servers; none, with a word on stderr, where there is no testbed.
pub(crate) async fn four(test: &str) -> Result<Option<Four>> {
    let Some(Pair { real, ours: first, folder }) = pair(test).await? else { return Ok(None) };
    Ok(Some(Four { homes: [real, real_again().await?, first, ours(&folder, "other").await?], folder }))
}

async fn real(name: &'static str) -> Result<Option<Home>> {
    let started = tokio::task::spawn_blocking(|| ApiServer::start("the peers suite"));
    let Some(server) = started.await?? else { return Ok(None) };
    ensure!(server.controllers, "the peers suite needs Kubernetes' controllers, which come with the testbed");
    let kubeconfig = server.ready.kubeconfig.clone();
    Home::new(name, kubeconfig, Kept::Real { _server: Box::new(server) }).await.map(Some)
}

async fn real_again() -> Result<Home> {
    real("second").await?.context("where one real server starts, another one does")
}

async fn ours(folder: &Path, name: &'static str) -> Result<Home> {
    // WHY: the testbed runs no publisher of the authority's certificate.
    let controllers = Controllers { root_ca: false, ..Controllers::default() };
    let settings = Settings { controllers, admin_token: Some("peers".to_owned()), ..Settings::default() };
    let listening = Listening::start(([127, 0, 0, 1], 0).into(), settings).await?;
    let kubeconfig = folder.join(format!("{name}.kubeconfig"));
    listening.write_kubeconfig(&kubeconfig)?;
    let (end, ended) = oneshot::channel();
    tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    Home::new(name, kubeconfig, Kept::Embedded { _end: end }).await
}

impl Home {
    async fn new(name: &'static str, kubeconfig: PathBuf, kept: Kept) -> Result<Self> {
        let read = Kubeconfig::read_from(&kubeconfig)?;
        let config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await?;
        Ok(Self { name, kubeconfig, client: kube::Client::try_from(config)?, _kept: Some(kept) })
    }

    /// The same server for somebody who does not keep it.
    pub(crate) fn guest(&self) -> Self {
        Self { name: self.name, kubeconfig: self.kubeconfig.clone(), client: self.client.clone(), _kept: None }
    }

    /// Sends a request.
    pub(crate) async fn send(&self, method: &str, path: &str, content: &str, body: Vec<u8>) -> Result<Answer> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content)
            .header("user-agent", "peers/1.0")
            .body(Body::from(body))?;
        self.answer(request).await.with_context(|| format!("{}: {method} {path}", self.name))
    }

    /// Reads, in a form of one's choice.
    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Result<Answer> {
        let request = Request::builder().uri(path).header("accept", accept).body(Body::empty())?;
        self.answer(request).await.with_context(|| format!("{}: GET {path}", self.name))
    }

    /// Reads.
    pub(crate) async fn get(&self, path: &str) -> Result<Answer> {
        self.get_as(path, JSON).await
    }

    /// Reads until this holds.
    pub(crate) async fn until(&self, path: &str, holds: impl Fn(&Answer) -> bool) -> Result<Answer> {
        let start = Instant::now();
        loop {
            let answer = self.get(path).await?;
            if holds(&answer) {
                return Ok(answer);
            }
            ensure!(start.elapsed() < PATIENCE, "{}: waited in vain for {path}: {:#}", self.name, answer.body);
            sleep(Duration::from_millis(40)).await;
        }
    }

    /// Sends a request that must work.
    pub(crate) async fn done(&self, method: &str, path: &str, content: &str, body: Vec<u8>) -> Result<Value> {
        let answer = self.send(method, path, content, body).await?;
        ensure!((200..300).contains(&answer.status), "{}: {method} {path}: {:#}", self.name, answer.body);
        Ok(answer.body)
    }

    async fn answer(&self, request: Request<Body>) -> Result<Answer> {
        let whole = async {
            let answer = self.client.send(request).await?;
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await?.to_bytes();
            anyhow::Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or_default() })
        };
        timeout(PATIENCE, whole).await.context("no answer")?
    }
}

/// Asks until there is an answer. What comes instead says what is still missing.
pub(crate) async fn eventually<T, F>(what: &str, mut ask: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<Result<T, String>>>,
{
    let start = Instant::now();
    loop {
        match ask().await? {
            Ok(answer) => return Ok(answer),
            Err(missing) => ensure!(start.elapsed() < PATIENCE, "waited in vain for {what}: {missing}"),
        }
        // What takes long is asked for less often.
        sleep((start.elapsed() / 8).clamp(Duration::from_millis(40), Duration::from_secs(1))).await;
    }
}

/// A document without what is of its server: ids, versions and times.
pub(crate) fn plain(document: &Value) -> Value {
    const OWN: [&str; 6] =
        ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime"];
    match document {
        Value::Object(members) => {
            let replaced = members.iter().map(|(name, value)| {
                let own = OWN.contains(&name.as_str()) && value.is_string();
                let value = if own { json!("..") } else { plain(value) };
                // Lists of owners have their ids as keys.
                let name = if name.starts_with("k:{\"uid\"") { "k:{uid}" } else { name };
                (name.to_owned(), value)
            });
            Value::Object(replaced.collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(plain).collect();
            // Who managed fields in the same second comes in the order of names, else in that of time.
            if items.iter().all(|item| item["manager"].is_string()) {
                for item in &mut items {
                    // The server's own manager is named after its program.
                    let component = item["manager"].as_str().is_some_and(|name| name.starts_with("testbed"));
                    if component || item["manager"] == "kube-apiserver" {
                        item["manager"] = json!("<component>");
                    }
                }
                items.sort_by_key(Value::to_string);
            }
            items.into()
        }
        other => other.clone(),
    }
}

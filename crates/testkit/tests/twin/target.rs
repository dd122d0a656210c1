//! A server that answers: over a socket or in the same process, by the same client.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// No single answer takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and the token of its superuser. The client itself sends no credentials, so that a request without any is
/// possible.
#[derive(Clone)]
pub(crate) struct Target {
    client: Client,
    token: String,
}

/// A request, with everything filled in.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A complete answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By lower-case name, in the order they came.
    pub(crate) headers: BTreeMap<String, Vec<String>>,
    pub(crate) body: Vec<u8>,
}

/// An answer that stays open.
#[derive(Debug)]
pub(crate) struct Stream {
    lines: mpsc::UnboundedReceiver<Vec<u8>>,
    reader: JoinHandle<()>,
}

impl Target {
    /// From a kubeconfig with a token.
    pub(crate) async fn from_kubeconfig(file: &Path) -> Result<Self> {
        let kubeconfig = Kubeconfig::read_from(file)?;
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        // The token is a secret that prints as nothing; on the way to JSON it is a text.
        let credentials = serde_json::to_value(std::mem::take(&mut config.auth_info))?;
        let token = credentials["token"].as_str().context("the kubeconfig has a token")?.to_owned();
        config.default_retry = false;
        Ok(Self { client: Client::try_from(config)?, token })
    }

    /// The superuser's token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn send(&self, ask: &Ask) -> Result<Answer> {
        let whole = async {
            let (mut answer, body) = self.begin(ask).await?;
            answer.body = body.collect().await?.to_bytes().to_vec();
            anyhow::Ok(answer)
        };
        timeout(PATIENCE, whole).await.context("no answer")?
    }

    /// Sends a request and leaves the answer open. An answer that is no success is read to its end.
    pub(crate) async fn open(&self, ask: &Ask) -> Result<(Answer, Option<Stream>)> {
        let (mut answer, body) = timeout(PATIENCE, self.begin(ask)).await.context("no answer")??;
        if answer.status != 200 {
            answer.body = timeout(PATIENCE, body.collect()).await.context("no end")??.to_bytes().to_vec();
            return Ok((answer, None));
        }
        let (sender, lines) = mpsc::unbounded_channel();
        let reader = tokio::spawn(async move {
            let mut frames = body.into_data_stream();
            let mut rest = Vec::new();
            while let Some(Ok(bytes)) = frames.next().await {
                rest.extend_from_slice(&bytes);
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let line = rest.drain(..=end).collect();
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            }
        });
        Ok((answer, Some(Stream { lines, reader })))
    }

    async fn begin(&self, ask: &Ask) -> Result<(Answer, Body)> {
        let mut request = Request::builder().method(ask.method.as_str()).uri(ask.target.as_str());
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        let response = self.client.send(request.body(Body::from(ask.body.clone()))?).await?;
        let (parts, body) = response.into_parts();
        let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in &parts.headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers.entry(name.as_str().to_owned()).or_default().push(value);
        }
        Ok((Answer { status: parts.status.as_u16(), headers, body: Vec::new() }, body))
    }
}

impl Stream {
    /// The lines until `enough` says so, then those that follow within a moment. A stream that falls silent ends too.
    pub(crate) async fn collect(mut self, enough: impl Fn(&[Vec<u8>]) -> bool) -> Vec<u8> {
        const SILENCE: Duration = Duration::from_secs(8);
        const MOMENT: Duration = Duration::from_millis(80);
        let mut lines: Vec<Vec<u8>> = Vec::new();
        loop {
            let wait = if enough(&lines) { MOMENT } else { SILENCE };
            match timeout(wait, self.lines.recv()).await {
                Ok(Some(line)) => lines.push(line),
                Ok(None) | Err(_) => break,
            }
        }
        self.reader.abort();
        lines.concat()
    }
}

//! When aggregated roles were written, as a watch sees it. It asks for metadata only, so as not to take much from those who
//! are measured.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::server::{ROLES, Server, send};

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PATIENCE: Duration = Duration::from_mins(5);

type Writes = Arc<Mutex<Vec<(Instant, String)>>>;

/// Writes since this was started.
pub(crate) struct Seen {
    writes: Writes,
    task: JoinHandle<Result<()>>,
}

impl Seen {
    /// Starts to look.
    pub(crate) async fn start(server: &Server) -> Result<Self> {
        let mut connection = server.connect().await?;
        let list = send(&mut connection, "GET", &format!("{ROLES}?limit=1"), &Value::Null).await?;
        let version =
            list.pointer("/metadata/resourceVersion").and_then(Value::as_str).context("a list has a version")?;
        let path = format!("{ROLES}?watch=1&resourceVersion={version}");
        let answer = connection.open_in(METADATA, "GET", &path, "application/json", &Value::Null).await?;
        ensure!(answer.status().is_success(), "no watch: {}", answer.status());
        let writes = Writes::default();
        let task = tokio::spawn(listen(answer.into_body(), writes.clone()));
        Ok(Self { writes, task })
    }

    /// Waits until each of these was written.
    pub(crate) async fn all(&self, names: &[&str]) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let is_missing = |name: &&&str| !self.writes().iter().any(|(_, written)| written == **name);
        while let Some(missing) = names.iter().find(is_missing) {
            ensure!(Instant::now() < deadline && !self.task.is_finished(), "`{missing}` was not written");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// When the last of these was last written.
    pub(crate) fn last(&self, is_meant: impl Fn(&str) -> bool) -> Option<Instant> {
        self.writes().iter().filter(|(_, name)| is_meant(name)).map(|(at, _)| *at).max()
    }

    fn writes(&self) -> std::sync::MutexGuard<'_, Vec<(Instant, String)>> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(mut body: Incoming, writes: Writes) -> Result<()> {
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let at = Instant::now();
        let frame = frame?;
        let Some(data) = frame.data_ref() else { continue };
        text.extend_from_slice(data);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let event: Value = serde_json::from_slice(&line)?;
            let name =
                event.pointer("/object/metadata/name").and_then(Value::as_str).context("an object has a name")?;
            writes.lock().unwrap_or_else(PoisonError::into_inner).push((at, name.to_owned()));
        }
    }
    Ok(())
}

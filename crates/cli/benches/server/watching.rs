//! How long a change takes to whoever watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::process::Running;

const EVENTS: usize = 100;
/// A connection carries this many watches; Kubernetes allows a hundred.
const PER_CONNECTION: usize = 50;

pub(crate) struct Latency {
    /// Microseconds from sending the write to having its event, at the 99th percentile of all watchers and events.
    pub(crate) p99: f64,
    /// Resident megabytes while they watch.
    pub(crate) memory: f64,
}

/// Lets `watchers` watch one namespace, and changes an object in it.
pub(crate) async fn latency(server: &Running, watchers: usize) -> Result<Latency> {
    let namespace = format!("watched-{watchers}");
    let mut admin = server.connect().await?;
    admin.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await?;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let list = admin.get(&path).await?;
    let version = list.pointer("/metadata/resourceVersion").and_then(Value::as_str).context("a list has a version")?;
    let watch = format!("{path}?watch=1&resourceVersion={version}");

    let began = Instant::now();
    let heard = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    let mut connection = server.connect().await?;
    for watcher in 0..watchers {
        if watcher % PER_CONNECTION == 0 {
            connection = server.connect().await?;
        }
        let (mut connection, watch, heard) = (connection.clone(), watch.clone(), heard.clone());
        let answer = connection.open(Method::GET, &watch, &Value::Null).await?;
        tasks.spawn(async move { listen(answer.into_body(), began, &heard).await });
    }
    let sent = write(&mut admin, &path, watchers, began, &heard).await?;
    let memory = server.memory()?;

    let mut took = Vec::with_capacity(watchers * EVENTS);
    while let Some(times) = tasks.join_next().await {
        for (at, sent) in times??.into_iter().zip(&sent) {
            took.push(at.saturating_sub(*sent));
        }
    }
    took.sort_unstable();
    let p99 = took.get(took.len() * 99 / 100).context("there were events")?;
    Ok(Latency { p99: p99.as_secs_f64() * 1e6, memory })
}

/// Writes one object after the other; the next only when every watcher has heard of the last.
async fn write(
    admin: &mut Connection,
    path: &str,
    watchers: usize,
    began: Instant,
    heard: &AtomicUsize,
) -> Result<Vec<Duration>> {
    let mut sent = Vec::new();
    for event in 0..EVENTS {
        sent.push(began.elapsed());
        admin.create(path, &json!({"metadata": {"name": format!("event-{event:04}")}, "data": {"k": "v"}})).await?;
        let deadline = Instant::now() + Duration::from_secs(30);
        while heard.load(Ordering::Relaxed) < watchers * (event + 1) {
            ensure!(Instant::now() < deadline, "some watcher did not hear of event {event}");
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
    Ok(sent)
}

/// When each of the events came.
async fn listen(mut body: hyper::body::Incoming, began: Instant, heard: &AtomicUsize) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(EVENTS);
    while times.len() < EVENTS {
        let frame = body.frame().await.context("the watch ended")??;
        let lines = frame.data_ref().map_or(0, |data| data.split(|byte| *byte == b'\n').count() - 1);
        for _ in 0..lines {
            times.push(began.elapsed());
            heard.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(times)
}

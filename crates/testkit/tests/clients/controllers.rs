//! Kubernetes' own controllers on our server, whose own are off: everything ends as it does at home.

mod aggregating;
mod collecting;
mod namespaces;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rolewright_server::Controllers;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::process::Process;
use crate::servers::{self, Home};

const LIMIT: Duration = Duration::from_mins(1);
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

#[tokio::test(flavor = "multi_thread")]
async fn controllers_feel_at_home() -> Result<()> {
    let Some(real) = servers::real().await? else { return Ok(()) };
    let folder = servers::folder("controllers")?;
    let ours = servers::ours(Controllers::none(), &folder).await?;
    let mut process = Process::start(&ours, "controllers", &[])?;
    let ready = process.line()?;
    ensure!(ready["controllers"].as_array().is_some_and(|names| names.len() == 4), "{ready}");
    let (real, ours) = (&real, &ours);
    let played = tokio::join!(
        same("aggregation", real, ours, aggregating::play),
        same("garbage collection", real, ours, collecting::play),
        same("namespaces", real, ours, namespaces::play),
        same("service accounts", real, ours, namespaces::accounts),
    );
    played.0?;
    played.1?;
    played.2?;
    played.3?;
    process.end()?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Plays the same on both servers; what it returns must be equal.
async fn same<'a, F>(name: &str, real: &'a Home, ours: &'a Home, play: impl Fn(&'a Home) -> F) -> Result<()>
where
    F: Future<Output = Result<Vec<(String, Value)>>>,
{
    let (there, here) = tokio::join!(play(real), play(ours));
    let there = there.with_context(|| format!("{name}: real"))?;
    let here = here.with_context(|| format!("{name}: ours"))?;
    ensure!(there.len() == here.len(), "{name}: {} states and {}", there.len(), here.len());
    for ((title, there), (_, here)) in there.iter().zip(&here) {
        ensure!(there == here, "{name}: {title}\nreal: {there:#}\nours: {here:#}");
    }
    Ok(())
}

/// Sends a request that must work.
async fn done(home: &Home, method: &str, path: &str, body: Option<Value>) -> Result<Value> {
    let (status, answer) = home.send(method, path, body.as_ref()).await?;
    ensure!((200..300).contains(&status), "{method} {path}: {answer}");
    Ok(answer)
}

/// Waits until a GET answers with this status and an object of which this holds; returns the object.
async fn seen(home: &Home, path: &str, status: u16, holds: impl Fn(&Value) -> bool) -> Result<Value> {
    let start = Instant::now();
    loop {
        let (found, answer) = home.send("GET", path, None).await?;
        if found == status && holds(&answer) {
            return Ok(answer);
        }
        ensure!(start.elapsed() < LIMIT, "in vain for {status} of {path}: {answer:#}");
        sleep(Duration::from_millis(50)).await;
    }
}

async fn gone(home: &Home, path: &str) -> Result<()> {
    seen(home, path, 404, |_| true).await.map(|_| ())
}

/// An object without what is of its server: ids, versions and times.
fn plain(object: &Value) -> Value {
    match object {
        Value::Object(members) => {
            let replaced = members.iter().map(|(name, value)| {
                let own =
                    ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime"];
                let value = if own.contains(&name.as_str()) { json!("..") } else { plain(value) };
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
                items.sort_by_key(Value::to_string);
            }
            items.into()
        }
        other => other.clone(),
    }
}

//! Watches: very many, and such that nobody reads.

use anyhow::{Context, Result, ensure};
use axum::body::{Body, BodyDataStream};
use axum::http::{Request, Response};
use futures::StreamExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rolewright_server::tls::Limits;
use rolewright_server::{Server, Settings, admin};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::raw::{PATIENCE, ours};
use crate::{no_panics, turn};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const MANY: usize = 10_000;
/// What one watch may cost. Most of it is the answer's own future, larger without optimisation.
const EACH: usize = 12 << 10;

/// Memory of this process that is really there.
pub(crate) fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

pub(crate) type Router = TowerToHyperService<axum::Router>;

pub(crate) async fn call(router: &Router, method: &str, path: &str, body: &Value) -> Result<Response<Body>> {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    Ok(router.call(request.body(body)?).await?)
}

pub(crate) async fn json_of(answer: Response<Body>) -> Result<(u16, Value)> {
    let status = answer.status().as_u16();
    Ok((status, serde_json::from_slice(&axum::body::to_bytes(answer.into_body(), 64 << 20).await?)?))
}

async fn lines(stream: &mut BodyDataStream, until: impl Fn(&str) -> bool) -> Result<String> {
    let mut text = String::new();
    while !until(&text) {
        let Some(bytes) = timeout(PATIENCE, stream.next()).await.context("the watch is silent")? else { break };
        text += std::str::from_utf8(&bytes?)?;
    }
    Ok(text)
}

#[tokio::test]
async fn ten_thousand_watches_cost_little_and_leave_nothing() -> Result<()> {
    let _turn = turn().await;
    let server = Server::start(Settings::default())?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    let watch = format!("{MAPS}?watch=true&resourceVersion=0");
    let mut first = call(&router, "GET", &watch, &Value::Null).await?.into_body().into_data_stream();
    let before = resident();
    let mut streams = Vec::with_capacity(MANY);
    for _ in 0..MANY {
        let answer = call(&router, "GET", &watch, &Value::Null).await?;
        ensure!(answer.status() == 200);
        streams.push(answer.into_body().into_data_stream());
    }
    ensure!(server.watches() == MANY + 1, "{} watches", server.watches());
    let (status, _) = json_of(call(&router, "POST", MAPS, &json!({"metadata": {"name": "news"}})).await?).await?;
    ensure!(status == 201);
    for stream in &mut streams {
        let text = lines(stream, |text| text.contains("\"news\"")).await?;
        ensure!(text.starts_with(r#"{"type":"ADDED""#), "{text}");
    }
    let each = resident().saturating_sub(before) / MANY;
    println!("hostile: {MANY} watches, {each} bytes each");
    ensure!(each < EACH, "{each} bytes per watch");
    drop(streams);
    ensure!(server.watches() == 1, "{} watches are left", server.watches());
    ensure!(lines(&mut first, |text| text.contains("\"news\"")).await?.contains("ADDED"), "the one that stayed");
    // The server's end is the end of every watch.
    server.end();
    ensure!(timeout(PATIENCE, first.next()).await.context("no end")?.is_none());
    drop(first);
    ensure!(server.watches() == 0);
    no_panics();
    Ok(())
}

/// Writes until the log has forgotten everything that was there before.
async fn forget(router: &Router, name: &str) -> Result<()> {
    let (status, body) = json_of(call(router, "POST", MAPS, &json!({"metadata": {"name": name}})).await?).await?;
    ensure!(status == 201, "{body}");
    for turn in 0..48 {
        let map = json!({"metadata": {"name": name}, "data": {"a": format!("{turn:06}").repeat(150_000)}});
        let (status, body) = json_of(call(router, "PUT", &format!("{MAPS}/{name}"), &map).await?).await?;
        ensure!(status == 200, "{}", body["message"]);
    }
    Ok(())
}

#[tokio::test]
async fn what_is_forgotten_is_expired() -> Result<()> {
    let _turn = turn().await;
    let server = Server::start(Settings::default())?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    for name in ["a", "b", "c"] {
        call(&router, "POST", MAPS, &json!({"metadata": {"name": name}})).await?;
    }
    let (_, page) = json_of(call(&router, "GET", &format!("{MAPS}?limit=1"), &Value::Null).await?).await?;
    let version = page["metadata"]["resourceVersion"].as_str().context("a version")?.to_owned();
    let token = page["metadata"]["continue"].as_str().context("a token")?.to_owned();
    let mut behind = call(&router, "GET", &format!("{MAPS}?watch=1&resourceVersion={version}"), &Value::Null)
        .await?
        .into_body()
        .into_data_stream();
    forget(&router, "large").await?;

    // A watch from then: an answer with an error in it, so that clients list again.
    let answer = call(&router, "GET", &format!("{MAPS}?watch=1&resourceVersion={version}"), &Value::Null).await?;
    ensure!(answer.status() == 200);
    let mut late = answer.into_body().into_data_stream();
    for stream in [&mut late, &mut behind] {
        let text = lines(stream, |_| false).await?;
        let event: Value = serde_json::from_str(&text)?;
        ensure!(
            event["type"] == "ERROR" && event["object"]["code"] == 410 && event["object"]["reason"] == "Expired",
            "{text}"
        );
    }
    // The next page of a list of then: refused, with a token that goes on with what is there now.
    let next = format!("{MAPS}?limit=1&continue={token}");
    let (status, answer) = json_of(call(&router, "GET", &next, &Value::Null).await?).await?;
    ensure!(status == 410 && answer["reason"] == "Expired", "{answer}");
    let message = answer["message"].as_str().unwrap_or_default();
    ensure!(message.contains("or use the continue token in this response"), "{message}");
    let token = answer["metadata"]["continue"].as_str().context("a token")?;
    let (status, rest) =
        json_of(call(&router, "GET", &format!("{MAPS}?limit=2&continue={token}"), &Value::Null).await?).await?;
    let names: Vec<&str> =
        rest["items"].as_array().into_iter().flatten().filter_map(|item| item["metadata"]["name"].as_str()).collect();
    ensure!(status == 200 && names == ["b", "c"], "{status} {names:?}");
    let (status, answer) = json_of(
        call(
            &router,
            "GET",
            &format!("{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact&limit=1"),
            &Value::Null,
        )
        .await?,
    )
    .await?;
    ensure!(status == 410 && answer["message"] == "The resourceVersion for the provided list is too old.", "{answer}");
    no_panics();
    Ok(())
}

#[tokio::test]
async fn a_long_beginning_that_nobody_reads_costs_nothing() -> Result<()> {
    let _turn = turn().await;
    let server = Server::start(Settings::default())?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    for number in 0..24 {
        let map = json!({"metadata": {"name": format!("m{number}")}, "data": {"a": "x".repeat(900_000)}});
        call(&router, "POST", MAPS, &map).await?;
    }
    let before = resident();
    let begin =
        format!("{MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(call(&router, "GET", &begin, &Value::Null).await?.into_body().into_data_stream());
    }
    let grown = resident().saturating_sub(before);
    ensure!(grown < 64 << 20, "{grown} bytes for what nobody reads, of 1 GB");
    let text = lines(&mut streams[7], |text| text.contains("initial-events-end")).await?;
    ensure!(text.matches(r#"{"type":"ADDED""#).count() == 24 && text.trim_end().lines().count() == 25);
    server.end();
    no_panics();
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_holds_nobody_up() -> Result<()> {
    let _turn = turn().await;
    let (server, place, _end) = ours(Limits::default()).await?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    let watch = place.head(&format!("GET {MAPS}?watch=1"), "Connection: close\r\n");
    let mut deaf = Vec::new();
    for _ in 0..16 {
        let mut stream = place.connect("http/1.1").await?;
        stream.write_all(watch.as_bytes()).await?;
        let mut head = [0; 15];
        timeout(PATIENCE, stream.read_exact(&mut head)).await.context("no answer")??;
        ensure!(head.starts_with(b"HTTP/1.1 200"));
        deaf.push(stream);
    }
    let mut open = call(&router, "GET", &format!("{MAPS}?watch=1"), &Value::Null).await?.into_body().into_data_stream();
    let before = resident();
    for turn in 0..2 {
        forget(&router, &format!("large-{turn}")).await?;
    }
    let grown = resident().saturating_sub(before);
    println!("hostile: {} watches that nobody reads, {} KiB more", deaf.len(), grown >> 10);
    // The log itself is most of it: 32 MiB of new objects, and as many old ones.
    ensure!(grown < 192 << 20, "{grown} bytes for what nobody reads");
    call(&router, "POST", MAPS, &json!({"metadata": {"name": "news"}})).await?;
    // Whoever reads again hears that they fell behind, and then nothing.
    let stream = deaf.first_mut().context("one of them")?;
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer)).await.context("no end")??;
    let text = String::from_utf8_lossy(&answer);
    ensure!(text.contains(r#""type":"ERROR""#) && text.contains("too old resource version"), "{}", text.len());
    drop(deaf);
    // The one in this process was not polled either; it learns the same.
    let text = lines(&mut open, |_| false).await?;
    ensure!(text.contains("too old resource version"));
    place.lives().await?;
    server.end();
    no_panics();
    Ok(())
}

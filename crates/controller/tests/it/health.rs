//! Probes over a socket.

use std::sync::Arc;

use anyhow::{Context, Result};
use rolewright_controller::health::{Flag, Health, Listening};
use rolewright_controller::metrics::Metrics;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::places::PATIENCE;

/// The first line and the body of an answer.
async fn get(address: std::net::SocketAddr, path: &str) -> Result<(String, String)> {
    let whole = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: probe\r\n\r\n").as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("an answer")?;
        anyhow::Ok((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
    };
    tokio::time::timeout(PATIENCE, whole).await?
}

#[tokio::test]
async fn probes_are_answered_until_the_end() -> Result<()> {
    let synced = Flag::new("not yet");
    let flag = synced.clone();
    let health = Health::new(Arc::new(Metrics::default())).ready("watches", move || flag.check());
    let listening = Listening::on(([127, 0, 0, 1], 0).into()).await?;
    let address = listening.address;
    let (end, ended) = oneshot::channel::<()>();
    let run = tokio::spawn(listening.run(health, async {
        let _ = ended.await;
    }));
    assert_eq!(get(address, "/livez").await?, ("HTTP/1.1 200 OK".to_owned(), "ok".to_owned()));
    assert_eq!(get(address, "/readyz").await?.0, "HTTP/1.1 503 Service Unavailable");
    synced.pass();
    assert_eq!(get(address, "/readyz").await?.0, "HTTP/1.1 200 OK");
    let (_, metrics) = get(address, "/metrics").await?;
    assert!(metrics.contains("# TYPE rolewright_build info") && metrics.ends_with("# EOF\n"), "{metrics}");
    assert_eq!(get(address, "/").await?.0, "HTTP/1.1 404 Not Found");
    assert!(Listening::on(address).await.is_err_and(|error| error.to_string().contains(&address.to_string())));
    drop(end);
    run.await?;
    assert!(TcpStream::connect(address).await.is_err());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn idle_connections_do_not_lock_probes_out() -> Result<()> {
    let listening = Listening::on(([127, 0, 0, 1], 0).into()).await?;
    let address = listening.address;
    let run = tokio::spawn(listening.run(Health::new(Arc::default()), std::future::pending()));
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(address).await?);
    }
    assert_eq!(get(address, "/livez").await?.1, "ok");
    run.abort();
    Ok(())
}

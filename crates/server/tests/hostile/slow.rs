//! Clients that take their time, or do not talk TLS at all.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use axum::body::Body;
use axum::http::Request;
use bytes::Bytes;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rolewright_server::tls::Limits;
use rolewright_server::{Server, Settings, admin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::raw::{PATIENCE, ours};
use crate::{no_panics, turn};

const HASTY: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_get_to_the_point_is_hung_up_on() -> Result<()> {
    let _turn = turn().await;
    let limits = Limits { handshake: HASTY, head: HASTY, ..Limits::default() };
    let (server, place, _end) = ours(limits).await?;
    // Connections that never begin, that begin with rubbish, and that begin a handshake and stop.
    let hello = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01];
    for first in [b"".as_slice(), b"GET / HTTP/1.1\r\n\r\n", &[0; 4096], &[0xff; 10], &hello] {
        let mut streams = Vec::new();
        for _ in 0..20 {
            let mut stream = TcpStream::connect(&place.address).await?;
            stream.write_all(first).await?;
            streams.push(stream);
        }
        place.lives().await?;
        for stream in &mut streams {
            let mut rest = Vec::new();
            // An error is an end as well: it was reset.
            let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.context("the connection stays open")?;
        }
    }
    // A head that comes byte by byte and never ends.
    let mut slow = place.connect("http/1.1").await?;
    let head = place.head("GET /api", "");
    let mut sent = 0;
    let mut closed = false;
    for byte in head.as_bytes().iter().take(head.len() - 2).cycle().take(2000) {
        if slow.write_all(&[*byte]).await.is_err() || slow.flush().await.is_err() {
            closed = true;
            break;
        }
        sent += 1;
        place_pause().await;
    }
    ensure!(closed, "{sent} bytes of a head were waited for");
    // Half closed: who stops to send counts as gone, so that their watches end; nothing is left open.
    let mut half = place.connect("http/1.1").await?;
    half.write_all(place.head("GET /version", "Connection: close\r\n").as_bytes()).await?;
    half.shutdown().await?;
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, half.read_to_end(&mut answer)).await.context("the connection stays open")?;
    let mut watch = place.connect("http/1.1").await?;
    watch.write_all(place.head("GET /api/v1/pods?watch=1", "").as_bytes()).await?;
    let mut first = [0; 12];
    watch.read_exact(&mut first).await?;
    ensure!(&first == b"HTTP/1.1 200" && server.watches() == 1, "{} watches", server.watches());
    watch.shutdown().await?;
    let _ = timeout(PATIENCE, watch.read_to_end(&mut answer)).await.context("the watch stays open")?;
    ensure!(server.watches() == 0, "{} watches are left", server.watches());
    // Gone in the middle of a body.
    let mut gone = place.connect("http/1.1").await?;
    let announced = place.head("POST /api/v1/namespaces", "Content-Length: 1000\r\n");
    gone.write_all(announced.as_bytes()).await?;
    drop(gone);
    place.lives().await?;
    server.end();
    no_panics();
    Ok(())
}

/// Between two bytes of a slow head: a part of what a head may take.
async fn place_pause() {
    tokio::time::sleep(HASTY / 20).await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_not_waited_for() -> Result<()> {
    let _turn = turn().await;
    let server = Server::start(Settings::default())?;
    let router = TowerToHyperService::new(server.router_as(admin()));
    // Time stands still but for timers: whatever the server waits for, it waits no longer than its own patience.
    let never = futures::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from_static(b" ")), ()))
    });
    let request = Request::post("/api/v1/namespaces").header("content-type", "application/json");
    let answer = router.call(request.body(Body::from_stream(never))?).await?;
    ensure!(answer.status() == 408, "{answer:?}");
    let status = axum::body::to_bytes(answer.into_body(), 1 << 20).await?;
    ensure!(serde_json::from_slice::<serde_json::Value>(&status)?["kind"] == "Status");
    no_panics();
    Ok(())
}

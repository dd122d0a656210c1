//! The listener: few connections, each short.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Health;

/// More at once are no probes.
const CONNECTIONS: usize = 32;

/// Longer than any probe waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// Nobody can ask.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on `{address}` for probes")]
pub struct HealthError {
    address: SocketAddr,
    source: io::Error,
}

impl HealthError {
    /// Whether somebody else has the port.
    pub fn is_busy(&self) -> bool {
        self.source.kind() == io::ErrorKind::AddrInUse
    }
}

/// A port that is open.
#[derive(Debug)]
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    listener: TcpListener,
}

impl Listening {
    /// Opens a port; 0 takes a free one.
    pub async fn on(address: SocketAddr) -> Result<Self, HealthError> {
        let open = async {
            let listener = TcpListener::bind(address).await?;
            Ok(Self { address: listener.local_addr()?, listener })
        };
        open.await.map_err(|source| HealthError { address, source })
    }

    /// Answers until `shutdown` is done.
    pub async fn run(self, health: Health, shutdown: impl Future<Output = ()>) {
        let health = Arc::new(health);
        let mut open = JoinSet::new();
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => return,
                Some(_) = open.join_next() => {}
                accepted = self.listener.accept(), if open.len() < CONNECTIONS => match accepted {
                    Ok((stream, _)) => {
                        open.spawn(answer(health.clone(), stream));
                    }
                    // Most likely there are too many open files; some will be closed.
                    Err(_) => sleep(Duration::from_millis(100)).await,
                },
            }
        }
    }
}

/// Answers one request.
async fn answer(health: Arc<Health>, stream: TcpStream) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = health.answer(request.method(), request.uri().path(), request.uri().query());
        let mut response = Response::new(Full::new(Bytes::from(answer.body)));
        *response.status_mut() = answer.status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let mut http = http1::Builder::new();
    let connection = http.keep_alive(false).max_buf_size(16 * 1024).serve_connection(TokioIo::new(stream), service);
    // Whoever breaks off has no use for an error.
    let _ = timeout(PATIENCE, connection).await;
}

//! Accepts connections, shakes hands, and hands requests on.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use hyper::body::{Body, Incoming};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::{Peer, PeerCertificate, Tls};

/// How much one client may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time; further ones wait.
    pub connections: usize,
    /// How long a handshake may take.
    pub handshake: Duration,
    /// How long the head of a request may take, and how long a connection of HTTP/1 may be idle.
    pub head: Duration,
    /// Requests at a time on a connection of HTTP/2.
    pub streams: u32,
    /// How long running requests may go on when the server ends.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            handshake: Duration::from_secs(10),
            // Go's and hyper's clients drop idle connections after 90 s. Who lets them do it first resets nobody's request.
            head: Duration::from_secs(100),
            streams: 250,
            grace: Duration::from_secs(10),
        }
    }
}

/// After this long without a word on HTTP/2 the other end is asked whether it is there.
const PING: Duration = Duration::from_secs(30);
/// Who impersonates somebody with many groups sends many headers.
const MOST_HEADERS: usize = 1024;
const MOST_HEADER_BYTES: u32 = 256 << 10;
/// After an error of `accept`, which is mostly a lack of file descriptors, others get time to close theirs.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` is done, then lets running requests end within the grace period.
///
/// Requests carry the [`Peer`] as an extension.
pub async fn serve<S, B>(
    listener: TcpListener,
    tls: Tls,
    limits: Limits,
    service: S,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let (end, ending) = watch::channel(());
    let permits = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let acceptor = TlsAcceptor::from(tls.config.clone());
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            // WHY: it fails only when the semaphore is closed, which nobody does.
            let permit = permits.clone().acquire_owned().await.ok();
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut shutdown => break,
        };
        let Ok((stream, address)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let connection = Connection { acceptor: acceptor.clone(), tls: tls.clone(), limits, address };
        let (service, ending) = (service.clone(), ending.clone());
        tokio::spawn(async move {
            connection.run(stream, service, ending).await;
            drop(permit);
        });
    }
    drop((listener, ending));
    // WHY: every connection holds a receiver; the sender is closed when all are gone.
    end.send_replace(());
    let _ = timeout(limits.grace, end.closed()).await;
}

struct Connection {
    acceptor: TlsAcceptor,
    tls: Tls,
    limits: Limits,
    address: SocketAddr,
}

impl Connection {
    async fn run<S, B>(self, stream: TcpStream, service: S, mut ending: watch::Receiver<()>)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
        S::Future: Send,
        B: Body<Data: Buf + Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
    {
        // WHY: small answers must not wait for acknowledgements; where it cannot be set, they are only slower.
        let _ = stream.set_nodelay(true);
        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake, self.acceptor.accept(stream)) => shaken,
            _ = ending.changed() => return,
        };
        let Ok(Ok(stream)) = shaken else { return };
        let (_, session) = stream.get_ref();
        let certificate =
            session.peer_certificates().and_then(|chain| PeerCertificate::of(chain, &self.tls.clients)).map(Arc::new);
        let peer = Peer { address: self.address, certificate };
        let http2 = session.alpn_protocol() == Some(b"h2");
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer.clone());
            service.call(request)
        });
        let builder = self.builder(http2);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = &mut connection => Some(ended),
            _ = ending.changed() => None,
        };
        if ended.is_none() {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(self.limits.grace, connection).await;
        }
    }

    /// The protocol is known from the handshake, so nothing is guessed from the first bytes, which may never come.
    fn builder(&self, http2: bool) -> auto::Builder<TokioExecutor> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        // WHY: no `pipeline_flush`: with it, hyper buffers whatever a client does not read, without a bound.
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.limits.head).max_headers(MOST_HEADERS);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING)
            .max_header_list_size(MOST_HEADER_BYTES)
            .max_concurrent_streams(self.limits.streams);
        if http2 { builder.http2_only() } else { builder.http1_only() }
    }
}

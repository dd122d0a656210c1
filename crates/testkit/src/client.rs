//! A client: HTTP/2 over TLS as client-go speaks it, answers as they come.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Go's client lets this much come before it has to be read.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;

/// Where a server is, and who asks.
#[derive(Clone, Debug)]
pub struct Endpoint {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    token: String,
}

impl Endpoint {
    /// A server at a URL with an address, which has its certificate from `ca`.
    pub fn new(url: &str, ca: &[u8], token: &str) -> Result<Self> {
        let address = url.strip_prefix("https://").context("servers speak https")?.parse()?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(ca) {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(tls), token: token.to_owned() })
    }

    /// The same for somebody else.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::from(self.address.ip());
        let stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        // It ends with its sender; an error shows in the request that meets it.
        tokio::spawn(connection);
        Ok(Connection { sender, authority: self.address.to_string(), bearer: format!("Bearer {}", self.token) })
    }
}

/// An open connection; clones share it.
#[derive(Clone, Debug)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    bearer: String,
}

impl Connection {
    /// Sends a request and reads the answer.
    pub async fn ask(&mut self, method: &str, path: &str, form: &str, body: &Value) -> Result<(u16, Value)> {
        let answer = self.open(method, path, form, body).await?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&bytes)?))
    }

    /// Reads.
    pub async fn get(&mut self, path: &str) -> Result<(u16, Value)> {
        self.ask("GET", path, "application/json", &Value::Null).await
    }

    /// Sends a request and leaves the answer to be read, whatever it is.
    pub async fn open(&mut self, method: &str, path: &str, form: &str, body: &Value) -> Result<Response<Incoming>> {
        self.open_in("application/json", method, path, form, body).await
    }

    /// The same, with the answer in a form that is asked for.
    pub async fn open_in(
        &mut self,
        accept: &str,
        method: &str,
        path: &str,
        form: &str,
        body: &Value,
    ) -> Result<Response<Incoming>> {
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(serde_json::to_vec(body)?) };
        self.send(accept, method, path, form, bytes).await
    }

    /// Sends a body as it is, and leaves the answer to be read.
    pub async fn send(
        &mut self,
        accept: &str,
        method: &str,
        path: &str,
        form: &str,
        body: Bytes,
    ) -> Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.authority))
            .header("authorization", &self.bearer)
            .header("accept", accept)
            .header("content-type", form)
            .body(Full::new(body))?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

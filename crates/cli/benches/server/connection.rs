//! The client: HTTP/2 over TLS as client-go speaks it, with as little work of its own as possible.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{Method, Request, Response};
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
#[derive(Clone)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    token: String,
}

impl Endpoint {
    pub(crate) fn new(url: &str, ca: &[u8], token: &str) -> Result<Self> {
        let address = url.strip_prefix("https://").context("servers speak https")?.parse()?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(ca) {
            roots.add(certificate?)?;
        }
        let mut tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(tls), token: token.to_owned() })
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::from(self.address.ip());
        let stream = TlsConnector::from(self.tls.clone()).connect(name, stream).await?;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        // It ends with its sender; an error shows in the request that meets it.
        tokio::spawn(connection);
        let authority = self.address.to_string();
        Ok(Connection { sender, authority, bearer: format!("Bearer {}", self.token) })
    }
}

/// An open connection; clones share it.
#[derive(Clone)]
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    bearer: String,
}

impl Connection {
    /// Sends a request; the answer must be a success and is read to its end.
    pub(crate) async fn send(&mut self, method: Method, path: &str, body: &Value) -> Result<Bytes> {
        let answer = self.open(method, path, body).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// Reads an object.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(Method::GET, path, &Value::Null).await?)?)
    }

    /// Creates an object.
    pub(crate) async fn create(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send(Method::POST, path, body).await
    }

    /// Applies an object.
    pub(crate) async fn apply(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        let answer = self.open_as(Method::PATCH, path, "application/apply-patch+yaml", body).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// Sends a request and leaves the answer to be read.
    pub(crate) async fn open(&mut self, method: Method, path: &str, body: &Value) -> Result<Response<Incoming>> {
        self.open_as(method, path, "application/json", body).await
    }

    async fn open_as(
        &mut self,
        method: Method,
        path: &str,
        content_type: &str,
        body: &Value,
    ) -> Result<Response<Incoming>> {
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(serde_json::to_vec(body)?) };
        let request = Request::builder()
            .method(&method)
            .uri(format!("https://{}{path}", self.authority))
            .header("authorization", &self.bearer)
            .header("accept", "application/json")
            .header("content-type", content_type)
            .body(Full::new(bytes))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            let text = answer.into_body().collect().await?.to_bytes();
            bail!("{method} {path}: {status} {}", String::from_utf8_lossy(&text));
        }
        Ok(answer)
    }
}

//! A client: HTTP/2 over TLS, answers as they come.

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
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { address, tls: Arc::new(tls), token: token.to_owned() })
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let stream = TlsConnector::from(self.tls.clone()).connect(ServerName::from(self.address.ip()), stream).await?;
        let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        // It ends with its sender; an error shows in the request that meets it.
        tokio::spawn(connection);
        Ok(Connection { sender, authority: self.address.to_string(), bearer: format!("Bearer {}", self.token) })
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
    /// Sends a request and reads the answer.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, form: &str, body: &Value) -> Result<(u16, Value)> {
        let answer = self.open(method, path, form, body).await?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&bytes)?))
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<(u16, Value)> {
        self.ask("GET", path, "application/json", &Value::Null).await
    }

    /// Sends a request and leaves the answer to be read.
    pub(crate) async fn open(
        &mut self,
        method: &str,
        path: &str,
        form: &str,
        body: &Value,
    ) -> Result<Response<Incoming>> {
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(serde_json::to_vec(body)?) };
        let request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.authority))
            .header("authorization", &self.bearer)
            .header("content-type", form)
            .body(Full::new(bytes))?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

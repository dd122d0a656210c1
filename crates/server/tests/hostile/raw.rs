//! Bytes on the wire.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rolewright_server::tls::{Authority, Limits, Tls, serve};
use rolewright_server::{Server, Settings};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
pub(crate) const TOKEN: &str = "hostile";

/// Where a server is, and how to be its superuser.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) address: String,
    authority: Vec<u8>,
    pub(crate) token: String,
}

/// Our server with these limits; it ends when the sender is dropped.
pub(crate) async fn ours(limits: Limits) -> Result<(Server, Place, oneshot::Sender<()>)> {
    let server = Server::start(Settings { admin_token: Some(TOKEN.to_owned()), ..Settings::default() })?;
    let now = jiff::Timestamp::now();
    let authority = Authority::generate(now)?;
    let serving = authority.issue_server(&["127.0.0.1".to_owned()], now)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let service = hyper_util::service::TowerToHyperService::new(server.router());
    let (end, ended) = oneshot::channel::<()>();
    let tls = Tls::new(&authority, &serving)?;
    tokio::spawn(serve(listener, tls, limits, service, async {
        let _ = ended.await;
    }));
    let place = Place { address, authority: authority.certificate_pem().as_bytes().to_vec(), token: TOKEN.to_owned() };
    Ok((server, place, end))
}

impl Place {
    pub(crate) fn real(ready: &rolewright_testkit::apiserver::Ready) -> Result<Self> {
        let address = ready.address.trim_start_matches("https://").to_owned();
        Ok(Self { address, authority: std::fs::read(&ready.ca)?, token: ready.token.clone() })
    }

    /// A connection after its handshake.
    pub(crate) async fn connect(&self, protocol: &str) -> Result<TlsStream<TcpStream>> {
        let mut roots = rustls::RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&self.authority) {
            roots.add(certificate?)?;
        }
        let mut config =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_root_certificates(roots)
                .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(&self.address).await?;
        let name = ServerName::try_from("127.0.0.1")?;
        Ok(TlsConnector::from(Arc::new(config)).connect(name, stream).await?)
    }

    /// The head of a request of the superuser.
    pub(crate) fn head(&self, line: &str, headers: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{headers}\r\n", self.token)
    }

    /// Sends a request and reads the answer.
    pub(crate) async fn ask(&self, line: &str, headers: &str, body: &[u8]) -> Result<(u16, Value)> {
        let length = format!("{headers}Content-Length: {}\r\nConnection: close\r\n", body.len());
        let mut bytes = self.head(line, &length).into_bytes();
        bytes.extend_from_slice(body);
        self.exchange(&bytes).await
    }

    /// Sends bytes and reads to the end.
    pub(crate) async fn exchange(&self, bytes: &[u8]) -> Result<(u16, Value)> {
        let mut stream = self.connect("http/1.1").await?;
        let mut answer = Vec::new();
        let whole = async {
            // WHY: a server that refuses early may close before everything is sent; its answer counts.
            let _ = stream.write_all(bytes).await;
            let _ = stream.flush().await;
            let _ = stream.read_to_end(&mut answer).await;
        };
        timeout(PATIENCE, whole).await.context("no answer")?;
        parse(&answer)
    }

    /// Whether the server still serves.
    pub(crate) async fn lives(&self) -> Result<()> {
        let (status, body) = self.ask("GET /api/v1/namespaces/default", "", b"").await?;
        anyhow::ensure!(status == 200 && body["kind"] == "Namespace", "{status} {body}");
        Ok(())
    }
}

/// Status and JSON of an answer; the body may come in chunks.
fn parse(answer: &[u8]) -> Result<(u16, Value)> {
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n").context("no head")?;
    let (head, body) = answer.split_at(split + 4);
    let head = String::from_utf8_lossy(head).to_lowercase();
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let mut body = body.to_vec();
    if head.contains("transfer-encoding: chunked") {
        let (mut rest, mut whole) = (body.as_slice(), Vec::new());
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..end])?.trim(), 16).unwrap_or(0);
            if size == 0 || rest.len() < end + 2 + size {
                break;
            }
            whole.extend_from_slice(&rest[end + 2..end + 2 + size]);
            rest = rest.get(end + 4 + size..).unwrap_or_default();
        }
        body = whole;
    }
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

//! Encrypted connections: an authority of our own, its certificates, and the loop that serves them.

mod authority;
mod der;
mod peer;
mod pem;
mod serve;
#[cfg(test)]
mod tests;
mod verify;

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use self::authority::{Authority, Issued};
pub use self::peer::{Peer, PeerCertificate, Verified};
pub use self::serve::{Limits, serve};
pub use self::verify::ClientCertificates;

/// What can be wrong with keys and certificates.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A PEM file holds something else than it should.
    #[error("{0}")]
    Pem(String),
    /// A host cannot be named in a certificate.
    #[error("host `{0}` is neither an address nor an ASCII name")]
    Host(String),
    /// A key cannot be made, read or used.
    #[error("{0}")]
    Key(String),
    /// The TLS library refuses the configuration.
    #[error("tls: {0}")]
    Rustls(#[from] rustls::Error),
}

/// What a server needs to speak TLS: its certificate, and whom it believes.
#[derive(Clone, Debug)]
pub struct Tls {
    /// For the handshake.
    pub config: Arc<ServerConfig>,
    /// For the certificates that clients show.
    pub clients: ClientCertificates,
}

impl Tls {
    /// A server that shows `serving` and believes client certificates of `authority`.
    ///
    /// Like Kubernetes, it lets anybody through the handshake: whoever shows a certificate that is not believed is refused
    /// with 401 by the authentication, and can be told so.
    pub fn new(authority: &Authority, serving: &Issued) -> Result<Self, TlsError> {
        let clients = ClientCertificates::of(authority.certificate_der())?;
        let chain: Vec<CertificateDer<'static>> = pem::certificates(&serving.certificate_pem)?;
        let key: PrivateKeyDer<'static> = pem::private_key(&serving.key_pem)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients.handshake())
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), clients })
    }
}

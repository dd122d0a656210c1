//! Which client certificates are believed.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

use super::TlsError;

/// Checks client certificates against one authority.
#[derive(Clone, Debug)]
pub struct ClientCertificates(Arc<dyn ClientCertVerifier>);

impl ClientCertificates {
    pub(super) fn of(authority: &CertificateDer<'static>) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone())?;
        let strict = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()))
            .allow_unauthenticated()
            .build()
            .map_err(|error| TlsError::Key(error.to_string()))?;
        Ok(Self(strict))
    }

    /// For the handshake, which only asks that the client has the key of what it shows.
    pub(super) fn handshake(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(Possession(self.0.clone()))
    }

    /// Whether the authority vouches for the first of these certificates, now.
    pub(super) fn check(&self, chain: &[CertificateDer<'_>]) -> Result<(), Error> {
        let Some((first, rest)) = chain.split_first() else { return Err(Error::NoCertificatesPresented) };
        self.0.verify_client_cert(first, rest, UnixTime::now()).map(drop)
    }
}

#[derive(Debug)]
struct Possession(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Possession {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

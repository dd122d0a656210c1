//! Who is at the other end of a connection, as far as the connection says.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use x509_parser::oid_registry::{OID_X509_COMMON_NAME, OID_X509_ORGANIZATION_NAME, Oid, asn1_rs::oid};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::ClientCertificates;

/// Kubernetes' attribute for a user's uid in a certificate's subject.
const UID: Oid<'static> = oid!(1.3.6.1.4.1.57683.2);

/// The other end of a connection. Every request carries it as an extension.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// The certificate that it showed.
    pub certificate: Option<Arc<PeerCertificate>>,
}

/// What came of a client's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerCertificate {
    /// The authority vouches for it.
    Verified(Verified),
    /// It is not believed, for this reason.
    Refused(String),
}

/// A believed certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The common name, which is the user's name; may be empty.
    pub user: String,
    /// The organizations, which are the groups.
    pub groups: Vec<String>,
    /// The user's uid; may be empty.
    pub uid: String,
    /// The SHA-256 of the certificate, in hex.
    pub fingerprint: String,
    /// When it ends, in seconds since 1970: connections may live longer than certificates.
    pub not_after: i64,
}

impl PeerCertificate {
    /// Judges what a client showed in the handshake; nothing where it showed nothing.
    pub(super) fn of(chain: &[CertificateDer<'_>], clients: &ClientCertificates) -> Option<Self> {
        let first = chain.first()?;
        let verified = clients.check(chain).map_err(|error| error.to_string()).and_then(|()| read(first));
        Some(verified.map_or_else(Self::Refused, Self::Verified))
    }
}

fn read(der: &CertificateDer<'_>) -> Result<Verified, String> {
    let (_, certificate) = X509Certificate::from_der(der).map_err(|error| error.to_string())?;
    let mut out = Verified {
        fingerprint: hex(digest(&SHA256, der).as_ref()),
        not_after: certificate.validity().not_after.timestamp(),
        ..Verified::default()
    };
    let mut uids = Vec::new();
    for attribute in certificate.subject().iter_attributes() {
        let ty = attribute.attr_type();
        let text = attribute.as_str().map(str::to_owned);
        if *ty == OID_X509_COMMON_NAME {
            out.user = text.map_err(|error| error.to_string())?;
        } else if *ty == OID_X509_ORGANIZATION_NAME {
            out.groups.push(text.map_err(|error| error.to_string())?);
        } else if *ty == UID {
            uids.push(text.map_err(|_| "unable to parse UID into a string".to_owned())?);
        }
    }
    match uids.as_slice() {
        [] => {}
        [uid] if uid.is_empty() => return Err("UID cannot be an empty string".to_owned()),
        [uid] => out.uid.clone_from(uid),
        several => return Err(format!("expected 1 UID, but found multiple: {}", several.join(" "))),
    }
    Ok(out)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

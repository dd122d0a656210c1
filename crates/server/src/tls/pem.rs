//! PEM, read and written.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsError;

pub(super) fn written(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    let encoded = STANDARD.encode(der);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at_checked(64).unwrap_or((rest, ""));
        text.push_str(line);
        text.push('\n');
        rest = more;
    }
    let _ = writeln!(text, "-----END {label}-----");
    text
}

/// All certificates of a file, at least one.
pub(super) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(TlsError::Pem("no certificate found in the PEM text".to_owned())),
        Err(error) => Err(TlsError::Pem(format!("cannot read a certificate: {error}"))),
    }
}

pub(super) fn private_key(pem: &str) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| TlsError::Pem(format!("cannot read a private key: {error}")))
}

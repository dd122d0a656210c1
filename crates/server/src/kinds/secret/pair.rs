//! Whether a certificate and a private key belong together, in the words of Go's TLS.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::InconsistentKeys;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::parse_x509_certificate;
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::SubjectPublicKeyInfo;

/// A section of a PEM file.
struct Block {
    label: String,
    content: Vec<u8>,
}

/// Why the two cannot be used together. Of keys and certificates that this program cannot read nothing is said.
pub(super) fn fault(certificate: &[u8], key: &[u8]) -> Option<String> {
    let blocks = blocks(certificate);
    let Some(certificate) = blocks.iter().find(|block| block.label == "CERTIFICATE") else {
        return Some(match labels(&blocks).as_slice() {
            [] => "tls: failed to find any PEM data in certificate input".to_owned(),
            [label] if label.ends_with("PRIVATE KEY") => {
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs \
                 may have been switched"
                    .to_owned()
            }
            several => format!(
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
                 following types: [{}]",
                several.join(" ")
            ),
        });
    };
    let blocks = self::blocks(key);
    let is_key = |block: &&Block| block.label == "PRIVATE KEY" || block.label.ends_with(" PRIVATE KEY");
    let Some(key) = blocks.iter().find(is_key) else {
        return Some(match labels(&blocks).as_slice() {
            [] => "tls: failed to find any PEM data in key input".to_owned(),
            ["CERTIFICATE"] => "tls: found a certificate rather than a key in the PEM for the private key".to_owned(),
            several => format!(
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM \
                 blocks of the following types: [{}]",
                several.join(" ")
            ),
        });
    };
    mismatch(&certificate.content, &key.content)
}

fn mismatch(certificate: &[u8], key: &[u8]) -> Option<String> {
    let Ok((_, parsed)) = parse_x509_certificate(certificate) else {
        return Some("x509: malformed certificate".to_owned());
    };
    let Ok(key) = PrivateKeyDer::try_from(key.to_vec()) else {
        return Some("tls: failed to parse private key".to_owned());
    };
    let key = any_supported_type(&key).ok()?;
    let public = key.public_key()?;
    let (_, public) = SubjectPublicKeyInfo::from_der(&public).ok()?;
    if public.algorithm.algorithm != parsed.public_key().algorithm.algorithm {
        return Some("tls: private key type does not match public key type".to_owned());
    }
    let pair = CertifiedKey::new(vec![CertificateDer::from(certificate.to_vec())], key);
    match pair.keys_match() {
        Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Some("tls: private key does not match public key".to_owned())
        }
        _ => None,
    }
}

fn labels(blocks: &[Block]) -> Vec<&str> {
    blocks.iter().map(|block| block.label.as_str()).collect()
}

/// The sections of a PEM file. Whatever is not one is passed over.
fn blocks(text: &[u8]) -> Vec<Block> {
    let text = String::from_utf8_lossy(text);
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines().map(|line| line.trim_end_matches([' ', '\t'])) {
        if let Some(label) = line.strip_prefix("-----BEGIN ") {
            open = label.strip_suffix("-----").map(|label| (label, String::new()));
        } else if let Some(label) = line.strip_prefix("-----END ") {
            let Some((opened, body)) = open.take() else { continue };
            let content = STANDARD.decode(body);
            if let (Some(label), Ok(content)) = (label.strip_suffix("-----").filter(|label| *label == opened), content)
            {
                blocks.push(Block { label: label.to_owned(), content });
            }
        } else if let Some((_, body)) = &mut open {
            // Lines with a colon are headers.
            if !line.contains(':') {
                body.extend(line.chars().filter(|c| !matches!(c, ' ' | '\t')));
            }
        }
    }
    blocks
}

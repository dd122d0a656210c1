//! An authority of our own, and the certificates that it gives.
//!
//! Certificates are written here byte by byte because groups are organizations, of which a user has many, and the usual
//! libraries keep one per name. It is little: one kind of key, one kind of signature.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{TlsError, der, pem};

/// The names by which programs in a cluster reach its API server.
const CLUSTER_HOSTS: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
const YEAR: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Clocks differ a little; a certificate must be good at once on all of them.
const BACKDATED: SignedDuration = SignedDuration::from_mins(5);

/// Who signs the certificates of the server and of its users.
pub struct Authority {
    signer: EcdsaKeyPair,
    /// The distinguished name, in DER.
    name: Vec<u8>,
    /// How its certificate calls its key; empty if it does not.
    key_id: Vec<u8>,
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    key_pem: String,
    not_after: Timestamp,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("certificate", &self.certificate_pem).finish_non_exhaustive()
    }
}

/// A certificate with its private key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The certificate.
    pub certificate_pem: String,
    /// The private key, PKCS #8.
    pub key_pem: String,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

/// What one certificate says.
struct Content<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
    public_key: &'a [u8],
    not_before: Timestamp,
    not_after: Timestamp,
    extensions: Vec<u8>,
}

impl Authority {
    /// A new authority, good for ten years from `now`.
    pub fn generate(now: Timestamp) -> Result<Self, TlsError> {
        let (signer, pkcs8) = new_key()?;
        let name = der::tlv(0x30, &der::attribute(der::COMMON_NAME, "rolewright"));
        let key_id = key_id(&signer);
        let usage = der::extension(der::KEY_USAGE, true, &der::bits(&[0b1000_0110], 1));
        let constraints = der::extension(der::BASIC_CONSTRAINTS, true, &der::sequence([&[0x01, 0x01, 0xff]]));
        let own_id = der::extension(der::SUBJECT_KEY_ID, false, &der::octets(&key_id));
        let not_after = later(now, YEAR * 10);
        let content = Content {
            issuer: &name,
            subject: &name,
            public_key: signer.public_key().as_ref(),
            not_before: later(now, -BACKDATED),
            not_after,
            extensions: [usage, constraints, own_id].concat(),
        };
        let certificate = content.signed(&signer)?;
        Ok(Self {
            name,
            key_id,
            certificate_pem: pem::written("CERTIFICATE", &certificate),
            certificate: certificate.into(),
            key_pem: pem::written("PRIVATE KEY", &pkcs8),
            signer,
            not_after,
        })
    }

    /// The authority with this certificate and its P-256 key, in PKCS #8 or as `EC PRIVATE KEY`.
    pub fn from_pem(certificate_pem: &str, key_pem: &str) -> Result<Self, TlsError> {
        let unfit = |what: &str| TlsError::Pem(format!("not a certificate authority: {what}"));
        let certificate = pem::certificates(certificate_pem)?.swap_remove(0);
        let signer = key(&pkcs8(key_pem)?)?;
        let (_, parsed) = X509Certificate::from_der(&certificate).map_err(|error| unfit(&error.to_string()))?;
        if !parsed.is_ca() {
            return Err(unfit("it may not sign certificates"));
        }
        if parsed.public_key().subject_public_key.data.as_ref() != signer.public_key().as_ref() {
            return Err(unfit("the key belongs to another certificate"));
        }
        let key_id = parsed.extensions().iter().find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
            _ => None,
        });
        let not_after = Timestamp::from_second(parsed.validity().not_after.timestamp());
        Ok(Self {
            name: parsed.subject().as_raw().to_vec(),
            key_id: key_id.unwrap_or_default(),
            not_after: not_after.map_err(|error| unfit(&error.to_string()))?,
            certificate_pem: pem::written("CERTIFICATE", &certificate),
            certificate,
            key_pem: key_pem.to_owned(),
            signer,
        })
    }

    /// The certificate that clients trust.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The private key. Whoever has it is everybody.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    pub(super) fn certificate_der(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// A certificate for a server under `hosts` and the names that every cluster's API server has; good for a year.
    pub fn issue_server(&self, hosts: &[String], now: Timestamp) -> Result<Issued, TlsError> {
        let mut names = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for host in CLUSTER_HOSTS.into_iter().chain(hosts.iter().map(String::as_str)) {
            if !seen.contains(&host) {
                seen.push(host);
                names.extend(alt_name(host)?);
            }
        }
        let alt_names = der::extension(der::SUBJECT_ALT_NAME, false, &der::tlv(0x30, &names));
        let subject = der::tlv(0x30, &der::attribute(der::COMMON_NAME, "rolewright-server"));
        self.issue(&subject, der::SERVER_AUTH, &alt_names, now)
    }

    /// A certificate for a user with these groups, in this order; good for a year.
    pub fn issue_client<'g>(
        &self,
        user: &str,
        groups: impl IntoIterator<Item = &'g str>,
        now: Timestamp,
    ) -> Result<Issued, TlsError> {
        let mut subject = Vec::new();
        for group in groups {
            subject.extend(der::attribute(der::ORGANIZATION, group));
        }
        subject.extend(der::attribute(der::COMMON_NAME, user));
        self.issue(&der::tlv(0x30, &subject), der::CLIENT_AUTH, &[], now)
    }

    fn issue(&self, subject: &[u8], purpose: &[u8], more: &[u8], now: Timestamp) -> Result<Issued, TlsError> {
        let (holder, pkcs8) = new_key()?;
        let usage = der::extension(der::KEY_USAGE, true, &der::bits(&[0b1000_0000], 7));
        let purpose = der::extension(der::EXTENDED_KEY_USAGE, false, &der::sequence([&der::oid(purpose)]));
        let constraints = der::extension(der::BASIC_CONSTRAINTS, true, &der::sequence([]));
        let authority = match self.key_id.as_slice() {
            [] => Vec::new(),
            id => der::extension(der::AUTHORITY_KEY_ID, false, &der::sequence([&der::implicit(0, id)])),
        };
        let content = Content {
            issuer: &self.name,
            subject,
            public_key: holder.public_key().as_ref(),
            not_before: later(now, -BACKDATED),
            not_after: later(now, YEAR).min(self.not_after),
            extensions: [&usage, &purpose, &constraints, &authority, more].concat(),
        };
        let certificate = content.signed(&self.signer)?;
        Ok(Issued {
            certificate_pem: pem::written("CERTIFICATE", &certificate),
            key_pem: pem::written("PRIVATE KEY", &pkcs8),
        })
    }
}

impl Content<'_> {
    fn signed(&self, signer: &EcdsaKeyPair) -> Result<Vec<u8>, TlsError> {
        let algorithm = der::sequence([&der::oid(der::ECDSA_WITH_SHA256)]);
        let key_kind = der::sequence([&der::oid(der::EC_PUBLIC_KEY), &der::oid(der::PRIME256V1)]);
        let body = der::sequence([
            &der::explicit(0, &der::positive(&[2])),
            &serial(),
            &algorithm,
            self.issuer,
            &der::sequence([&der::time(self.not_before), &der::time(self.not_after)]),
            self.subject,
            &der::sequence([&key_kind, &der::bits(self.public_key, 0)]),
            &der::explicit(3, &der::tlv(0x30, &self.extensions)),
        ]);
        let signature =
            signer.sign(&SystemRandom::new(), &body).map_err(|_| TlsError::Key("cannot sign".to_owned()))?;
        Ok(der::sequence([&body, &algorithm, &der::bits(signature.as_ref(), 0)]))
    }
}

fn serial() -> Vec<u8> {
    let mut bytes = [0; 16];
    crate::uid::fill(&mut bytes);
    // WHY: a serial is positive and has no leading zero; this bit ensures both.
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    der::positive(&bytes)
}

fn alt_name(host: &str) -> Result<Vec<u8>, TlsError> {
    match host.parse() {
        Ok(IpAddr::V4(address)) => Ok(der::implicit(7, &address.octets())),
        Ok(IpAddr::V6(address)) => Ok(der::implicit(7, &address.octets())),
        Err(_) if !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic()) => {
            Ok(der::implicit(2, host.as_bytes()))
        }
        Err(_) => Err(TlsError::Host(host.to_owned())),
    }
}

fn new_key() -> Result<(EcdsaKeyPair, Vec<u8>), TlsError> {
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
        .map_err(|_| TlsError::Key("cannot make a key".to_owned()))?;
    Ok((key(pkcs8.as_ref())?, pkcs8.as_ref().to_vec()))
}

fn key(pkcs8: &[u8]) -> Result<EcdsaKeyPair, TlsError> {
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8, &SystemRandom::new())
        .map_err(|error| TlsError::Key(format!("not a P-256 key: {error}")))
}

/// A key in the one form that is read here.
fn pkcs8(key_pem: &str) -> Result<Vec<u8>, TlsError> {
    match pem::private_key(key_pem)? {
        PrivateKeyDer::Pkcs8(key) => Ok(key.secret_pkcs8_der().to_vec()),
        PrivateKeyDer::Sec1(key) => Ok(der::sequence([
            &der::positive(&[0]),
            &der::sequence([&der::oid(der::EC_PUBLIC_KEY), &der::oid(der::PRIME256V1)]),
            &der::octets(key.secret_sec1_der()),
        ])),
        _ => Err(TlsError::Key("not a P-256 key".to_owned())),
    }
}

fn key_id(key: &EcdsaKeyPair) -> Vec<u8> {
    digest(&SHA256, key.public_key().as_ref()).as_ref().iter().take(20).copied().collect()
}

/// As far as time goes, where `by` leads beyond it.
fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(at)
}

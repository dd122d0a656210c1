//! The key that signs service-account tokens: ECDSA on P-256, which JSON Web Tokens call ES256.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, UnparsedPublicKey,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

/// What comes before the point in the DER of a P-256 public key.
const PUBLIC_KEY_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("service-account key: {0}")]
pub struct KeyError(String);

/// Signs tokens and knows its own signatures.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
    id: String,
}

impl SigningKey {
    /// A new key.
    pub fn generate() -> Result<Self, KeyError> {
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map_err(|_| KeyError("cannot be made".to_owned()))?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// A P-256 key from PEM with PKCS #8 (`BEGIN PRIVATE KEY`).
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|error| KeyError(error.to_string()))?;
        Self::from_pkcs8(der.secret_pkcs8_der())
    }

    fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, KeyError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new())
            .map_err(|error| KeyError(format!("not a P-256 key: {error}")))?;
        let id = id(pair.public_key().as_ref());
        Ok(Self { pair, pkcs8: pkcs8.to_vec(), id })
    }

    /// The key as PEM, to keep it over restarts. Whoever has it is every service account.
    pub fn to_pem(&self) -> String {
        // WHY: one line is valid PEM for every reader we know, but not for all; 64 columns are for all.
        let encoded = STANDARD.encode(&self.pkcs8);
        let mut text = String::from("-----BEGIN PRIVATE KEY-----\n");
        for (at, letter) in encoded.chars().enumerate() {
            if at > 0 && at % 64 == 0 {
                text.push('\n');
            }
            text.push(letter);
        }
        text.push_str("\n-----END PRIVATE KEY-----\n");
        text
    }

    /// What tokens call it: the hash of the public key, as Kubernetes has it.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let signature = self.pair.sign(&SystemRandom::new(), message).ok()?;
        Some(signature.as_ref().to_vec())
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key().as_ref())
            .verify(message, signature)
            .is_ok()
    }

    /// The public key as a JSON Web Key.
    pub(super) fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let half = |skip: usize| -> Vec<u8> { point.iter().skip(skip).take(32).copied().collect() };
        json!({
            "use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": "ES256",
            "x": URL_SAFE_NO_PAD.encode(half(1)), "y": URL_SAFE_NO_PAD.encode(half(33)),
        })
    }
}

/// The name of a key, from its point on the curve.
pub(super) fn id(point: &[u8]) -> String {
    let public = [&PUBLIC_KEY_HEAD, point].concat();
    URL_SAFE_NO_PAD.encode(digest(&SHA256, &public))
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

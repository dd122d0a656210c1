//! Random ConfigMaps and Secrets without metadata.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::Value;

use crate::values::{Values, map, object, one, sometimes_long, text};

const ODD_KEYS: &[&str] = &["", ".", "..", "..a", "...", "a b", "é", "a/b", "\"\u{7}"];
const KEYS: &[&str] = &["a", "A_b", "key.name", ".dockercfg"];
const TYPES: &[&str] = &[
    "kubernetes.io/service-account-token",
    "kubernetes.io/dockercfg",
    "kubernetes.io/dockerconfigjson",
    "kubernetes.io/basic-auth",
    "kubernetes.io/ssh-auth",
    "kubernetes.io/tls",
    "bootstrap.kubernetes.io/token",
    "anything <é>",
    "",
];
const TYPED_KEYS: &[&str] =
    &[".dockercfg", ".dockerconfigjson", "username", "password", "ssh-privatekey", "tls.crt", "tls.key", "a"];
/// `""`, `x`, `{}`, `{"auths":{}}`, `[]`, `{"a":1e999}`, `{"a" 1}`, `null`, `é`, `{"a":"`.
const BYTES: &[&str] = &[
    "",
    "eA==",
    "e30=",
    "eyJhdXRocyI6e319",
    "W10=",
    "eyJhIjoxZTk5OX0=",
    "eyJhIiAxfQ==",
    "bnVsbA==",
    "w6k=",
    "eyJhIjoi",
];

/// Files in base64 that are, or look like, certificates and keys; some belong together.
static PEM: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut files = vec![String::new(), "x".into()];
    for label in ["X", "EC PRIVATE KEY", "CERTIFICATE", "PRIVATE KEYS"] {
        files.push(format!("-----BEGIN {label}-----\nbm90IGEgZmlsZQ==\n-----END {label}-----\n"));
        files.push(format!("-----BEGIN {label}-----\nbm90IGEg\n"));
    }
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ED25519] {
        let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let certificate = rcgen::CertificateParams::new(["web".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
        files.push(format!("# both\n{}{certificate}", key.serialize_pem()));
        files.push(key.serialize_pem().replace('\n', " \r\n"));
        files.push(certificate);
    }
    files.into_iter().map(|file| STANDARD.encode(file).into()).collect()
});

fn tls() -> Values {
    // The last nine are good.
    let good = PEM.iter().rev().take(9).cloned().collect::<Vec<_>>();
    let file = || prop_oneof![prop::sample::select(PEM.clone()), prop::sample::select(good.clone())].boxed();
    let data = object(vec![("tls.crt", 0.95, file()), ("tls.key", 0.95, file())]);
    object(vec![("type", 1.0, one(&["kubernetes.io/tls"])), ("data", 0.95, data)])
}

pub(crate) fn secret(bad: f64) -> Values {
    prop_oneof![4 => any_secret(bad), 1 => tls()].boxed()
}

fn any_secret(bad: f64) -> Values {
    let keys = || sometimes_long(text(KEYS, ODD_KEYS, bad), 254, bad / 10.0);
    // In base64, 1398104 characters are two bytes more than the limit.
    let large = sometimes_long(one(BYTES), 1_398_104, bad / 50.0);
    object(vec![
        ("type", 0.7, text(&["Opaque"], TYPES, bad.max(0.1))),
        ("data", 0.4, map(keys(), large, 3)),
        ("data", 0.4, map(one(TYPED_KEYS), one(BYTES), 4)),
        ("stringData", 0.3, map(keys(), one(&["", "{}", "x", "é"]), 2)),
        ("immutable", 0.4, one(&[true, false])),
    ])
}

pub(crate) fn config_map(bad: f64) -> Values {
    let keys = || sometimes_long(text(KEYS, ODD_KEYS, bad), 254, bad / 10.0);
    let large = sometimes_long(one(&["", "v", "é"]), 1_048_570, bad / 20.0);
    let binary_keys = if bad > 0.0 { keys() } else { one(&["b", "c"]) };
    object(vec![
        ("data", 0.7, map(keys(), large, 3)),
        ("binaryData", 0.4, map(binary_keys, one(&["", "eA==", "eHg=", "eHh4", "eHh4eA=="]), 3)),
        ("immutable", 0.4, one(&[true, false])),
    ])
}

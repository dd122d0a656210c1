//! Keys that outlive the process, so that certificates and tokens stay good over a restart.

use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;

use crate::authn::SigningKey;
use crate::kubeconfig::write_private;
use crate::tls::Authority;

/// Why a key cannot be kept or used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the key `{}`", path.display())]
pub struct CredentialError {
    path: PathBuf,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl CredentialError {
    fn of(path: &Path) -> impl Fn(Box<dyn std::error::Error + Send + Sync>) -> Self {
        |source| Self { path: path.to_owned(), source }
    }
}

/// The key that signs tokens.
pub(crate) fn signing_key(folder: &Path) -> Result<SigningKey, CredentialError> {
    let path = folder.join("pki").join("sa.key");
    let failed = CredentialError::of(&path);
    if let Some(pem) = read(&path)? {
        return SigningKey::from_pem(&pem).map_err(|error| failed(error.into()));
    }
    let key = SigningKey::generate().map_err(|error| failed(error.into()))?;
    keep(&path, &key.to_pem())?;
    Ok(key)
}

/// Who signs certificates. Those of the server itself are made anew at each start: who trusts the authority trusts them.
pub(crate) fn authority(folder: &Path, now: Timestamp) -> Result<Authority, CredentialError> {
    let (certificate, key) = (folder.join("pki").join("ca.crt"), folder.join("pki").join("ca.key"));
    let failed = CredentialError::of(&key);
    if let (Some(certificate), Some(key)) = (read(&certificate)?, read(&key)?) {
        return Authority::from_pem(&certificate, &key).map_err(|error| failed(error.into()));
    }
    let authority = Authority::generate(now).map_err(|error| failed(error.into()))?;
    // The certificate comes last: it is used only where its key is.
    for (path, pem) in [(&key, authority.key_pem()), (&certificate, authority.certificate_pem())] {
        keep(path, pem)?;
    }
    Ok(authority)
}

/// Writes a file, and returns when it and its name are on the disk.
fn keep(path: &Path, pem: &str) -> Result<(), CredentialError> {
    let written = write_private(path, pem.as_bytes())
        .and_then(|()| path.ancestors().skip(1).take(2).try_for_each(|folder| fs::File::open(folder)?.sync_all()));
    written.map_err(|error| CredentialError::of(path)(error.into()))
}

fn read(path: &Path) -> Result<Option<String>, CredentialError> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|error| CredentialError::of(path)(error.into())),
    }
}

//! Files with which `kubectl` and others reach the server.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::tls::Issued;

/// How to reach a server, and as whom.
#[derive(Clone)]
pub struct Kubeconfig<'a> {
    /// The name of the cluster, of the context, and of the user.
    pub name: &'a str,
    /// `https://HOST:PORT`
    pub server: &'a str,
    /// The certificate to trust, as PEM.
    pub authority_pem: &'a str,
    /// Who uses it, by token.
    pub token: Option<&'a str>,
    /// Who uses it, by certificate.
    pub certificate: Option<&'a Issued>,
    /// The namespace of requests that name none; `default` where empty.
    pub namespace: &'a str,
}

impl Kubeconfig<'_> {
    /// The file as a value.
    pub fn to_json(&self) -> Value {
        let mut user = serde_json::Map::new();
        if let Some(token) = self.token {
            user.insert("token".into(), token.into());
        }
        if let Some(issued) = self.certificate {
            user.insert("client-certificate-data".into(), STANDARD.encode(&issued.certificate_pem).into());
            user.insert("client-key-data".into(), STANDARD.encode(&issued.key_pem).into());
        }
        let mut context = json!({"cluster": self.name, "user": self.name});
        if let (false, Some(fields)) = (self.namespace.is_empty(), context.as_object_mut()) {
            fields.insert("namespace".into(), self.namespace.into());
        }
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.name, "cluster": {
                "server": self.server, "certificate-authority-data": STANDARD.encode(self.authority_pem),
            }}],
            "contexts": [{"name": self.name, "context": context}],
            "current-context": self.name,
            "users": [{"name": self.name, "user": user}],
        })
    }

    /// Writes the file, for its owner only. Readers see the old one or the new one, never a part.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        // WHY: JSON is YAML, and quotes everything that YAML would take for something else.
        let mut text = serde_json::to_vec_pretty(&self.to_json())?;
        text.push(b'\n');
        write_private(path, &text)
    }
}

/// Replaces a file by one that only its owner may read, at once; folders above it are made where they are missing.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().ok_or_else(|| io::Error::other(format!("`{}` is no file name", path.display())))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}", crate::uid::uuid_v4()));
    let temporary = Temporary(folder.join(temporary));
    let mut file = private(&temporary.0)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary.0, path)
}

/// A file under a name of its own, until it gets the right one; nothing is left where that fails.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl std::fmt::Debug for Kubeconfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kubeconfig").field("name", &self.name).field("server", &self.server).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        std::env::temp_dir().join(format!("rolewright-kubeconfig-{}", crate::uid::uuid_v4()))
    }

    #[test]
    fn says_where_and_who() {
        let issued = Issued { certificate_pem: "CERT".into(), key_pem: "KEY".into() };
        let config = Kubeconfig {
            name: "rolewright",
            server: "https://127.0.0.1:6443",
            authority_pem: "CA",
            token: Some("secret"),
            certificate: Some(&issued),
            namespace: "team-a",
        };
        let written = config.to_json();
        assert_eq!(written["clusters"][0]["cluster"]["certificate-authority-data"], "Q0E=");
        assert_eq!(written["contexts"][0]["context"]["namespace"], "team-a");
        assert_eq!(
            written["users"][0]["user"],
            json!({"token": "secret", "client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ"})
        );
        assert!(!format!("{config:?}").contains("secret"), "debug output keeps secrets");
    }

    #[test]
    fn files_are_whole_and_private_and_nothing_else_is_left() {
        let folder = folder();
        let path = folder.join("deep").join("kubeconfig");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        fs::create_dir_all(folder.join("taken")).unwrap();
        assert!(write_private(&folder.join("taken"), b"").is_err(), "a folder is no file");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "the temporary file is gone");
        fs::remove_dir_all(folder).unwrap();
    }
}

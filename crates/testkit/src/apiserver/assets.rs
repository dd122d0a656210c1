//! kube-apiserver and etcd from a folder of ready-made binaries, as `setup-envtest` downloads them.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::{Client, Ready};

const TOKEN: &str = "rolewright-tests-only";

/// Both processes and their data. All of it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Assets {
    children: Vec<Child>,
    data: PathBuf,
}

impl Assets {
    pub(super) fn start(folder: &Path) -> Result<(Self, Ready)> {
        let data = std::env::temp_dir().join(format!("rolewright-assets-{}", std::process::id()));
        fs::create_dir_all(&data)?;
        let mut assets = Self { children: Vec::new(), data };
        let etcd = format!("http://127.0.0.1:{}", free_port()?);
        let peer = format!("http://127.0.0.1:{}", free_port()?);
        let directory = assets.path("etcd").display().to_string();
        let flags = [
            ("data-dir", directory.as_str()),
            ("listen-client-urls", &etcd),
            ("advertise-client-urls", &etcd),
            ("listen-peer-urls", &peer),
            ("initial-advertise-peer-urls", &peer),
            ("initial-cluster", &format!("default={peer}")),
            ("unsafe-no-fsync", "true"),
        ];
        assets.spawn(&folder.join("etcd"), &flags)?;

        let key = assets.signing_key()?;
        let tokens = assets.write("tokens.csv", &format!("{TOKEN},admin,admin,system:masters\n"))?;
        let port = free_port()?.to_string();
        let certificates = assets.path("certificates").display().to_string();
        let flags = [
            ("etcd-servers", etcd.as_str()),
            ("bind-address", "127.0.0.1"),
            ("secure-port", &port),
            ("cert-dir", &certificates),
            ("token-auth-file", &tokens),
            ("authorization-mode", "RBAC"),
            ("service-cluster-ip-range", "10.0.0.0/24"),
            ("service-account-issuer", "https://kubernetes.default.svc"),
            ("service-account-key-file", &key),
            ("service-account-signing-key-file", &key),
        ];
        assets.spawn(&folder.join("kube-apiserver"), &flags)?;
        let ready = assets.ready(&port)?;
        assets.wait_for(&ready)?;
        Ok((assets, ready))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<String> {
        fs::write(self.path(name), text)?;
        Ok(self.path(name).display().to_string())
    }

    fn spawn(&mut self, program: &Path, flags: &[(&str, &str)]) -> Result<()> {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let log = File::create(self.path(&format!("{name}.log")))?;
        let child = Command::new(program)
            .args(flags.iter().map(|(flag, value)| format!("--{flag}={value}")))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("`{}` from KUBEBUILDER_ASSETS does not start", program.display()))?;
        self.children.push(child);
        Ok(())
    }

    /// The server signs service account tokens with this; it makes one for itself only for TLS.
    fn signing_key(&self) -> Result<String> {
        let path = self.path("sa.key");
        let mut command = Command::new("openssl");
        command.args(["ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out"]).arg(&path);
        let made = command.output().context("the server's key is made by `openssl`, which does not start")?;
        ensure!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        Ok(path.display().to_string())
    }

    fn ready(&self, port: &str) -> Result<Ready> {
        let address = format!("https://127.0.0.1:{port}");
        let ca = self.path("certificates/apiserver.crt");
        let kubeconfig = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "assets",
            "clusters": [{"name": "assets", "cluster": {"server": address, "certificate-authority": ca}}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "assets", "context": {"cluster": "assets", "user": "admin"}}],
        });
        // Every JSON document is a YAML document.
        let kubeconfig = self.write("kubeconfig", &kubeconfig.to_string())?;
        Ok(Ready { address, kubeconfig: kubeconfig.into(), token: TOKEN.into(), ca })
    }

    fn wait_for(&mut self, ready: &Ready) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_mins(1) {
            for child in &mut self.children {
                if let Some(status) = child.try_wait()? {
                    let log = fs::read_to_string(self.data.join("kube-apiserver.log")).unwrap_or_default();
                    bail!("a server from KUBEBUILDER_ASSETS ended with {status}:\n{log}");
                }
            }
            // Until the certificate is written, curl cannot even try.
            if ready.ca.exists() && Client::curl(ready).get("/readyz").is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            sleep(Duration::from_millis(100));
        }
        bail!("the server from KUBEBUILDER_ASSETS is not ready after a minute")
    }
}

impl Drop for Assets {
    fn drop(&mut self) {
        // The API server first; without etcd it would complain at length. What cannot be ended is gone already.
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// A port that is free now. Another process may take it before it is used; then the server says so and ends.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

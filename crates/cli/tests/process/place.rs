//! A server where nobody but the manager aggregates roles.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rolewright_testkit::apiserver::ApiServer;
use rolewright_testkit::client::{Connection, Endpoint};
use rolewright_testkit::embedded::{Controllers, Listening, Settings};
use rolewright_testkit::testbed;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::PATIENCE;

const APPLY: &str = "application/apply-patch+yaml";

/// A server, and how to get in.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) endpoint: Endpoint,
    url: String,
    ca: Vec<u8>,
    token: String,
    folder: PathBuf,
    _server: Server,
}

/// What a server ends with: ours, or the real one.
type Server = (Option<oneshot::Sender<()>>, Option<ApiServer>);

impl Place {
    pub(crate) async fn ours() -> Result<Self> {
        let controllers = Controllers { aggregation: false, ..Controllers::default() };
        let settings = Settings { controllers, admin_token: Some("tests".to_owned()), ..Settings::default() };
        let listening = Listening::start(([127, 0, 0, 1], 0).into(), settings).await?;
        let (url, ca) = (listening.url(), listening.authority_pem().as_bytes().to_vec());
        let (end, ended) = oneshot::channel();
        tokio::spawn(listening.run(async {
            let _ = ended.await;
        }));
        Self::new("ours", url, ca, "tests".to_owned(), (Some(end), None))
    }

    pub(crate) fn real() -> Result<Option<Self>> {
        let Some(binary) = testbed::binary("the suite of the manager as a process")? else { return Ok(None) };
        let server = tokio::task::block_in_place(|| ApiServer::start_bare(&binary))?;
        let (url, token) = (server.ready.address.clone(), server.ready.token.clone());
        let ca = std::fs::read(&server.ready.ca)?;
        Self::new("real", url, ca, token, (None, Some(server))).map(Some)
    }

    fn new(name: &'static str, url: String, ca: Vec<u8>, token: String, server: Server) -> Result<Self> {
        let endpoint = Endpoint::new(&url, &ca, &token)?;
        let folder = std::env::temp_dir().join(format!("rolewright-process-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self { name, endpoint, url, ca, token, folder, _server: server })
    }

    /// A kubeconfig of the superuser, or of somebody whom it may be.
    pub(crate) fn kubeconfig(&self, user: Option<&str>) -> Result<PathBuf> {
        self.kubeconfig_with(&self.url, &json!({"token": self.token, "as": user}))
    }

    /// A kubeconfig with a token that nobody knows.
    pub(crate) fn stranger(&self) -> Result<PathBuf> {
        self.kubeconfig_with(&self.url, &json!({"token": "stranger"}))
    }

    /// A kubeconfig for something in front of the server.
    pub(crate) fn kubeconfig_of(&self, url: &str) -> Result<PathBuf> {
        self.kubeconfig_with(url, &json!({}))
    }

    fn kubeconfig_with(&self, url: &str, user: &Value) -> Result<PathBuf> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut cluster = json!({"server": url});
        if url.starts_with("https") {
            cluster["certificate-authority-data"] = json!(STANDARD.encode(&self.ca));
        }
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": cluster}],
            "users": [{"name": "here", "user": user}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
        });
        let file = self.folder.join(format!("kubeconfig-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        std::fs::write(&file, config.to_string())?;
        Ok(file)
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        self.endpoint.connect().await
    }

    /// Applies a ClusterRole.
    pub(crate) async fn role(&self, name: &str, fields: Value) -> Result<()> {
        let mut role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        });
        for (field, value) in fields.as_object().into_iter().flatten() {
            role[field] = value.clone();
            role["metadata"]["name"] = json!(name);
        }
        self.apply(&format!("{ROLES}/{name}"), &role).await
    }

    pub(crate) async fn apply(&self, path: &str, object: &Value) -> Result<()> {
        let path = format!("{path}?fieldManager=tests&force=true");
        let (status, answer) = self.connect().await?.ask("PATCH", &path, APPLY, object).await?;
        ensure!(status < 300, "{path}: {answer}");
        Ok(())
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Option<Value>> {
        let (status, object) = self.connect().await?.get(path).await?;
        ensure!(status == 200 || status == 404, "{path}: {object}");
        Ok((status == 200).then_some(object))
    }

    /// Waits until an object is as it should be.
    pub(crate) async fn until(&self, what: &str, path: &str, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        loop {
            let found = self.get(path).await?;
            if let Some(found) = found.as_ref().filter(|found| holds(found)) {
                return Ok(found.clone());
            }
            ensure!(start.elapsed() < PATIENCE, "{what} did not happen: {:#}", found.unwrap_or_default());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Who holds a lease of the namespace `default`.
    pub(crate) async fn holder(&self, lease: &str) -> Result<String> {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/default/leases/{lease}");
        let lease = self.get(&path).await?.context("there is a lease")?;
        Ok(lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where ClusterRoles are.
pub(crate) const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

/// Rules that tell a number.
pub(crate) fn numbered(number: u32) -> Value {
    json!([{"apiGroups": ["example.com"], "resources": [format!("r{number}")], "verbs": ["get"]}])
}

/// A role that gathers others by a label.
pub(crate) fn gathering(label: &str) -> Value {
    json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]}})
}

/// A role that is gathered.
pub(crate) fn gathered(name: &str, label: &str, number: u32) -> Value {
    json!({"metadata": {"name": name, "labels": {label: "true"}}, "rules": numbered(number)})
}

//! The real API server, and requests to it that must succeed.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use http_body_util::BodyExt;
use rolewright_testkit::apiserver::ApiServer;
use rolewright_testkit::client::{Connection, Endpoint};
use serde_json::Value;

pub(crate) const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const CLIENTS: usize = 8;

/// A running server without controllers.
pub(crate) struct Server {
    process: ApiServer,
    endpoint: Endpoint,
    pub(crate) testbed: OsString,
}

impl Server {
    pub(crate) fn start(testbed: &OsStr) -> Result<Self> {
        let process = ApiServer::start_bare(testbed)?;
        let ready = &process.ready;
        let endpoint = Endpoint::new(&ready.address, &fs::read(&ready.ca)?, &ready.token)?;
        Ok(Self { process, endpoint, testbed: testbed.to_owned() })
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.process.ready.kubeconfig
    }

    pub(crate) async fn connect(&self) -> Result<Connection> {
        self.endpoint.connect().await
    }

    /// Creates objects, by several clients at once.
    pub(crate) async fn fill(&self, path: &str, objects: Vec<Value>) -> Result<()> {
        let connections = try_join_all((0..CLIENTS).map(|_| self.connect())).await?;
        let objects = &objects;
        let clients = connections.into_iter().enumerate().map(|(client, mut connection)| async move {
            for object in objects.iter().skip(client).step_by(CLIENTS) {
                send(&mut connection, "POST", path, object).await?;
            }
            anyhow::Ok(())
        });
        try_join_all(clients).await?;
        Ok(())
    }

    /// Applies objects as the manager does, all at once.
    pub(crate) async fn apply(&self, path: &str, objects: Vec<Value>) -> Result<()> {
        let connections = try_join_all((0..CLIENTS).map(|_| self.connect())).await?;
        let objects = &objects;
        let clients = connections.into_iter().enumerate().map(|(client, mut connection)| async move {
            for object in objects.iter().skip(client).step_by(CLIENTS) {
                apply(&mut connection, "rolewright", path, object).await?;
            }
            anyhow::Ok(())
        });
        try_join_all(clients).await?;
        Ok(())
    }

    /// How many requests have tried to write an object of RBAC.
    pub(crate) async fn writes(&self) -> Result<f64> {
        let answer = self.connect().await?.open("GET", "/metrics", "application/json", &Value::Null).await?;
        let text = answer.into_body().collect().await?.to_bytes();
        let is_write = |line: &&str| {
            let says = |label: &str, values: &[&str]| {
                values.iter().any(|value| line.contains(&format!("{label}=\"{value}\"")))
            };
            line.starts_with("apiserver_request_total{")
                && says("group", &["rbac.authorization.k8s.io"])
                && says("verb", &["APPLY", "PATCH", "PUT", "POST", "DELETE", "DELETECOLLECTION"])
        };
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().filter(is_write).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
    }
}

/// Sends a request that must succeed.
pub(crate) async fn send(connection: &mut Connection, method: &str, path: &str, body: &Value) -> Result<Value> {
    let (status, answer) = connection.ask(method, path, "application/json", body).await?;
    ensure!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    Ok(answer)
}

/// Applies an object as somebody, whoever applied it before.
pub(crate) async fn apply(connection: &mut Connection, manager: &str, path: &str, object: &Value) -> Result<()> {
    let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let path = format!("{path}/{name}?force=true&fieldManager={manager}");
    let (status, answer) = connection.ask("PATCH", &path, "application/apply-patch+yaml", object).await?;
    ensure!((200..300).contains(&status), "PATCH {path}: {status} {answer}");
    Ok(())
}

//! The client, for requests that must succeed.

use anyhow::{Result, bail};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Response};
use rolewright_testkit::client::{self, Endpoint};
use serde_json::Value;

/// An open connection; clones share it.
#[derive(Clone)]
pub(crate) struct Connection(client::Connection);

impl Connection {
    pub(crate) async fn to(endpoint: &Endpoint) -> Result<Self> {
        Ok(Self(endpoint.connect().await?))
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn send(&mut self, method: Method, path: &str, body: &Value) -> Result<Bytes> {
        let answer = self.open(method, path, body).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// Reads an object.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(Method::GET, path, &Value::Null).await?)?)
    }

    /// Creates an object.
    pub(crate) async fn create(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send(Method::POST, path, body).await
    }

    /// Applies an object.
    pub(crate) async fn apply(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        let answer = self.open_as(Method::PATCH, path, "application/apply-patch+yaml", body).await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// Sends a request and leaves the answer to be read.
    pub(crate) async fn open(&mut self, method: Method, path: &str, body: &Value) -> Result<Response<Incoming>> {
        self.open_as(method, path, "application/json", body).await
    }

    async fn open_as(&mut self, method: Method, path: &str, form: &str, body: &Value) -> Result<Response<Incoming>> {
        let answer = self.0.open(method.as_str(), path, form, body).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            let text = answer.into_body().collect().await?.to_bytes();
            bail!("{method} {path}: {status} {}", String::from_utf8_lossy(&text));
        }
        Ok(answer)
    }
}

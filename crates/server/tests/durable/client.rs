//! A server on a folder, asked without a socket.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use rolewright_server::store::{Data, Sync};
use rolewright_server::{Server, Settings, StartError, admin};
use serde_json::Value;

/// A folder that goes with its owner.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rolewright-durable-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path().join("objects.log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn settings(folder: &Path) -> Settings {
    // Nothing here loses power, and the suite has other things to wait for.
    Settings { data: Some(Data { folder: folder.to_owned(), sync: Sync::System }), ..Settings::default() }
}

pub(crate) fn start(folder: &Folder) -> Result<Server, StartError> {
    Server::start(settings(&folder.path()))
}

/// Somebody who asks a server.
#[derive(Clone)]
pub(crate) struct Client(Router);

impl Client {
    pub(crate) fn admin(server: &Server) -> Self {
        Self(server.router_as(admin()))
    }

    pub(crate) fn of(router: Router) -> Self {
        Self(router)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        TowerToHyperService::new(self.0.clone()).call(request).await.unwrap()
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        self.ask_as(method, path, "application/json", body).await
    }

    pub(crate) async fn ask_as(&self, method: Method, path: &str, form: &str, body: &Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path).header("content-type", form);
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let answer = self.send(request.body(body).unwrap()).await;
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(Method::GET, path, &Value::Null).await
    }

    /// What must work.
    pub(crate) async fn must(&self, method: Method, path: &str, body: &Value) -> Value {
        let (code, answer) = self.ask(method.clone(), path, body).await;
        assert!((200..300).contains(&code), "{method} {path}: {code} {answer}");
        answer
    }

    pub(crate) async fn create(&self, path: &str, body: &Value) -> Value {
        self.must(Method::POST, path, body).await
    }

    /// Waits until something is there, or is gone.
    pub(crate) async fn until(&self, path: &str, expected: u16) {
        while self.get(path).await.0 != expected {
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until every namespace of a new cluster has what namespaces get.
pub(crate) async fn furnished(client: &Client) {
    for namespace in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        client.until(&format!("/api/v1/namespaces/{namespace}/serviceaccounts/default"), 200).await;
    }
}

/// Everything that a server has, by path.
pub(crate) async fn everything(client: &Client) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let (_, groups) = client.get("/apis").await;
    let versions = groups["groups"].as_array().unwrap().iter().flat_map(|group| {
        group["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| format!("/apis/{}", version["groupVersion"].as_str().unwrap()))
    });
    for base in std::iter::once("/api/v1".to_owned()).chain(versions) {
        let (_, resources) = client.get(&base).await;
        for resource in resources["resources"].as_array().unwrap() {
            let listed = resource["verbs"].as_array().unwrap().iter().any(|verb| verb == "list");
            if listed {
                let path = format!("{base}/{}", resource["name"].as_str().unwrap());
                let (code, list) = client.get(&path).await;
                assert_eq!(code, 200, "{path}");
                all.push((path, list));
            }
        }
    }
    all
}

/// What a list has by that name.
pub(crate) fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list["items"].as_array()?.iter().find(|item| item["metadata"]["name"] == name)
}

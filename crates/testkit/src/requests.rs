//! A layer that sees what a client asks for, and what it is refused.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{Method, Request, Response, StatusCode};
use tokio::sync::Notify;
use tower::{Layer, Service};

/// What was asked for, as `VERB RESOURCE.GROUP [NAME]`, and what of it was refused. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Requests(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    seen: Mutex<Asked>,
    refused: Notify,
}

#[derive(Debug, Default)]
struct Asked {
    used: BTreeSet<String>,
    refused: Vec<String>,
}

impl Requests {
    /// What was asked for, with the name and without.
    pub fn used(&self) -> BTreeSet<String> {
        self.asked().used.clone()
    }

    /// What was refused, with the path.
    pub fn refused(&self) -> Vec<String> {
        self.asked().refused.clone()
    }

    /// Done when something was refused.
    pub async fn first_refusal(&self) {
        while self.asked().refused.is_empty() {
            self.0.refused.notified().await;
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, request: String, status: StatusCode, path: &str) {
        let mut asked = self.asked();
        if status == StatusCode::FORBIDDEN {
            asked.refused.push(format!("{request} ({path})"));
            self.0.refused.notify_one();
        }
        let plain = request.split(' ').take(2).collect::<Vec<_>>().join(" ");
        asked.used.extend([plain, request]);
    }
}

/// `patch clusterroles.rbac.authorization.k8s.io NAME`.
fn described<B>(request: &Request<B>) -> String {
    let mut parts: Vec<&str> = request.uri().path().split('/').filter(|part| !part.is_empty()).collect();
    let group = if parts.first() == Some(&"apis") { parts.get(1).copied().unwrap_or_default() } else { "" };
    parts.drain(..parts.len().min(if group.is_empty() { 2 } else { 3 }));
    if parts.first() == Some(&"namespaces") && parts.len() > 2 {
        parts.drain(..2);
    }
    let resource = match *parts.as_slice() {
        [resource, _, sub, ..] => format!("{resource}/{sub}"),
        [resource, ..] => resource.to_owned(),
        [] => String::new(),
    };
    let watch = request.uri().query().is_some_and(|query| query.contains("watch=true") || query.contains("watch=1"));
    let verb = match *request.method() {
        Method::GET if parts.len() > 1 => "get",
        Method::GET if watch => "watch",
        Method::GET => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "?",
    };
    let name = parts.get(1).copied().unwrap_or_default();
    format!("{verb} {resource}.{group} {name}").trim_end().to_owned()
}

impl<S> Layer<S> for Requests {
    type Service = Seen<S>;

    fn layer(&self, inner: S) -> Seen<S> {
        Seen { inner, requests: self.clone() }
    }
}

/// A service whose requests are seen.
#[derive(Clone, Debug)]
pub struct Seen<S> {
    inner: S,
    requests: Requests,
}

impl<S, B, R> Service<Request<B>> for Seen<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (requests, asked, path) = (self.requests.clone(), described(&request), request.uri().path().to_owned());
        let answering = self.inner.call(request);
        Box::pin(async move {
            let response = answering.await?;
            requests.saw(asked, response.status(), &path);
            Ok(response)
        })
    }
}

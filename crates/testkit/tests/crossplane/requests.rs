//! A layer that sees what a client asks for, and what it is refused.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use tokio::sync::Notify;
use tower::{Layer, Service};

/// What was asked for, as `VERB RESOURCE.GROUP [NAME]`, and what of it was refused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    seen: Mutex<(BTreeSet<String>, Vec<String>)>,
    refused: Notify,
}

impl Requests {
    pub(crate) fn used(&self) -> BTreeSet<String> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    pub(crate) fn refused(&self) -> Vec<String> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    pub(crate) async fn first_refusal(&self) {
        while self.refused().is_empty() {
            self.0.refused.notified().await;
        }
    }

    fn saw(&self, request: String, status: StatusCode, path: &str) {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if status == StatusCode::FORBIDDEN {
            seen.1.push(format!("{request} ({path})"));
            self.0.refused.notify_one();
        }
        let plain = request.split(' ').take(2).collect::<Vec<_>>().join(" ");
        seen.0.extend([plain, request]);
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

#[derive(Clone, Debug)]
pub(crate) struct Seen<S> {
    inner: S,
    requests: Requests,
}

impl<S, B> Service<Request<Body>> for Seen<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    B: 'static,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<B>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (requests, asked, path) = (self.requests.clone(), described(&request), request.uri().path().to_owned());
        let seen = move |response: &Response<B>| requests.saw(asked, response.status(), &path);
        self.inner.call(request).inspect_ok(seen).boxed()
    }
}

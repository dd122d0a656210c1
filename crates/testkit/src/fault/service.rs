//! Requests on their way.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Bytes};
use tower::Service;

use super::answer;
use super::dice::Class;
use super::plan::Fault;
use super::state::State;
use super::stream::Stream;

/// What a client takes for an error.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer that may be another than the server's.
pub type FaultBody = UnsyncBoxBody<Bytes, BoxError>;

/// A service with faults in front of it.
#[derive(Clone, Debug)]
pub struct Faulty<S> {
    inner: S,
    state: Arc<State>,
}

impl<S> Faulty<S> {
    pub(super) fn new(inner: S, state: Arc<State>) -> Self {
        Self { inner, state }
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<FaultBody>, BoxError>> + Send>>;

impl<S, B, R> Service<Request<B>> for Faulty<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError> + 'static,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<FaultBody>;
    type Error = BoxError;
    type Future = Answering;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let state = self.state.clone();
        if state.is_killed() {
            return Box::pin(std::future::pending());
        }
        let path = request.uri().path().to_owned();
        if state.spares(&path) {
            return Box::pin(passed(self.inner.call(request)));
        }
        let class = class(&request);
        let (verdict, nth) = state.request(class, request.method().as_str(), &path);
        let sent = verdict.done.then(|| self.inner.call(request));
        Box::pin(async move {
            match (verdict.fault, sent) {
                (None, Some(sent)) if class == Class::Watch => {
                    let answer = sent.await.map_err(Into::into)?;
                    let seed = state.stream(&path, nth);
                    Ok(answer.map(|body| Stream::new(body, state, seed).boxed_unsync()))
                }
                (None, Some(sent)) => passed(sent).await,
                (fault, sent) => {
                    if let Some(sent) = sent {
                        // Its answer is nobody's business, but whoever asks next must find it done.
                        let _ = sent.await;
                    }
                    injected(fault, &state).await
                }
            }
        })
    }
}

async fn passed<R, E>(sent: impl Future<Output = Result<Response<R>, E>>) -> Result<Response<FaultBody>, BoxError>
where
    E: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    let answer = sent.await.map_err(Into::into)?;
    Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
}

async fn injected(fault: Option<Fault>, state: &State) -> Result<Response<FaultBody>, BoxError> {
    match fault {
        Some(Fault::Conflict) => Ok(answer::conflict()),
        Some(Fault::Gone) => Ok(answer::gone()),
        Some(Fault::Busy) => Ok(answer::busy(state.plan.retry_after)),
        Some(Fault::Broken) => Ok(answer::broken()),
        Some(Fault::Late) => {
            tokio::time::sleep(state.plan.stall).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "no answer (injected)").into())
        }
        Some(Fault::Killed) => {
            state.kill();
            std::future::pending().await
        }
        _ => Err(io::Error::new(io::ErrorKind::ConnectionReset, "connection reset (injected)").into()),
    }
}

fn class<B>(request: &Request<B>) -> Class {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Class::Write;
    }
    let query = request.uri().query().unwrap_or_default();
    let has = |name: &str| query.split('&').any(|part| part.strip_prefix(name).is_some_and(|value| !value.is_empty()));
    if has("watch=") && !query.contains("watch=false") && !query.contains("watch=0") {
        Class::Watch
    } else if has("continue=") {
        Class::Continued
    } else {
        Class::Read
    }
}

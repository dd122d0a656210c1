//! What stands in front of a server: writes down who wrote what, holds requests back, and refuses some.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rolewright_testkit::client::Connection;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::place::{Place, ROLES};

/// What happened to a write of a role or a lease, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A write of a role was sent.
    Began(&'static str),
    /// It was answered.
    Done(&'static str, u16),
    /// The lease was written: this one leads now, or gave it back.
    Lease(&'static str, bool),
}

/// What several fronts write down.
pub(crate) type Journal = Arc<Mutex<Vec<Entry>>>;

/// A server's front for one client.
pub(crate) struct Front {
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    who: &'static str,
    journal: Journal,
    /// Which requests wait.
    held: watch::Sender<Option<What>>,
    /// How many requests wait.
    waiting: watch::Sender<u32>,
    /// How many writes of roles are refused.
    conflicts: Mutex<u32>,
}

/// Requests that can be held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Lists of roles.
    Lists,
    /// Answers to writes of roles: the server has them.
    Answers,
}

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

impl Front {
    pub(crate) async fn new(place: &Place, who: &'static str, journal: &Journal) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let state = Arc::new(State {
            who,
            journal: journal.clone(),
            held: watch::Sender::new(None),
            waiting: watch::Sender::new(0),
            conflicts: Mutex::new(0),
        });
        let (server, serving) = (place.connect().await?, state.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, state) = (server.clone(), serving.clone());
                tokio::spawn(async move {
                    let service = service_fn(|request| pass(state.clone(), server.clone(), request));
                    // Who breaks off has no use for an error.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Self { url, state })
    }

    /// Holds requests back from now on.
    pub(crate) fn hold(&self, what: What) {
        self.state.held.send_replace(Some(what));
    }

    /// Lets everything pass.
    pub(crate) fn release(&self) {
        self.state.held.send_replace(None);
    }

    /// Waits until a request is held back.
    pub(crate) async fn has_one(&self) -> Result<()> {
        self.state.waiting.subscribe().wait_for(|waiting| *waiting > 0).await?;
        Ok(())
    }

    /// Refuses so many writes of roles.
    pub(crate) fn refuse(&self, writes: u32) {
        *self.state.conflicts.lock().unwrap() = writes;
    }
}

impl State {
    fn write_down(&self, entry: Entry) {
        self.journal.lock().unwrap().push(entry);
    }

    async fn pass_when_free(&self, what: What) {
        let mut held = self.held.subscribe();
        if *held.borrow() != Some(what) {
            return;
        }
        self.waiting.send_modify(|waiting| *waiting += 1);
        let _ = held.wait_for(|held| *held != Some(what)).await;
        self.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

async fn pass(state: Arc<State>, server: Connection, request: Request<Incoming>) -> Result<Answer, Infallible> {
    Ok(match forward(&state, server, request).await {
        Ok(answer) => answer,
        Err(error) => status(502, &error.to_string()),
    })
}

async fn forward(state: &State, mut server: Connection, request: Request<Incoming>) -> Result<Answer> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let form = head.headers.get("content-type").and_then(|form| form.to_str().ok()).unwrap_or("application/json");
    let body = body.collect().await?.to_bytes();
    let object = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
    let role = head.uri.path().starts_with(ROLES);
    if role && head.method == Method::GET {
        state.pass_when_free(What::Lists).await;
    }
    let writes_role = role && head.method != Method::GET;
    if writes_role {
        let mut conflicts = state.conflicts.lock().unwrap();
        if *conflicts > 0 {
            *conflicts -= 1;
            return Ok(status(409, "somebody was faster"));
        }
        drop(conflicts);
        state.write_down(Entry::Began(state.who));
    }
    let answer = server.open(head.method.as_str(), path, form, &object).await?;
    let code = answer.status().as_u16();
    if writes_role {
        state.pass_when_free(What::Answers).await;
        state.write_down(Entry::Done(state.who, code));
    }
    if head.method == Method::PUT && path.contains("/leases/") && code < 300 {
        let leads = object["spec"]["holderIdentity"].as_str().is_some_and(|holder| !holder.is_empty());
        state.write_down(Entry::Lease(state.who, leads));
    }
    Ok(answer.map(BodyExt::boxed))
}

fn status(code: u16, message: &str) -> Answer {
    let reason = if code == 409 { "Conflict" } else { "InternalError" };
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = hyper::StatusCode::from_u16(code).unwrap();
    answer.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    answer
}

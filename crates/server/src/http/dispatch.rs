//! The way of a request: who asks, as whom, may they, and then the answer.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use bytes::Bytes;
use futures::FutureExt;
use http_body_util::BodyExt;

use super::auditing::{self, Deprecated, Known, Received};
use super::request::RequestInfo;
use super::respond::{self, Answer};
use super::{negotiate, plain};
use crate::Server;
use crate::audit;
use crate::authn::{Identity, Impersonation};
use crate::query::Query;
use crate::registry::Call;
use crate::review;
use crate::status::Failure;
use crate::tls::Peer;

/// The largest body that is read.
const MOST_BODY: usize = 3 << 20;
/// How much of a body that is too large is read only to be able to say so, and for how long.
const DRAINED: usize = 64 << 20;
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_mins(1);

/// Go's HTTP server refuses any other path before a handler sees it.
fn has_whole_escapes(path: &str) -> bool {
    let is_escape = |rest: &str| rest.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    path.split('%').skip(1).all(is_escape)
}

/// Answers one request. `identity` is set for clients in the same process.
pub(crate) async fn handle(server: Server, identity: Option<Arc<Identity>>, request: Request<Body>) -> Answer {
    if !has_whole_escapes(request.uri().path()) {
        return respond::typed(StatusCode::BAD_REQUEST, "text/plain; charset=utf-8", "400 Bad Request");
    }
    let at = crate::time::now();
    let (head, body) = request.into_parts();
    let info = RequestInfo::read(&head.method, head.uri.path(), head.uri.query().unwrap_or_default());
    let mut known = Known::default();
    let routed = route(&server, identity, &head, &info, body, &mut known);
    let mut answer = if let Ok(answered) = AssertUnwindSafe(routed).catch_unwind().await {
        answered.unwrap_or_else(|failure| respond::failure(&failure))
    } else {
        known.panicked = true;
        respond::failure(&Failure::internal("the server panicked while it handled the request"))
    };
    // INVARIANT: nobody hears of anything that is not stored yet, be it their own write or somebody else's.
    if let Err(failure) = server.cluster().stored().await {
        answer = respond::failure(&failure);
    }
    let id = audit::audit_id(&head.headers);
    let headers = answer.headers_mut();
    if let Some(flow) = known.flow.take() {
        flow.write(headers);
    }
    if known.refused {
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert("audit-id", id);
    }
    if head.method == axum::http::Method::HEAD {
        *answer.body_mut() = Body::empty();
    }
    let received = Received { head: &head, info: &info, at, id };
    auditing::audited(&server, received, known, answer)
}

async fn route(
    server: &Server,
    identity: Option<Arc<Identity>>,
    head: &Parts,
    info: &RequestInfo,
    body: Body,
    known: &mut Known,
) -> Result<Answer, Failure> {
    let headers = &head.headers;
    let query = head.uri.query().unwrap_or_default();
    let mut identity = if let Some(identity) = identity {
        Identity::clone(&identity)
    } else {
        let certificate = head.extensions.get::<Peer>().and_then(|peer| peer.certificate.as_deref());
        server.authenticator().request(headers, certificate, crate::time::now())?
    };
    known.user = Some(identity.clone());
    let passed = Impersonation::from_headers(headers).and_then(|wanted| {
        if let Some(wanted) = wanted {
            let other = server.impersonate(&identity, &wanted, info)?;
            identity = other.identity.clone();
            known.impersonated = Some(other);
        }
        known.flow = server.fairness().classify(&identity.user, info).cloned();
        authorize(server, &identity, info, known)
    });
    if let Err(failure) = passed {
        known.refused = true;
        return Err(failure);
    }
    if !info.is_resource {
        return plain::answer(server, head, info, query);
    }
    let body = read(headers, body).await?;
    resource(server, &identity, head, info, body)
}

fn authorize(server: &Server, identity: &Identity, info: &RequestInfo, known: &mut Known) -> Result<(), Failure> {
    if server.audit().is_some() {
        let state = server.cluster().read();
        let decision = state.rights.authorizer.explain(&identity.user, &info.to_request());
        known.decision = Some((decision.allowed, decision.text()));
    }
    server.authorize(identity, info)
}

fn header_text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn read(headers: &HeaderMap, mut body: Body) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MOST_BODY) {
        drain(body).await;
        return Err(Failure::too_large(MOST_BODY));
    }
    match tokio::time::timeout(BODY_PATIENCE, collect(&mut body)).await {
        Ok(Ok(Some(collected))) => Ok(collected),
        Ok(Ok(None)) => {
            drain(body).await;
            Err(Failure::too_large(MOST_BODY))
        }
        Ok(Err(error)) => Err(Failure::bad_request(format!("cannot read the body: {error}"))),
        Err(_) => Err(Failure::new(408, "Timeout", "the body did not arrive in time")),
    }
}

/// The whole body; `None` as soon as it is too large.
async fn collect(body: &mut Body) -> Result<Option<Bytes>, axum::Error> {
    let (mut pieces, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        length += piece.len();
        if length > MOST_BODY {
            return Ok(None);
        }
        pieces.push(piece);
    }
    // Most bodies come in one piece, which need not be copied.
    Ok(Some(if let [whole] = pieces.as_slice() { whole.clone() } else { pieces.concat().into() }))
}

/// Reads on for a while without keeping anything: a client that is still sending hears no answer.
async fn drain(mut body: Body) {
    let all = async {
        let mut left = DRAINED;
        while let Some(Ok(frame)) = body.frame().await {
            let Some(rest) = frame.data_ref().map_or(Some(left), |data| left.checked_sub(data.len())) else { return };
            left = rest;
        }
    };
    let _ = tokio::time::timeout(DRAIN_PATIENCE, all).await;
}

fn resource(
    server: &Server,
    identity: &Identity,
    head: &Parts,
    info: &RequestInfo,
    body: Bytes,
) -> Result<Answer, Failure> {
    let (headers, query) = (&head.headers, head.uri.query().unwrap_or_default());
    if !server.catalog().has_group(&info.group) || info.named_group == info.group.is_empty() {
        return Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n"));
    }
    let Some(served) = server.catalog().find(&info.group, &info.version, &info.resource) else {
        // Nobody but their definitions speaks for the groups of custom resources.
        if server.catalog().is_built_in(&info.group) {
            return Err(Failure::no_such_resource());
        }
        return Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n"));
    };
    if served.is_elsewhere(info) {
        return Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n"));
    }
    let call = Call {
        server,
        served: &served,
        info,
        identity,
        query: Query::parse(query),
        accept: header_text(headers, header::ACCEPT),
        content_type: header_text(headers, header::CONTENT_TYPE),
        user_agent: header_text(headers, header::USER_AGENT).unwrap_or_default(),
        body,
        warnings: RefCell::default(),
        sent: RefCell::default(),
    };
    // Namespaced objects are created and named only within a namespace.
    let named = !info.name.is_empty() && !info.selected;
    let misplaced = served.namespaced == info.namespace.is_empty() && (named || !served.namespaced);
    if misplaced && served.plural != "namespaces" || !info.rest.is_empty() {
        return Err(Failure::no_such_resource());
    }
    let across = served.namespaced && info.namespace.is_empty();
    let needs_name = ["update", "patch"].contains(&info.verb.as_str());
    if across && info.verb == "deletecollection" || needs_name && !named || head.method == axum::http::Method::HEAD {
        return Err(Failure::not_allowed());
    }
    negotiate::plain(call.accept.unwrap_or_default(), ["list", "watch"].contains(&info.verb.as_str()))?;
    let outdated = served.warning();
    call.warn(outdated.map(str::to_owned));
    let mut answer = verb(&call).unwrap_or_else(|failure| respond::failure(&failure));
    respond::warn(&mut answer, &call.warnings.take());
    answer.extensions_mut().insert(call.sent.take());
    if outdated.is_some() {
        answer.extensions_mut().insert(Deprecated);
    }
    Ok(answer)
}

fn verb(call: &Call<'_>) -> Result<Answer, Failure> {
    let (info, served) = (call.info, call.served);
    if !info.subresource.is_empty() {
        return subresource(call);
    }
    let verb = info.verb.as_str();
    let known = served.verbs().contains(&verb) || verb == "watch" && served.verbs().contains(&"list");
    if !known {
        return Err(Failure::not_allowed());
    }
    if let Some(answer) = review::answer(call) {
        return answer;
    }
    match verb {
        "get" => call.get(),
        "list" | "watch" => call.list(),
        "create" if !served.creates_at(info) => Err(Failure::not_allowed()),
        "create" if served.group.is_empty() && served.plural == "bindings" => call.bind(),
        "create" => call.create(),
        "update" => call.update(),
        "patch" => call.patch(),
        "delete" => call.delete(),
        "deletecollection" => call.delete_collection(),
        _ => Err(Failure::not_allowed()),
    }
}

fn subresource(call: &Call<'_>) -> Result<Answer, Failure> {
    let info = call.info;
    let Some(sub) = call.served.subresource(&info.subresource) else {
        return Err(call.served.no_subresource(&info.name));
    };
    if !sub.verbs.contains(&info.verb.as_str()) {
        return Err(call.served.not_supported(&info.verb));
    }
    match (info.subresource.as_str(), info.verb.as_str()) {
        ("token", "create") => review::token(call),
        ("binding", "create") => call.bind(),
        ("eviction", "create") => call.evict(),
        ("scale", _) => call.scale(),
        ("status" | "finalize" | "approval" | "ephemeralcontainers" | "resize", "get") => call.get(),
        ("status" | "finalize" | "approval" | "ephemeralcontainers" | "resize", "update") => call.update(),
        ("status" | "finalize" | "approval" | "ephemeralcontainers" | "resize", "patch") => call.patch(),
        _ => Err(Failure::new(
            501,
            "NotImplemented",
            format!("nothing runs on this server, so `{}/{}` does nothing", info.resource, info.subresource),
        )),
    }
}

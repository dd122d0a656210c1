//! The way of a request: who asks, as whom, may they, and then the answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use bytes::Bytes;
use futures::FutureExt;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::request::RequestInfo;
use super::respond::{self, Answer};
use super::{discovery, plain};
use crate::Server;
use crate::audit::Record;
use crate::authn::{Identity, impersonate};
use crate::query::Query;
use crate::registry::Call;
use crate::review;
use crate::status::Failure;
use crate::tls::Peer;

/// The largest body that is read.
const MOST_BODY: usize = 3 << 20;
/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(60);

/// Answers one request. `identity` is set for clients in the same process.
pub(crate) async fn handle(server: Server, identity: Option<Arc<Identity>>, request: Request<Body>) -> Answer {
    let answered = AssertUnwindSafe(answer(&server, identity, request)).catch_unwind().await;
    answered
        .unwrap_or_else(|_| respond::failure(&Failure::internal("the server panicked while it handled the request")))
}

async fn answer(server: &Server, identity: Option<Arc<Identity>>, request: Request<Body>) -> Answer {
    let (head, body) = request.into_parts();
    let query = head.uri.query().unwrap_or_default();
    let info = RequestInfo::read(&head.method, head.uri.path(), query);
    let mut record = Record::new(&head, &info);
    let answered =
        route(server, identity, &head.headers, head.extensions.get::<Peer>(), &info, query, body, &mut record).await;
    let mut answer = answered.unwrap_or_else(|failure| respond::failure(&failure));
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    if let Ok(id) = HeaderValue::from_str(record.audit_id()) {
        headers.insert("audit-id", id);
    }
    if let Some(audit) = server.audit() {
        audit.event(record, &info, answer.status());
    }
    if head.method == axum::http::Method::HEAD {
        *answer.body_mut() = Body::empty();
    }
    answer
}

#[expect(clippy::too_many_arguments, reason = "the parts of one request")]
async fn route(
    server: &Server,
    identity: Option<Arc<Identity>>,
    headers: &HeaderMap,
    peer: Option<&Peer>,
    info: &RequestInfo,
    query: &str,
    body: Body,
    record: &mut Record,
) -> Result<Answer, Failure> {
    let identity = match identity {
        Some(identity) => Identity::clone(&identity),
        None => {
            let certificate = peer.and_then(|peer| peer.certificate.as_deref());
            server.authenticator().request(headers, certificate, crate::time::now())?
        }
    };
    record.user(&identity);
    let identity = match impersonate(headers, &identity, info, |user, request| {
        server.cluster().read().rights.authorizer.allows(user, request)
    })? {
        Some(other) => {
            record.impersonated(&other);
            other
        }
        None => identity,
    };
    authorize(server, &identity, info, record)?;
    if !info.is_resource {
        return plain::answer(server, headers, info, query);
    }
    let body = read(headers, body).await?;
    resource(server, &identity, headers, info, query, body)
}

fn authorize(server: &Server, identity: &Identity, info: &RequestInfo, record: &mut Record) -> Result<(), Failure> {
    if server.audit().is_some() {
        let state = server.cluster().read();
        let decision = state.rights.authorizer.explain(&identity.user, &info.to_request());
        record.decision(decision.allowed, &decision.text());
    }
    server.authorize(identity, info)
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MOST_BODY) {
        return Err(Failure::too_large(MOST_BODY));
    }
    let collected = tokio::time::timeout(BODY_PATIENCE, Limited::new(body, MOST_BODY).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Failure::too_large(MOST_BODY)),
        Ok(Err(error)) => Err(Failure::bad_request(format!("cannot read the body: {error}"))),
        Err(_) => Err(Failure::new(408, "Timeout", "the body did not arrive in time")),
    }
}

fn resource(
    server: &Server,
    identity: &Identity,
    headers: &HeaderMap,
    info: &RequestInfo,
    query: &str,
    body: Bytes,
) -> Result<Answer, Failure> {
    if !server.catalog().has_version(&info.group, &info.version) || info.named_group == info.group.is_empty() {
        return Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n"));
    }
    let Some(served) = server.catalog().find(&info.group, &info.version, &info.resource) else {
        return Err(Failure::no_such_resource());
    };
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let call = Call {
        server,
        served,
        info,
        identity,
        query: Query::parse(query),
        accept: text(header::ACCEPT),
        content_type: text(header::CONTENT_TYPE),
        user_agent: text(header::USER_AGENT).unwrap_or_default(),
        body,
    };
    // Namespaced objects are created and named only within a namespace.
    let misplaced = served.namespaced == info.namespace.is_empty() && !(served.namespaced && info.name.is_empty());
    if misplaced && served.plural != "namespaces" || !info.rest.is_empty() {
        return Err(Failure::no_such_resource());
    }
    if !info.subresource.is_empty() {
        return subresource(&call);
    }
    let verb = info.verb.as_str();
    if !served.verbs().contains(&verb) && !(verb == "watch" && served.verbs().contains(&"list")) {
        return Err(not_allowed(&call));
    }
    if let Some(answer) = review::answer(&call) {
        return answer;
    }
    match verb {
        "get" => call.get(),
        "list" | "watch" => call.list(),
        "create" if served.namespaced && info.namespace.is_empty() || !info.name.is_empty() => Err(not_allowed(&call)),
        "create" => call.create(),
        "update" => call.update(),
        "patch" => call.patch(),
        "delete" => call.delete(),
        "deletecollection" => call.delete_collection(),
        _ => Err(not_allowed(&call)),
    }
}

fn subresource(call: &Call<'_>) -> Result<Answer, Failure> {
    let info = call.info;
    let Some(sub) = call.served.subresource(&info.subresource) else { return Err(Failure::no_such_resource()) };
    if !sub.verbs.contains(&info.verb.as_str()) {
        return Err(not_allowed(call));
    }
    match (info.subresource.as_str(), info.verb.as_str()) {
        ("token", "create") => review::token(call),
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

fn not_allowed(call: &Call<'_>) -> Failure {
    let _ = discovery::GROUP_LIST;
    let method = match call.info.verb.as_str() {
        "create" => "create",
        "update" => "update",
        "patch" => "patch",
        "delete" => "delete",
        "deletecollection" => "deletecollection",
        _ => "get",
    };
    let _ = method;
    Failure::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        .about(crate::status::Details::default())
}

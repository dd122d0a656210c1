//! What is written down about a request.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream};
use axum::http::header;
use axum::http::request::Parts;
use bytes::Bytes;
use futures::Stream;

use super::request::RequestInfo;
use super::respond::{Answer, Told};
use crate::Server;
use crate::audit::{self, AuditedObject, Record, Response, Stage};
use crate::authn::{Identity, Impersonated};
use crate::tls::Peer;

/// What becomes known about a request on its way.
#[derive(Default)]
pub(super) struct Known {
    pub(super) user: Option<Identity>,
    pub(super) impersonated: Option<Impersonated>,
    pub(super) decision: Option<(bool, String)>,
    /// Refused before anything was looked at.
    pub(super) refused: bool,
    pub(super) panicked: bool,
}

/// What a client said of the object that it sent: the URL of a create does not name it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
}

/// Goes with answers about kinds that clients should no longer use.
#[derive(Clone, Copy)]
pub(super) struct Deprecated;

/// Goes with an answer that holds a new credential: how later requests by it will be known.
#[derive(Clone)]
pub(crate) struct Issued(pub(crate) String);

/// A request that came in.
pub(super) struct Received<'a> {
    pub(super) head: &'a Parts,
    pub(super) info: &'a RequestInfo,
    pub(super) at: jiff::Timestamp,
    pub(super) id: String,
}

/// Writes down an answer; of a watch, its end as well.
pub(super) fn audited(server: &Server, received: Received<'_>, known: Known, answer: Answer) -> Answer {
    let Some(log) = server.audit() else { return answer };
    let follows = received.info.verb == "watch";
    let nobody = known.user.is_none();
    let mut record = record(received, known, &answer);
    if record.stage != Stage::Panic && (follows || nobody) {
        record.stage = Stage::ResponseStarted;
    }
    log.event(record.clone());
    if !follows {
        return answer;
    }
    record.stage = Stage::ResponseComplete;
    let end = End { server: server.clone(), record: Some(record) };
    answer.map(|body| Body::from_stream(Followed { body: body.into_data_stream(), _end: end }))
}

fn record(received: Received<'_>, known: Known, answer: &Answer) -> Record {
    let Received { head, info, at, id } = received;
    let peer = head.extensions.get::<Peer>().map(|peer| peer.address.ip());
    let response = match answer.extensions().get::<Told>() {
        Some(Told(status)) => Response::status(status, answer.status().as_u16()),
        None => Response::Done(answer.status().as_u16()),
    };
    let agent = head.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let record = Record {
        audit_id: id,
        stage: if known.panicked { Stage::Panic } else { Stage::ResponseComplete },
        request_uri: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        verb: info.verb.clone(),
        user: known.user,
        impersonated: known.impersonated,
        source_ips: peer.map(|peer| audit::source_addresses(&head.headers, peer)).unwrap_or_default(),
        user_agent: agent.unwrap_or_default().to_owned(),
        object: info.is_resource.then(|| object(info, answer.extensions().get::<Sent>())),
        response,
        received: at,
        reached: crate::time::now(),
        annotations: annotations(answer),
    };
    match known.decision {
        Some((allowed, reason)) => record.decided(allowed, &reason),
        None => record,
    }
}

fn annotations(answer: &Answer) -> BTreeMap<String, String> {
    let deprecated = answer.extensions().get::<Deprecated>().map(|_| ("k8s.io/deprecated", "true"));
    let issued = answer.extensions().get::<Issued>();
    let issued = issued.map(|Issued(id)| ("authentication.kubernetes.io/issued-credential-id", id.as_str()));
    deprecated.into_iter().chain(issued).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn object(info: &RequestInfo, sent: Option<&Sent>) -> AuditedObject {
    let sent = sent.cloned().unwrap_or_default();
    let or = |given: &str, else_sent: String| if given.is_empty() { else_sent } else { given.to_owned() };
    AuditedObject {
        resource: info.resource.clone(),
        namespace: or(&info.namespace, sent.namespace),
        name: or(&info.name, sent.name),
        uid: sent.uid,
        api_group: info.group.clone(),
        api_version: info.version.clone(),
        resource_version: sent.resource_version,
        subresource: info.subresource.clone(),
    }
}

/// A body whose end is written down, whoever ends it.
struct Followed {
    body: BodyDataStream,
    _end: End,
}

impl Stream for Followed {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}

struct End {
    server: Server,
    record: Option<Record>,
}

impl Drop for End {
    fn drop(&mut self) {
        if let (Some(log), Some(mut record)) = (self.server.audit(), self.record.take()) {
            record.reached = crate::time::now();
            log.event(record);
        }
    }
}

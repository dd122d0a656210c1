//! What an event says.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hyper::header::HeaderMap;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::authn::{Identity, Impersonated};

/// When in a request's life an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Stage {
    /// The head of the answer is sent, the body goes on for long: watches, and answers to requests by nobody.
    ResponseStarted,
    /// The answer is complete.
    ResponseComplete,
    /// The server failed in the middle.
    Panic,
}

/// One event.
#[derive(Clone, Debug)]
pub struct Record {
    /// The request's id.
    pub audit_id: String,
    /// When.
    pub stage: Stage,
    /// Path and query.
    pub request_uri: String,
    /// Kubernetes' verb; the method in lower case outside the resource API.
    pub verb: String,
    /// Who sent it; nobody where the credentials were bad.
    pub user: Option<Identity>,
    /// As whom.
    pub impersonated: Option<Impersonated>,
    /// From where; see [`source_addresses`].
    pub source_ips: Vec<IpAddr>,
    /// With what.
    pub user_agent: String,
    /// On what; nothing outside the resource API.
    pub object: Option<AuditedObject>,
    /// What came of it.
    pub response: Response,
    /// When the request came.
    pub received: Timestamp,
    /// When the stage was reached.
    pub reached: Timestamp,
    /// `authorization.k8s.io/decision` and others.
    pub annotations: BTreeMap<String, String>,
}

/// What a request is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of Kubernetes' ObjectReference")]
pub struct AuditedObject {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// It was answered with this HTTP status.
    Done(u16),
    /// It was answered with this Status.
    Status(Box<Value>),
}

/// In the order of Kubernetes' members.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    kind: &'a str,
    api_version: &'a str,
    level: &'a str,
    #[serde(rename = "auditID")]
    audit_id: &'a str,
    stage: Stage,
    #[serde(rename = "requestURI")]
    request_uri: &'a str,
    verb: &'a str,
    user: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonated_user: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication_metadata: Option<Value>,
    #[serde(rename = "sourceIPs", skip_serializing_if = "<[_]>::is_empty")]
    source_ips: &'a [IpAddr],
    #[serde(skip_serializing_if = "str::is_empty")]
    user_agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<&'a AuditedObject>,
    response_status: Value,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
}

impl Record {
    /// Adds what the authorizer said.
    pub fn decided(mut self, allowed: bool, reason: &str) -> Self {
        let decision = if allowed { "allow" } else { "forbid" };
        self.annotations.insert("authorization.k8s.io/decision".to_owned(), decision.to_owned());
        self.annotations.insert("authorization.k8s.io/reason".to_owned(), reason.to_owned());
        self
    }

    /// The event as a line, with its end.
    pub(super) fn line(&self) -> Vec<u8> {
        let constraint = self.impersonated.as_ref().map(|it| it.constraint).filter(|verb| !verb.is_empty());
        let event = Event {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level: "Metadata",
            audit_id: &self.audit_id,
            stage: self.stage,
            request_uri: &self.request_uri,
            verb: &self.verb,
            user: self.user.as_ref().map_or_else(|| json!({}), Identity::user_info),
            impersonated_user: self.impersonated.as_ref().map(|it| it.identity.user_info()),
            authentication_metadata: constraint.map(|verb| json!({"impersonationConstraint": verb})),
            source_ips: &self.source_ips,
            user_agent: &self.user_agent,
            object_ref: self.object.as_ref(),
            response_status: self.response.to_json(),
            request_received_timestamp: micro(self.received),
            stage_timestamp: micro(self.reached),
            annotations: &self.annotations,
        };
        // WHY: texts and maps of texts always have a JSON form; should one not, an empty line tells of it.
        let mut line = serde_json::to_vec(&event).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

impl Response {
    /// A Status; a success does not name its code.
    pub(crate) fn status(status: &Value, code: u16) -> Self {
        let mut status = status.clone();
        if let Some(fields) = status.as_object_mut() {
            fields.entry("code").or_insert_with(|| code.into());
        }
        Self::Status(Box::new(status))
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Done(code) => json!({"metadata": {}, "code": code}),
            Self::Status(status) => {
                let mut status = Value::clone(status);
                if let Some(fields) = status.as_object_mut() {
                    fields.remove("kind");
                    fields.remove("apiVersion");
                }
                status
            }
        }
    }
}

/// RFC 3339 with microseconds, as MicroTime has it.
fn micro(at: Timestamp) -> String {
    format!("{at:.6}")
}

/// Where a request comes from: what proxies say, then the other end of the connection.
pub fn source_addresses(headers: &HeaderMap, peer: IpAddr) -> Vec<IpAddr> {
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut out: Vec<IpAddr> = said("x-forwarded-for").split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let real = said("x-real-ip").trim().parse().ok();
    for address in real.into_iter().chain([peer]) {
        if !out.contains(&address) {
            out.push(address);
        }
    }
    out
}

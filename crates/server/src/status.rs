//! What the server answers when it does not do what was asked: Kubernetes' Status, word for word.

use rolewright_core::quote::Quoted;
use rolewright_core::validate::{ErrorKind, FieldError, summary};
use serde_json::{Map, Value, json};

/// A refused request. Clients branch on code, reason and causes, so each is Kubernetes' own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason; empty where Kubernetes gives none.
    pub reason: &'static str,
    /// The text for people.
    pub message: String,
    /// What it is about.
    pub details: Option<Box<Details>>,
    /// Where a list can go on all the same; mostly empty.
    pub continue_token: String,
}

/// What a failure is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The API group.
    pub group: String,
    /// The plural resource, or the kind for invalid objects.
    pub kind: String,
    /// The object's uid.
    pub uid: String,
    /// Single faults.
    pub causes: Vec<Cause>,
    /// When to come back.
    pub retry_after_seconds: u32,
}

/// A single fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable reason.
    pub reason: String,
    /// The text for people.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// A resource as error texts name it: `configmaps`, `roles.rbac.authorization.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupResource<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural.
    pub resource: &'a str,
}

impl std::fmt::Display for GroupResource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.resource)?;
        if self.group.is_empty() {
            return Ok(());
        }
        write!(f, ".{}", self.group)
    }
}

impl Failure {
    /// 405: nothing of the kind can be done there.
    pub(crate) fn not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
            .about(Details::default())
    }

    /// The server's scheme has no name of its own in Kubernetes' errors, wherever the code says it is made.
    pub(crate) fn without_scheme(mut self) -> Self {
        for named in [
            "pkg/api/legacyscheme/scheme.go:30",
            "pkg/apis/meta/internalversion/scheme/register.go:27",
            "pkg/apiserver/apiserver.go:55",
        ] {
            self.message = self.message.replace(named, "pkg/runtime/scheme.go:111");
        }
        self
    }

    /// A failure without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None, continue_token: String::new() }
    }

    /// The same with details.
    pub fn about(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    fn on(code: u16, reason: &'static str, on: GroupResource<'_>, name: &str, message: String) -> Self {
        let details = Details {
            name: name.to_owned(),
            group: on.group.to_owned(),
            kind: on.resource.to_owned(),
            ..Details::default()
        };
        Self::new(code, reason, message).about(details)
    }

    /// 400: the request itself is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401: nobody knows who asks.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403: refused for the given reason.
    pub fn forbidden(on: GroupResource<'_>, name: &str, why: impl std::fmt::Display) -> Self {
        let message = match (on.resource.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{on} is forbidden: {why}"),
            (false, false) => format!("{on} {} is forbidden: {why}", Quoted(name)),
        };
        Self::on(403, "Forbidden", on, name, message)
    }

    /// 404: there is no such object.
    pub fn not_found(on: GroupResource<'_>, name: &str) -> Self {
        Self::on(404, "NotFound", on, name, format!("{on} {} not found", Quoted(name)))
    }

    /// 404: there is no such resource.
    pub fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource").about(Details::default())
    }

    /// 405: the resource does not know the verb.
    pub fn method_not_supported(on: GroupResource<'_>, action: &str) -> Self {
        let message = format!("{action} is not supported on resources of kind \"{on}\"");
        Self::on(405, "MethodNotAllowed", on, "", message)
    }

    /// 409: the name is taken.
    pub fn already_exists(on: GroupResource<'_>, name: &str) -> Self {
        Self::on(409, "AlreadyExists", on, name, format!("{on} {} already exists", Quoted(name)))
    }

    /// 409: the object is not as the request expects it.
    pub fn conflict(on: GroupResource<'_>, name: &str, why: impl std::fmt::Display) -> Self {
        Self::on(409, "Conflict", on, name, format!("Operation cannot be fulfilled on {on} {}: {why}", Quoted(name)))
    }

    /// 409: somebody else wrote the object meanwhile.
    pub fn modified(on: GroupResource<'_>, name: &str) -> Self {
        Self::conflict(
            on,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 405: nobody can do this with it.
    pub fn not_supported(on: GroupResource<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {}", Quoted(&on.to_string()));
        Self::on(405, "MethodNotAllowed", on, "", message)
    }

    /// 410: the version asked for is no longer known.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 413: the body is too large.
    pub fn too_large(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    /// 415: the body is in no form that is understood here.
    pub fn unsupported_media(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 406: the answer cannot be given in any form that the client understands.
    pub fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::new(406, "NotAcceptable", message)
    }

    /// 422: the object has these faults.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let message = match errors {
            [] => format!("{qualified} {} is invalid", Quoted(name)),
            errors => format!("{qualified} {} is invalid: {}", Quoted(name), summary(errors)),
        };
        let details = Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes: errors.iter().map(Cause::from).collect(),
            ..Details::default()
        };
        Self::new(422, "Invalid", message).about(details)
    }

    /// 500: the server is at fault.
    pub fn internal(message: impl std::fmt::Display) -> Self {
        let cause = Cause { message: message.to_string(), ..Cause::default() };
        let details = Details { causes: vec![cause], ..Details::default() };
        Self::new(500, "InternalError", format!("Internal error occurred: {message}")).about(details)
    }

    /// The Status object.
    pub fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        let Some(fields) = status.as_object_mut() else { return status };
        if !self.continue_token.is_empty() {
            fields.insert("metadata".into(), json!({"continue": self.continue_token}));
        }
        if !self.reason.is_empty() {
            fields.insert("reason".into(), self.reason.into());
        }
        if let Some(details) = &self.details {
            fields.insert("details".into(), details.to_json());
        }
        status
    }
}

impl Details {
    /// As JSON, without empty members.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        for (member, text) in [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)] {
            if !text.is_empty() {
                out.insert(member.into(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            out.insert("causes".into(), self.causes.iter().map(Cause::to_json).collect());
        }
        if self.retry_after_seconds > 0 {
            out.insert("retryAfterSeconds".into(), self.retry_after_seconds.into());
        }
        Value::Object(out)
    }
}

impl Cause {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        for (member, text) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !text.is_empty() {
                out.insert(member.into(), text.as_str().into());
            }
        }
        Value::Object(out)
    }
}

impl From<&FieldError> for Cause {
    fn from(error: &FieldError) -> Self {
        let reason: ErrorKind = error.kind;
        Self { reason: reason.type_text().to_owned(), message: error.body(), field: error.field.clone() }
    }
}

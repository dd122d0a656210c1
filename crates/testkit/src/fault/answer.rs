//! Answers that the server did not give.

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::service::{BoxError, FaultBody};

pub(super) fn conflict() -> Response<FaultBody> {
    let message = "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest \
                   version and try again (injected)";
    refuse(StatusCode::CONFLICT, "Conflict", message)
}

pub(super) fn gone() -> Response<FaultBody> {
    let message = "The provided continue parameter is too old to display a consistent list result (injected)";
    refuse(StatusCode::GONE, "Expired", message)
}

pub(super) fn broken() -> Response<FaultBody> {
    refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Internal error occurred (injected)")
}

pub(super) fn busy(seconds: u32) -> Response<FaultBody> {
    let code = StatusCode::TOO_MANY_REQUESTS;
    let mut status = status(code, "TooManyRequests", "the server has received too many requests (injected)");
    if let Some(members) = status.as_object_mut() {
        members.insert("details".to_owned(), json!({"retryAfterSeconds": seconds}));
    }
    let mut response = response(code, &status);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The last event of a watch that lost its place.
pub(super) fn expired() -> Vec<u8> {
    let status = status(StatusCode::GONE, "Expired", "too old resource version (injected)");
    format!("{}\n", json!({"type": "ERROR", "object": status})).into_bytes()
}

fn refuse(code: StatusCode, reason: &str, message: &str) -> Response<FaultBody> {
    response(code, &status(code, reason, message))
}

fn status(code: StatusCode, reason: &str, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    })
}

fn response(code: StatusCode, status: &Value) -> Response<FaultBody> {
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never| -> BoxError { match never {} });
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

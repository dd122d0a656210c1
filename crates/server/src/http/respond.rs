//! Answers as bytes.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use serde_json::Value;

use crate::status::Failure;

/// An HTTP answer.
pub(crate) type Answer = Response<Body>;

/// JSON bytes with a status.
pub(crate) fn json(code: StatusCode, body: impl Into<Bytes>) -> Answer {
    // Go's encoder ends every document with a line feed, and some clients read lines.
    let mut body = Vec::from(body.into());
    body.push(b'\n');
    typed(code, "application/json", body)
}

/// Plain text.
pub(crate) fn text(code: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = typed(code, "text/plain; charset=utf-8", body);
    answer.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// Bytes of a content type.
pub(crate) fn typed(code: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Body::from(body.into()));
    *answer.status_mut() = code;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// A JSON value with a status.
pub(crate) fn value(code: StatusCode, value: &Value) -> Answer {
    json(code, value.to_string())
}

/// The Status in an answer, for who writes down what came of a request.
#[derive(Clone)]
pub(crate) struct Told(pub(crate) Box<Value>);

/// A Status.
pub(crate) fn status(code: StatusCode, status: Value) -> Answer {
    let mut answer = value(code, &status);
    answer.extensions_mut().insert(Told(Box::new(status)));
    answer
}

/// A Status of a failure.
pub(crate) fn failure(failure: &Failure) -> Answer {
    let code = StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // Kubernetes writes no Status down where the client and it have no words in common.
    let tell = if code == StatusCode::NOT_ACCEPTABLE { |code, told| value(code, &told) } else { status };
    let mut answer = tell(code, failure.to_json());
    let retry = failure.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if retry > 0 {
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry));
    }
    answer
}

/// Adds warnings for the client; kubectl prints them.
pub(crate) fn warn(answer: &mut Answer, warnings: &[String]) {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        let clean: String = quoted.chars().filter(|c| !c.is_control()).collect();
        if let Ok(header) = HeaderValue::from_str(&format!("299 - \"{clean}\"")) {
            answer.headers_mut().append(header::WARNING, header);
        }
    }
}

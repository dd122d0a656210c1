//! The old description of everything in one document, which is answered but describes nothing.
//!
//! kubectl asks for it when it creates kinds that cannot be patched, such as a `SubjectAccessReview`: to check the object on its
//! own. It skips that for kinds that it does not find, and the server checks the object anyway.

use axum::http::header::{HeaderValue, VARY};
use axum::http::{StatusCode, header};
use serde_json::json;

use super::document::version;
use crate::http::negotiate::choices;
use crate::http::respond::{self, Answer};

const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The same as older clients write it, and client-go still does.
const PROTOBUF_OLD: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

/// Answers for `/openapi/v2`.
pub(crate) fn answer(accept: &str) -> Answer {
    let accept = if accept.trim().is_empty() { "*/*" } else { accept };
    let known = choices(accept).into_iter().find_map(|choice| match choice.media {
        "application/json" | "application/*" | "*/*" => Some(false),
        PROTOBUF | PROTOBUF_OLD => Some(true),
        _ => None,
    });
    let mut answer = match known {
        Some(false) => {
            let info = json!({"title": TITLE, "version": version()});
            respond::value(StatusCode::OK, &json!({"swagger": SWAGGER, "info": info, "paths": {}}))
        }
        Some(true) => respond::typed(StatusCode::OK, PROTOBUF, protobuf()),
        None => super::empty(StatusCode::NOT_ACCEPTABLE),
    };
    answer.headers_mut().insert(VARY, HeaderValue::from_name(header::ACCEPT));
    answer
}

const TITLE: &str = "Kubernetes";
const SWAGGER: &str = "2.0";

/// `{1: swagger, 2: {1: title, 2: version}}`
fn protobuf() -> Vec<u8> {
    let info = [text(1, TITLE.as_bytes()), text(2, version().as_bytes())].concat();
    [text(1, SWAGGER.as_bytes()), text(2, &info)].concat()
}

/// A field with bytes, of which there are fewer than 128 here.
fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or_default();
    [&[field << 3 | 2, length], bytes].concat()
}

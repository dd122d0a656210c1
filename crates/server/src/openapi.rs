//! The API described in OpenAPI: an index, and a document per group and version with paths and schemas.
//!
//! Everything follows from the facts, except prose, of which there is none, and from definitions, with theirs. Documents are
//! built when they are first asked for; the index needs only their hashes.

mod custom;
mod document;
mod draft;
mod legacy;
mod operation;
mod parameter;
mod paths;
mod schema;

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, ETAG, EXPIRES, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION, VARY,
};
use axum::http::{StatusCode, header};
use jiff::ToSpan;
use jiff::tz::TimeZone;

use crate::Server;
use crate::http::negotiate::choices;
use crate::http::request::parameters;
use crate::http::respond::{self, Answer};

pub(crate) use self::document::Documents;
pub(crate) use self::legacy::answer as legacy;

/// Answers for `/openapi/v3` and for the documents below it.
pub(crate) fn answer(server: &Server, headers: &HeaderMap, below: &[&str], query: &str) -> Answer {
    let documents = server.openapi();
    if below.is_empty() {
        // Kubernetes does not say that it is JSON.
        return respond::typed(StatusCode::OK, "text/plain; charset=utf-8", documents.index(server.catalog()));
    }
    let name = below.join("/");
    let Some(document) = documents.find(&name, server.catalog()) else { return empty(StatusCode::NOT_FOUND) };
    let mut answer = if accepts_json(text(headers, &header::ACCEPT)) {
        let hash = document.hash(server.catalog());
        let asked = parameters(query).find(|(key, _)| key == "hash").map(|(_, value)| value).unwrap_or_default();
        let mut answer = if !asked.is_empty() && asked != *hash {
            let mut elsewhere = empty(StatusCode::MOVED_PERMANENTLY);
            set(&mut elsewhere, LOCATION, &document.url(server.catalog()));
            elsewhere
        } else if matches(text(headers, &IF_NONE_MATCH), hash) {
            empty(StatusCode::NOT_MODIFIED)
        } else {
            respond::typed(StatusCode::OK, "application/json", document.bytes(server.catalog()))
        };
        if asked == *hash {
            set(&mut answer, CACHE_CONTROL, "public, immutable");
            set(&mut answer, EXPIRES, &next_year());
        }
        set(&mut answer, ETAG, &format!("{hash:?}"));
        answer
    } else {
        empty(StatusCode::NOT_ACCEPTABLE)
    };
    set(&mut answer, VARY, "Accept");
    answer
}

fn empty(code: StatusCode) -> Answer {
    let mut answer = Answer::new(Body::empty());
    *answer.status_mut() = code;
    answer
}

fn set(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Documents are in JSON alone; Kubernetes has them in protobuf too.
fn accepts_json(accept: &str) -> bool {
    accept.trim().is_empty()
        || choices(accept).iter().any(|choice| matches!(choice.media, "application/json" | "application/*" | "*/*"))
}

/// Whether an `If-None-Match` header names this document.
fn matches(header: &str, hash: &str) -> bool {
    header
        .split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"') == hash)
}

fn next_year() -> String {
    let now = crate::time::now().to_zoned(TimeZone::UTC);
    now.checked_add(1.year()).unwrap_or(now).strftime("%a, %d %b %Y %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests;

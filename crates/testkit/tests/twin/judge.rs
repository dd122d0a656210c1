//! What two answers are compared by.

use rolewright_testkit::openapi;
use serde_json::Value;

use crate::compare::{Difference, Twins};
use crate::exchange::Exchange;
use crate::normalise::Names;
use crate::path::matches;
use crate::run::is_bookmark_by_the_clock;
use crate::served;
use crate::target::Answer;

/// The headers that a client may act on.
pub(crate) const HEADERS: [&str; 11] = [
    "allow",
    "cache-control",
    "content-type",
    "location",
    "retry-after",
    "vary",
    "warning",
    "www-authenticate",
    "x-content-type-options",
    "x-kubernetes-pf-flowschema-uid",
    "x-kubernetes-pf-prioritylevel-uid",
];

/// All differences of two answers to one request.
pub(crate) fn judge(
    exchange: &Exchange,
    (real, real_names): (&Answer, &mut Names),
    (ours, our_names): (&Answer, &mut Names),
    twins: &mut Twins,
) -> Vec<Difference> {
    let mut found = Vec::new();
    if real.status != ours.status {
        found.push(difference("status", &real.status, &ours.status));
    }
    for name in HEADERS {
        let values = |answer: &Answer| answer.headers.get(name).cloned().unwrap_or_default().join("; ");
        let (real, ours) = (values(real), values(ours));
        if !twins.texts(&real, &ours) {
            found.push(difference(&format!("header {name}"), &real, &ours));
        }
    }
    match (Body::read(exchange, real, real_names), Body::read(exchange, ours, our_names)) {
        (Body::Json(real), Body::Json(ours)) => found.extend(twins.compare(&real, &ours)),
        (Body::Text(real), Body::Text(ours)) if twins.texts(&real, &ours) => {}
        (real, ours) => found.push(difference("body", &real.show(), &ours.show())),
    }
    found.retain(|difference| !exchange.directives.ignored.iter().any(|pattern| matches(pattern, &difference.path)));
    found
}

fn difference(path: &str, real: &impl ToString, ours: &impl ToString) -> Difference {
    Difference { path: path.to_owned(), real: real.to_string(), ours: ours.to_string() }
}

enum Body {
    Json(Value),
    Text(String),
}

impl Body {
    fn read(exchange: &Exchange, answer: &Answer, names: &mut Names) -> Self {
        let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(&answer.body).into_iter().collect();
        let Some(mut documents) = documents.ok().filter(|documents| !documents.is_empty()) else {
            return Self::Text(names.normalise_text(&String::from_utf8_lossy(&answer.body)));
        };
        let is_stream = documents.iter().all(|event| event.get("type").is_some() && event.get("object").is_some());
        if is_stream {
            documents.retain(|event| !is_bookmark_by_the_clock(event));
        }
        for document in &mut documents {
            if exchange.directives.served_only {
                served::retain(document);
            }
            if document.get("openapi").is_some() {
                *document = openapi::bare(document.take());
            }
            names.normalise(document);
        }
        match documents.pop() {
            Some(only) if documents.is_empty() && !is_stream => Self::Json(only),
            last => {
                documents.extend(last);
                Self::Json(documents.into())
            }
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

//! An OpenTelemetry collector that keeps what it gets.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A collector.
pub(crate) struct Collector {
    pub(crate) url: String,
    spans: Arc<Mutex<Vec<Span>>>,
}

/// What matters of a span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) id: Vec<u8>,
    pub(crate) parent: Vec<u8>,
    pub(crate) failed: bool,
    attributes: Vec<(String, String)>,
}

impl Span {
    pub(crate) fn get(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }
}

impl Collector {
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let spans = Arc::new(Mutex::new(Vec::new()));
        let kept = spans.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = kept.clone();
                tokio::spawn(async move {
                    let service = service_fn(|request| keep(kept.clone(), request));
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Self { url, spans })
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

async fn keep(spans: Arc<Mutex<Vec<Span>>>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/v1/traces"));
    let body = request.into_body().collect().await.unwrap().to_bytes();
    // ExportTraceServiceRequest, ResourceSpans, ScopeSpans, Span.
    let found = all(&body, 1).flat_map(|resource| all(resource, 2)).flat_map(|scope| all(scope, 2)).map(span);
    spans.lock().unwrap().extend(found);
    Ok(Response::new(Full::default()))
}

fn span(bytes: &[u8]) -> Span {
    let text = |field: u64| all(bytes, field).map(|text| String::from_utf8_lossy(text).into_owned()).next();
    let attributes = all(bytes, 9).map(|pair| {
        let key = all(pair, 1).next().unwrap_or_default();
        let value = all(pair, 2).flat_map(|value| all(value, 1)).next().unwrap_or_default();
        (String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned())
    });
    Span {
        name: text(5).unwrap_or_default(),
        id: all(bytes, 2).next().unwrap_or_default().to_vec(),
        parent: all(bytes, 4).next().unwrap_or_default().to_vec(),
        // Status.code is 2 for errors.
        failed: all(bytes, 15).any(|status| status.ends_with(&[0x18, 2])),
        attributes: attributes.collect(),
    }
}

/// All fields of a protobuf message with this number that have bytes.
fn all(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    let mut rest = message;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let key = number(&mut rest);
            let length = match key & 7 {
                0 => {
                    number(&mut rest);
                    continue;
                }
                1 => 8,
                2 => usize::try_from(number(&mut rest)).unwrap(),
                _ => 4,
            };
            let (field, after) = rest.split_at(length);
            rest = after;
            if key >> 3 == wanted && key & 7 == 2 {
                return Some(field);
            }
        }
        None
    })
}

fn number(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

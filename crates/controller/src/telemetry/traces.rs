//! Spans to an OpenTelemetry collector, over plain HTTP: collectors that want TLS have one beside them that does not.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::{Settings, TelemetryError, stderr_logs};
use crate::connect::root_cause;

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// No answer of a collector is longer.
const ANSWER: usize = 64 * 1024;

/// Our own spans, and the requests that kube makes.
const SPANS: &str = "info,kube_client=debug,rolewright_controller=debug";

/// Spans on their way to a collector.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

/// There will be no traces.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The collector is somewhere else.
    #[error("`{0}` is no plain HTTP address of a collector; hint: `http://otel-collector.observability:4318`")]
    Address(String),
    /// There is something else in the way.
    #[error("no traces can be sent to `{collector}`")]
    Collector {
        /// What was given.
        collector: String,
        /// Why.
        source: ExporterBuildError,
    },
    /// There are no logs either.
    #[error(transparent)]
    Logs(#[from] TelemetryError),
}

/// Logs to standard error and sends spans to a collector from now on. Must be called on tokio's runtime.
pub fn start(settings: &Settings, collector: &str) -> Result<Traces, TracesError> {
    let traces = Traces::to(collector)?;
    let subscriber = tracing_subscriber::registry().with(stderr_logs(settings)?).with(traces.layer());
    subscriber.try_init().map_err(TelemetryError::Again)?;
    Ok(traces)
}

impl Traces {
    fn to(collector: &str) -> Result<Self, TracesError> {
        let address: Option<Uri> = collector.parse().ok();
        if !address.is_some_and(|address| address.scheme() == Some(&Scheme::HTTP) && address.host().is_some()) {
            return Err(TracesError::Address(collector.to_owned()));
        }
        let client = Post {
            runtime: Handle::current(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            complaint: Arc::default(),
        };
        let endpoint = format!("{}/v1/traces", collector.trim_end_matches('/'));
        let exporter = SpanExporter::builder().with_http().with_endpoint(endpoint).with_http_client(client).build();
        let exporter = exporter.map_err(|source| TracesError::Collector { collector: collector.to_owned(), source })?;
        let resource = Resource::builder().with_service_name("rolewright").build();
        Ok(Self(SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build()))
    }

    fn layer<S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync>(&self) -> impl Layer<S> + use<S> {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("rolewright")).with_filter(EnvFilter::new(SPANS))
    }

    /// Sends what is left. Errors are for who wants to tell them: nothing depends on traces.
    pub async fn end(self) -> Result<(), OTelSdkError> {
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown());
        ended.await.unwrap_or_else(|error| Err(OTelSdkError::InternalFailure(error.to_string())))
    }
}

/// Sends requests on tokio's runtime for an exporter that runs on a thread of its own.
#[derive(Debug)]
struct Post {
    runtime: Handle,
    client: Client<HttpConnector, Full<Bytes>>,
    /// What was last complained about: the same is not said twice in a row.
    complaint: Arc<Mutex<Option<String>>>,
}

impl Post {
    /// Nothing depends on traces, but who asked for them should know that they are lost.
    fn complain(complaint: &Mutex<Option<String>>, now: Option<String>) {
        let mut before = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = now.as_ref().filter(|_| now != *before) {
            tracing::warn!(why, "spans could not be sent, and are lost");
        }
        *before = now;
    }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for Post {
    fn send_bytes<'s, 'a>(&'s self, request: Request<Bytes>) -> Answering<'a>
    where
        's: 'a,
        Self: 'a,
    {
        let client = self.client.clone();
        let exchange = async move {
            let (head, body) = client.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, ANSWER).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        };
        // Timers need the runtime, so they are made on it.
        let complaint = self.complaint.clone();
        let sent = self.runtime.spawn(async move {
            let answer = timeout(PATIENCE, exchange).await.unwrap_or_else(|late| Err(late.into()));
            Self::complain(
                &complaint,
                match &answer {
                    Ok(answer) if answer.status().is_success() => None,
                    Ok(answer) => Some(format!("the collector answered {}", answer.status())),
                    Err(error) => Some(root_cause(&**error)),
                },
            );
            answer
        });
        Box::pin(async move { sent.await? })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn spans_reach_the_collector() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let traces = Traces::to(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let subscriber = tracing_subscriber::registry().with(traces.layer());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info_span!("reconcile", module = "aggregation").in_scope(|| ());
            tracing::trace_span!("too much").in_scope(|| ());
        });
        let collected = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut seen = Vec::new();
            // All of it comes in one piece or a few; the name of the module is near the end.
            while !seen.windows(11).any(|window| window == b"aggregation") {
                stream.read_buf(&mut seen).await.unwrap();
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            String::from_utf8_lossy(&seen).into_owned()
        });
        traces.end().await.unwrap();
        let seen = collected.await.unwrap();
        assert!(seen.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{seen}");
        assert!(seen.contains("reconcile") && seen.contains("rolewright") && !seen.contains("too much"), "{seen}");
    }

    #[tokio::test]
    async fn addresses_must_make_sense() {
        for address in ["not an address", "collector:4318", "https://collector:4318", "/v1/traces", "http://"] {
            let error = Traces::to(address).unwrap_err();
            let expected = format!("`{address}` is no plain HTTP address of a collector");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}

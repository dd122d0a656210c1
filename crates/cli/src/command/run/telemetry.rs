//! Logs and spans.

use anyhow::Result;
use clap::{Args, ValueEnum};
#[cfg(feature = "otel")]
use rolewright_controller::telemetry::traces::{self, Traces};
use rolewright_controller::telemetry::{self, Format, Settings};

/// What is said of the work while it is done.
#[derive(Debug, Args)]
pub(super) struct TelemetryArgs {
    /// What is logged: a level, or a filter such as `warn,rolewright_controller=debug`
    #[arg(long, env = "RUST_LOG", default_value = "info", value_name = "FILTER")]
    log_level: String,
    /// How logs look
    #[arg(long, value_enum, default_value_t = LogFormat::Human)]
    log_format: LogFormat,
    /// The OpenTelemetry collector that gets spans, over HTTP, such as http://localhost:4318
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// For people
    Human,
    /// One object per line
    Json,
}

/// Logs and spans that have begun.
#[derive(Debug, Default)]
pub(super) struct Telemetry {
    #[cfg(feature = "otel")]
    traces: Option<Traces>,
}

impl TelemetryArgs {
    /// Begins; on tokio's runtime.
    pub(super) fn start(&self) -> Result<Telemetry> {
        let format = match self.log_format {
            LogFormat::Human => Format::Human,
            LogFormat::Json => Format::Json,
        };
        let settings = Settings { format, filter: self.log_level.clone() };
        // An empty variable is none, as everywhere in OpenTelemetry.
        if let Some(collector) = self.otlp_endpoint.as_deref().filter(|collector| !collector.is_empty()) {
            return with_spans(&settings, collector);
        }
        telemetry::start(&settings)?;
        Ok(Telemetry::default())
    }
}

#[cfg(feature = "otel")]
fn with_spans(settings: &Settings, collector: &str) -> Result<Telemetry> {
    Ok(Telemetry { traces: Some(traces::start(settings, collector)?) })
}

#[cfg(not(feature = "otel"))]
fn with_spans(_: &Settings, collector: &str) -> Result<Telemetry> {
    anyhow::bail!(
        "this program was built without OpenTelemetry, so that `{collector}` gets no spans; hint: build it with \
         `--features otel`, or give neither --otlp-endpoint nor OTEL_EXPORTER_OTLP_ENDPOINT"
    )
}

impl Telemetry {
    /// Sends what is left.
    #[cfg(feature = "otel")]
    pub(super) async fn end(self) {
        if let Some(traces) = self.traces {
            // A collector that does not answer was complained about.
            let _ = traces.end().await;
        }
    }

    /// There is nothing to send.
    #[cfg(not(feature = "otel"))]
    pub(super) async fn end(self) {}
}

//! Logs: for people, or as JSON for machines. With the feature `otel`, spans for an OpenTelemetry collector as well.

#[cfg(feature = "otel")]
pub mod traces;

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

/// How logs look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One object per line.
    Json,
}

/// What is logged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How it looks.
    pub format: Format,
    /// Levels as `RUST_LOG` spells them: `info`, or `warn,rolewright_controller=debug`. Nothing means `info`.
    pub filter: String,
}

/// Logs cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter makes no sense.
    #[error("`{filter}` is no filter for logs; hint: `info`, `debug`, or `warn,rolewright_controller=debug`")]
    Filter {
        /// What was given.
        filter: String,
        /// Why.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Somebody else logs.
    #[error("logs were set up before")]
    Again(#[from] tracing_subscriber::util::TryInitError),
}

/// Logs to standard error from now on.
pub fn start(settings: &Settings) -> Result<(), TelemetryError> {
    Ok(tracing_subscriber::registry().with(stderr_logs(settings)?).try_init()?)
}

type Logs = Box<dyn Layer<Registry> + Send + Sync>;

fn stderr_logs(settings: &Settings) -> Result<Logs, TelemetryError> {
    logs(settings, io::stderr, io::stderr().is_terminal())
}

fn logs<W>(settings: &Settings, writer: W, colour: bool) -> Result<Logs, TelemetryError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).parse(&settings.filter);
    let filter = filter.map_err(|source| TelemetryError::Filter { filter: settings.filter.clone(), source })?;
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    Ok(match settings.format {
        Format::Human => layer.with_ansi(colour).with_filter(filter).boxed(),
        Format::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: Format, filter: &str) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let settings = Settings { format, filter: filter.to_owned() };
        let subscriber = tracing_subscriber::registry().with(logs(&settings, move || writer.clone(), false).unwrap());
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!("not so loud");
            tracing::info!(kind = "ClusterRole", "written");
        });
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn logs_are_for_people_or_machines() {
        let human = logged(Format::Human, "");
        assert!(human.ends_with("written kind=\"ClusterRole\"\n") && human.lines().count() == 1, "{human}");
        let json: serde_json::Value = serde_json::from_str(&logged(Format::Json, "")).unwrap();
        assert_eq!((&json["message"], &json["kind"]), (&"written".into(), &"ClusterRole".into()));
        assert_eq!(json["level"], "INFO");
    }

    #[test]
    fn filters_are_levels_or_more() {
        assert_eq!(logged(Format::Human, "debug").lines().count(), 2);
        assert_eq!(logged(Format::Human, "warn").lines().count(), 0);
        assert_eq!(logged(Format::Human, "warn,rolewright_controller=debug").lines().count(), 2);
        let settings = Settings { filter: "loud=very".to_owned(), ..Settings::default() };
        let error = logs(&settings, io::stderr, false).err().unwrap();
        assert!(error.to_string().starts_with("`loud=very` is no filter"), "{error}");
    }
}

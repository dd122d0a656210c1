//! `/livez`, `/healthz`, `/readyz` and `/metrics`, on a port of their own.
//!
//! Checks are levels: they are asked when somebody wants to know. `?verbose` shows all of them, as Kubernetes' servers do.

mod check;
mod listen;

use std::fmt::{self, Write};
use std::sync::Arc;

use http::{Method, StatusCode};

use crate::metrics::Metrics;
pub use check::{Flag, Heartbeat};
pub use listen::{HealthError, Listening};

type Check = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// What can be asked of the process.
pub struct Health {
    metrics: Arc<Metrics>,
    live: Vec<(&'static str, Check)>,
    ready: Vec<(&'static str, Check)>,
}

impl Health {
    /// A process that is alive and ready, with these metrics.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, live: Vec::new(), ready: Vec::new() }
    }

    /// The process is to be started anew while this check fails.
    pub fn live(mut self, name: &'static str, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.live.push((name, Box::new(check)));
        self
    }

    /// The process is not ready while this check fails.
    pub fn ready(mut self, name: &'static str, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.ready.push((name, Box::new(check)));
        self
    }

    fn answer(&self, method: &Method, path: &str, query: Option<&str>) -> Answer {
        let checks: Vec<_> = match path {
            "/livez" | "/healthz" => self.live.iter().collect(),
            "/readyz" => self.live.iter().chain(&self.ready).collect(),
            "/metrics" => Vec::new(),
            _ => return Answer::text(StatusCode::NOT_FOUND, "404 page not found\n"),
        };
        if method != Method::GET && method != Method::HEAD {
            return Answer::text(StatusCode::METHOD_NOT_ALLOWED, "only GET is allowed\n");
        }
        if path == "/metrics" {
            return Answer { status: StatusCode::OK, content_type: OPEN_METRICS, body: self.metrics.encode() };
        }
        let verbose = query.is_some_and(|query| query.split('&').any(|part| part.starts_with("verbose")));
        judge(path.trim_start_matches('/'), &checks, verbose)
    }
}

/// Asks all checks.
fn judge(what: &str, checks: &[&(&'static str, Check)], verbose: bool) -> Answer {
    let mut list = String::new();
    let mut passed = true;
    for (name, check) in checks {
        let written = match check() {
            Ok(()) => writeln!(list, "[+]{name} ok"),
            Err(why) => {
                passed = false;
                writeln!(list, "[-]{name} failed: {why}")
            }
        };
        // Writing to a string does not fail.
        let _ = written;
    }
    match (passed, verbose) {
        (true, false) => Answer::text(StatusCode::OK, "ok"),
        (true, true) => Answer::text(StatusCode::OK, format!("{list}{what} check passed\n")),
        (false, _) => Answer::text(StatusCode::SERVICE_UNAVAILABLE, format!("{list}{what} check failed\n")),
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |checks: &[(&'static str, Check)]| checks.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        f.debug_struct("Health")
            .field("live", &names(&self.live))
            .field("ready", &names(&self.ready))
            .finish_non_exhaustive()
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    content_type: &'static str,
    body: String,
}

impl Answer {
    fn text(status: StatusCode, body: impl Into<String>) -> Self {
        Self { status, content_type: PLAIN, body: body.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_asked_each_time() {
        let synced = Flag::new("the watches have not listed yet");
        let flag = synced.clone();
        let health = Health::new(Arc::default()).live("loop", || Ok(())).ready("watches", move || flag.check());
        let ask = |path: &str, query: Option<&str>| {
            let answer = health.answer(&Method::GET, path, query);
            (answer.status.as_u16(), answer.body)
        };
        assert_eq!(ask("/livez", None), (200, "ok".to_owned()));
        assert_eq!(ask("/healthz", Some("verbose")), (200, "[+]loop ok\nhealthz check passed\n".to_owned()));
        let not_ready = "[+]loop ok\n[-]watches failed: the watches have not listed yet\nreadyz check failed\n";
        assert_eq!(ask("/readyz", None), (503, not_ready.to_owned()));
        synced.pass();
        assert_eq!(ask("/readyz", None), (200, "ok".to_owned()));
        let ready = "[+]loop ok\n[+]watches ok\nreadyz check passed\n";
        assert_eq!(ask("/readyz", Some("timeout=1s&verbose=1")), (200, ready.to_owned()));
        synced.fail("lost the server");
        assert_eq!(ask("/readyz", None).0, 503);
        assert_eq!(ask("/livez", None).0, 200);
    }

    #[test]
    fn only_what_is_there_can_be_read() {
        let health = Health::new(Arc::default());
        let status = |method: &Method, path: &str| health.answer(method, path, None).status.as_u16();
        assert_eq!(status(&Method::GET, "/metrics"), 200);
        assert_eq!(status(&Method::HEAD, "/livez"), 200);
        assert_eq!(status(&Method::POST, "/livez"), 405);
        for path in ["/", "", "/livez/", "/readyz/watches", "/debug", "*"] {
            assert_eq!(status(&Method::GET, path), 404, "{path}");
        }
    }
}

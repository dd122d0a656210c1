//! URLs that are no resource: health, version, discovery, documents.

use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde_json::json;

use super::discovery;
use super::request::RequestInfo;
use super::respond::{self, Answer};
use crate::authn::{jwks, openid_configuration};
use crate::status::Failure;
use crate::{Server, facts, openapi};

pub(super) fn answer(server: &Server, head: &Parts, info: &RequestInfo, query: &str) -> Result<Answer, Failure> {
    let headers = &head.headers;
    let path = info.path.trim_end_matches('/');
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        ["api" | "apis"] | ["api", _] | ["apis", ..] => discovery::answer(server, headers, accept, &parts),
        ["version"] => Ok(respond::json(StatusCode::OK, version().to_string())),
        ["healthz" | "livez" | "readyz", ..] => Ok(health(path, query)),
        ["openapi", "v2"] => Ok(openapi::legacy(accept)),
        ["openapi", "v3", rest @ ..] => Ok(openapi::answer(server, headers, rest, query)),
        ["openid", "v1", "jwks"] => {
            let keys = jwks(server.authenticator().issuer()).to_string();
            Ok(respond::typed(StatusCode::OK, "application/jwk-set+json", keys))
        }
        [".well-known", "openid-configuration"] => {
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
            Ok(respond::value(StatusCode::OK, &openid_configuration(server.authenticator().issuer(), host)))
        }
        [] | [""] => Ok(respond::value(StatusCode::OK, &json!({"paths": paths(server)}))),
        _ => Ok(respond::text(StatusCode::NOT_FOUND, "404 page not found\n")),
    }
}

/// What `kubectl version` shows.
fn version() -> serde_json::Value {
    let numbers = facts::VERSION.trim_start_matches('v');
    let mut parts = numbers.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    json!({
        "major": major, "minor": minor, "emulationMajor": major, "emulationMinor": minor,
        "minCompatibilityMajor": major, "minCompatibilityMinor": previous(minor),
        "gitVersion": format!("{}+rolewright", facts::VERSION), "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none", "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// Clusters are upgraded one minor version at a time.
fn previous(minor: &str) -> String {
    minor.parse::<u32>().map_or_else(|_| minor.to_owned(), |minor| minor.saturating_sub(1).to_string())
}

fn health(path: &str, query: &str) -> Answer {
    let verbose = super::request::parameters(query).any(|(key, _)| key == "verbose");
    let name = path.trim_start_matches('/');
    if verbose && !name.contains('/') {
        return respond::text(StatusCode::OK, format!("[+]ping ok\n[+]log ok\n[+]store ok\n{name} check passed\n"));
    }
    match name.split_once('/') {
        None => respond::text(StatusCode::OK, "ok"),
        Some((_, "ping" | "log" | "store")) => respond::typed(StatusCode::OK, "text/plain; charset=utf-8", "ok"),
        Some(_) => respond::text(StatusCode::NOT_FOUND, "404 page not found\n"),
    }
}

fn paths(server: &Server) -> Vec<String> {
    let mut paths = vec!["/api".to_owned(), "/api/v1".to_owned(), "/apis".to_owned()];
    for (group, versions) in server.catalog().custom_groups() {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    for served in server.catalog().built_ins().iter().filter(|served| !served.group.is_empty()) {
        paths.push(format!("/apis/{}", served.group));
        paths.push(format!("/apis/{}/{}", served.group, served.version));
    }
    paths.extend(["/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"].map(str::to_owned));
    paths.dedup();
    paths.sort();
    paths.dedup();
    paths
}

//! Where a webhook is: of a definition's conversion, or of anything else that calls one.

use rolewright_cel::url::Url;
use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::{Map, Value};

use super::faults::Faults;
use super::read;

const FORM: &str = "; desired format: https://host[/path]";

/// What is wrong with the address of a webhook.
pub fn url_faults(text: &str, at: Path<'_>) -> Vec<FieldError> {
    let mut faults = Faults::new();
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(fault) => return vec![FieldError::required(at, format!("url must be a valid URL: {fault}{FORM}"))],
    };
    if url.scheme != "https" {
        faults.invalid(at, url.scheme.as_str(), format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if url.host.is_empty() {
        faults.invalid(at, "", format!("host must be specified{FORM}"));
    }
    if let Some(user) = &url.user {
        faults.invalid(at, user.as_str(), "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        faults.invalid(at, url.fragment.as_str(), "fragments are not permitted in the URL");
    }
    if !url.query.is_empty() {
        faults.invalid(at, url.query.as_str(), "query parameters are not permitted in the URL");
    }
    faults.into_vec()
}

/// What is wrong with the service of a webhook.
pub fn service_faults(service: &Map<String, Value>, at: Path<'_>) -> Vec<FieldError> {
    let mut faults = Faults::new();
    check_service(&mut faults, service, at);
    faults.into_vec()
}

fn check_service(faults: &mut Faults, service: &Map<String, Value>, at: Path<'_>) {
    // Kubernetes looks for the namespace where it reports the name, and the other way round.
    for (key, reported) in [("namespace", "name"), ("name", "namespace")] {
        if read::text(service, key).is_empty() {
            faults.required(at.child(reported), "");
        }
    }
    let port = service.get("port").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=65535).contains(&port) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        faults.invalid(at.child("port"), BadValue::number(port), why);
    }
    let Some(path) = service.get("path").and_then(Value::as_str) else { return };
    let at = at.child("path");
    match path {
        "" | "/" => return,
        "//" => return faults.invalid(at, path, "segment[0] may not be empty"),
        path if !path.starts_with('/') => faults.invalid(at, path, "must start with a '/'"),
        _ => {}
    }
    // Go cuts off the first byte, whatever it is.
    let steps = path.get(1..).unwrap_or_default();
    for (i, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if faults.is_full() {
            return;
        }
        if step.is_empty() {
            faults.invalid(at, path, format!("segment[{i}] may not be empty"));
            continue;
        }
        for why in names::dns_subdomain(step) {
            faults.invalid(at, path, format!("segment[{i}]: {why}"));
        }
    }
}

//! What is wrong with the probes of a container, and with what is done when it starts and stops.

use rolewright_core::validate::{FieldError, Path};

use super::super::check::{Errors, json, not_negative, port, port_number, required, supported, within};
use super::super::read::{child, integer, items, list, text};
use crate::strategy::Object;

/// What is only for containers that go on running; `grace` is how long the pod may take to end.
pub(super) fn check_running(errors: &mut Errors, container: &Object, grace: Option<i64>, at: Path<'_>) {
    within(container, "lifecycle", at, |lifecycle, at| {
        for key in ["postStart", "preStop"] {
            within(lifecycle, key, at, |handler, at| check_handler(errors, handler, grace, at));
        }
    });
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        within(container, key, at, |probe, at| check_probe(errors, probe, key == "readinessProbe", grace, at));
    }
}

fn check_probe(errors: &mut Errors, probe: &Object, readiness: bool, grace: Option<i64>, at: Path<'_>) {
    check_handler(errors, probe, grace, at);
    for key in ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] {
        not_negative(errors, probe, key, at);
    }
    let grace_at = at.child("terminationGracePeriodSeconds");
    let grace = integer(probe, "terminationGracePeriodSeconds");
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        errors.push(FieldError::invalid(grace_at, json(seconds), "must be greater than 0"));
    }
    if readiness {
        if let Some(seconds) = grace {
            errors.push(FieldError::invalid(grace_at, json(seconds), "must not be set for readinessProbes"));
        }
    } else if let Some(successes) = integer(probe, "successThreshold").filter(|successes| *successes != 1) {
        errors.push(FieldError::invalid(at.child("successThreshold"), json(successes), "must be 1"));
    }
}

fn check_handler(errors: &mut Errors, handler: &Object, grace: Option<i64>, at: Path<'_>) {
    let mut known = false;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = child(handler, kind) else { continue };
        let at = at.child(kind);
        if std::mem::replace(&mut known, true) {
            errors.push(FieldError::forbidden(at, "may not specify more than 1 handler type"));
            continue;
        }
        match kind {
            "exec" if list(action, "command").is_empty() => {
                errors.push(FieldError::required(at.child("command"), ""));
            }
            "httpGet" => {
                required(errors, action, "path", at);
                port(errors, action.get("port"), at.child("port"));
                supported(errors, text(action, "scheme"), at.child("scheme"), &["HTTP", "HTTPS"]);
                check_headers(errors, action, at.child("httpHeaders"));
            }
            "tcpSocket" => port(errors, action.get("port"), at.child("port")),
            "grpc" => port_number(errors, integer(action, "port").unwrap_or_default(), at.child("port")),
            "sleep" => {
                let seconds = integer(action, "seconds").unwrap_or_default();
                if let Some(grace) = grace.filter(|grace| !(0..=*grace).contains(&seconds)) {
                    let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    errors.push(FieldError::invalid(at, json(seconds), why));
                }
            }
            _ => {}
        }
    }
    if !known {
        errors.push(FieldError::required(at, "must specify a handler type"));
    }
}

fn check_headers(errors: &mut Errors, action: &Object, at: Path<'_>) {
    const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', \
        regex used for validation is '[-A-Za-z0-9]+')";
    for header in items(action, "httpHeaders") {
        let name = text(header, "name");
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            errors.push(FieldError::invalid(at, name, HEADER));
        }
    }
}

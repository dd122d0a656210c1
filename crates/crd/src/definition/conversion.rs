//! How objects come from one version to another: not at all, or through a webhook.

use std::collections::HashSet;

use rolewright_core::validate::{BadValue, Path};
use serde_json::Value;

use super::faults::Faults;
use super::names::label;
use super::read::{self, Object};
use super::{bundle, shown, webhook};

const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// Whether versions of reviews name one that Kubernetes speaks, or none at all.
pub(super) fn reviews_known(conversion: Option<&Object>) -> bool {
    let versions = conversion.and_then(|conversion| read::child(conversion, "webhook"));
    versions.is_none_or(|webhook| {
        let mut versions = read::texts(webhook, "conversionReviewVersions").peekable();
        versions.peek().is_none() || versions.any(|version| REVIEWS.contains(&version))
    })
}

/// The certificates of the webhook, in base64.
pub(super) fn certificates(conversion: Option<&Object>) -> &str {
    let webhook = conversion.and_then(|conversion| read::child(conversion, "webhook"));
    webhook.and_then(|webhook| read::child(webhook, "clientConfig")).map_or("", |client| read::text(client, "caBundle"))
}

/// What may be wrong in a definition because it was wrong before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub(super) unknown_reviews: bool,
    pub(super) bad_certificates: bool,
}

pub(super) fn check(faults: &mut Faults, conversion: Option<&Object>, allowed: Allowed, at: Path<'_>) {
    let Some(conversion) = conversion else { return };
    let strategy = read::text(conversion, "strategy");
    match strategy {
        "" => faults.required(at.child("strategy"), ""),
        "None" | "Webhook" => {}
        other => faults.not_supported(at.child("strategy"), other, &["None", "Webhook"]),
    }
    let webhook = read::child(conversion, "webhook");
    let client = webhook.and_then(|webhook| read::child(webhook, "clientConfig"));
    let reviews = webhook.map(|webhook| read::list(webhook, "conversionReviewVersions")).unwrap_or_default();
    let (client_at, reviews_at) = (at.child("webhookClientConfig"), at.child("conversionReviewVersions"));
    if strategy != "Webhook" {
        let why = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            faults.forbidden(client_at, why);
        }
        if !reviews.is_empty() {
            faults.forbidden(reviews_at, why);
        }
        return;
    }
    match client {
        None => faults.required(client_at, "required when strategy is set to Webhook"),
        Some(client) => check_client(faults, client, allowed, client_at),
    }
    check_reviews(faults, reviews, allowed, reviews_at);
}

fn check_client(faults: &mut Faults, client: &Object, allowed: Allowed, at: Path<'_>) {
    match (client.get("url").and_then(Value::as_str), read::child(client, "service")) {
        (Some(url), None) => faults.extend(webhook::url_faults(url, at.child("url"))),
        (None, Some(service)) => faults.extend(webhook::service_faults(service, at.child("service"))),
        _ => faults.required(at, "exactly one of url or service is required"),
    }
    let certificates = read::text(client, "caBundle");
    if !certificates.is_empty()
        && !allowed.bad_certificates
        && let Some(why) = bundle::fault(certificates)
    {
        faults.invalid(at.child("caBundle"), BadValue::typed_text(certificates), why);
    }
}

fn check_reviews(faults: &mut Faults, versions: &[Value], allowed: Allowed, at: Path<'_>) {
    if versions.is_empty() {
        return faults.required(at, "");
    }
    let mut seen = HashSet::new();
    for (i, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or_default();
        if faults.is_full() {
            return;
        }
        if seen.insert(version) {
            for why in label(version) {
                faults.invalid(at.index(i), version, why);
            }
        } else {
            faults.invalid(at.index(i), version, "duplicate version");
        }
    }
    if !allowed.unknown_reviews && !REVIEWS.iter().any(|known| seen.contains(known)) {
        let why = format!("must include at least one of {}", REVIEWS.join(", "));
        faults.invalid(at, shown::texts(versions), why);
    }
}

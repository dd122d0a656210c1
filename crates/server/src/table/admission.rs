//! Webhooks and policies of admission.

use serde_json::Value;

use super::shown::Shown;
use super::{labels, row};

pub(super) fn webhooks(shown: Shown<'_>) -> Vec<Value> {
    row![shown.name(), shown.get("webhooks").count(), shown.age()]
}

pub(super) fn validating_policy(shown: Shown<'_>) -> Vec<Value> {
    policy(shown, "validations")
}

pub(super) fn mutating_policy(shown: Shown<'_>) -> Vec<Value> {
    policy(shown, "mutations")
}

fn policy(shown: Shown<'_>, counted: &str) -> Vec<Value> {
    let kind = match shown.spec("paramKind").set() {
        Some(kind) => format!("{}/{}", kind.get("apiVersion").text(), kind.get("kind").text()),
        None => "<unset>".to_owned(),
    };
    row![shown.name(), shown.spec(counted).count(), kind, shown.age()]
}

pub(super) fn policy_binding(shown: Shown<'_>) -> Vec<Value> {
    let reference = shown.spec("paramRef");
    let parameters = match (reference.get("name").text(), reference.get("selector").set()) {
        ("", Some(selector)) => labels::debug(selector),
        ("", None) => "<unset>".to_owned(),
        (name, _) => format!("{}/{name}", reference.get("namespace").text_or("*")),
    };
    row![shown.name(), shown.spec("policyName").text(), parameters, shown.age()]
}

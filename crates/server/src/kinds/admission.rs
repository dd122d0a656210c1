//! Admission webhooks and policies.

pub(super) mod bindings;
mod matching;
pub(super) mod policies;
mod rules;
pub(super) mod webhooks;

use super::read::fill;
use crate::strategy::Object;

/// By the name of the type.
pub(super) fn defaults(name: &str, object: &mut Object) {
    match name.strip_prefix("api.admissionregistration.v1.").unwrap_or_default() {
        "ValidatingWebhook" => default_webhook(object),
        "MutatingWebhook" => {
            default_webhook(object);
            fill(object, "reinvocationPolicy", "Never");
        }
        "Rule" => fill(object, "scope", "*"),
        "ServiceReference" => fill(object, "port", 443),
        "ValidatingAdmissionPolicySpec" | "MutatingAdmissionPolicySpec" => fill(object, "failurePolicy", "Fail"),
        "MatchResources" => default_matching(object),
        _ => {}
    }
}

fn default_matching(object: &mut Object) {
    fill(object, "matchPolicy", "Equivalent");
    fill(object, "namespaceSelector", Object::new());
    fill(object, "objectSelector", Object::new());
}

fn default_webhook(webhook: &mut Object) {
    default_matching(webhook);
    fill(webhook, "failurePolicy", "Fail");
    fill(webhook, "timeoutSeconds", 10);
}

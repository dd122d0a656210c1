//! The policy that keeps reconcilers from giving themselves more: what a sync says is not for reconcilers to change.

use serde_json::{Value, json};

use super::kinds::{REPO_SYNC, ROOT_SYNC};
use super::settings::Settings;
use crate::vocabulary::annotation;

const NAME: &str = "rolewright-sync-specs";

/// The account of the sync that is written, as [`super::words::account`] names it.
const OWN: &str = "request.resource.resource == 'rootsyncs' \
    ? (request.name == 'root-sync' ? 'root-reconciler' : 'root-reconciler-' + request.name) \
    : 'ns-reconciler-' + request.namespace \
    + (request.name == 'repo-sync' ? '' : '-' + request.name + '-' + string(size(request.name)))";

/// The policy and what puts it in force, as Kubernetes takes them.
///
/// A reconciler must be able to write its own sync, because finalizers are part of it. One that may do everything anyway is
/// kept from nothing but its own: it could remove the policy first, and syncs that manage syncs go on working.
pub fn manifests(settings: &Settings) -> Vec<Value> {
    let accounts = format!("system:serviceaccount:{}:", settings.namespace);
    let is_reconciler = ["root-reconciler", "ns-reconciler"]
        .map(|name| format!("request.userInfo.username.startsWith('{accounts}{name}')"))
        .join(" || ");
    let api = json!({
        "apiGroups": [ROOT_SYNC.group],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [ROOT_SYNC.plural, REPO_SYNC.plural],
    });
    let counts = format!(
        "(key.startsWith('rolewright.io/') || key in ['{}', '{}'])",
        annotation::CROSSPLANE_PAUSED,
        annotation::LAST_APPLIED
    );
    let same = |one: &str, other: &str| {
        format!(
            "variables.{one}.all(key, !{counts} || (key in variables.{other} && variables.{one}[key] == variables.{other}[key]))"
        )
    };
    let own = format!("request.userInfo.username == '{accounts}' + ({OWN})");
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": NAME, "labels": { "app.kubernetes.io/managed-by": "rolewright" } },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [api] },
            "matchConditions": [
                { "name": "by-a-reconciler", "expression": is_reconciler },
                {
                    "name": "that-may-not-do-everything-or-to-its-own",
                    "expression": format!("!authorizer.group('*').resource('*').check('*').allowed() || {own}"),
                },
            ],
            "variables": [
                { "name": "before", "expression": "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})" },
                { "name": "after", "expression": "object.metadata.?annotations.orValue({})" },
            ],
            "validations": [
                {
                    "expression": "request.operation == 'UPDATE'",
                    "message": "a reconciler may not create syncs: it would choose their roles",
                    "reason": "Forbidden",
                },
                {
                    "expression": "oldObject == null || (has(object.spec) == has(oldObject.spec) && (!has(object.spec) || object.spec == oldObject.spec))",
                    "message": "a reconciler may not change the spec of a sync: it would choose its own roles",
                    "reason": "Forbidden",
                },
                {
                    "expression": format!("{} && {}", same("after", "before"), same("before", "after")),
                    "message": "a reconciler may not change the annotations of a sync that its roles depend on",
                    "reason": "Forbidden",
                },
            ],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": NAME, "labels": { "app.kubernetes.io/managed-by": "rolewright" } },
        "spec": { "policyName": NAME, "validationActions": ["Deny"] },
    });
    vec![policy, binding]
}

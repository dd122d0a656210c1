//! Definitions of the kinds that the manager reads, for clusters on which nobody else brings them.

use serde_json::{Value, json};

/// The definitions of Config Sync's kinds. What a sync is otherwise made of passes through as it is.
pub fn config_sync() -> [Value; 2] {
    [sync("RootSync", "rootsync"), sync("RepoSync", "reposync")]
}

fn sync(kind: &str, singular: &str) -> Value {
    let plural = format!("{singular}s");
    let version = |name: &str, is_stored: bool| {
        json!({
            "name": name,
            "served": true,
            "storage": is_stored,
            "schema": { "openAPIV3Schema": schema() },
            "subresources": { "status": {} },
            "additionalPrinterColumns": [
                {
                    "name": "Permissions",
                    "type": "string",
                    "jsonPath": ".status.conditions[?(@.type==\"PermissionsReady\")].reason",
                },
                { "name": "Reconciler", "type": "string", "jsonPath": ".status.reconciler" },
                { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
            ],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.configsync.gke.io") },
        "spec": {
            "group": "configsync.gke.io",
            "scope": "Namespaced",
            "names": { "kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular },
            "versions": [version("v1beta1", true), version("v1alpha1", false)],
        },
    })
}

fn schema() -> Value {
    let role_ref = json!({
        "type": "object",
        "required": ["kind", "name"],
        "properties": {
            "kind": { "type": "string", "enum": ["Role", "ClusterRole"] },
            "name": { "type": "string", "minLength": 1, "maxLength": 253 },
            "namespace": { "type": "string", "maxLength": 63 },
        },
        "x-kubernetes-validations": [{
            "rule": "self.kind != 'Role' || (has(self.namespace) && self.namespace != '')",
            "message": "a Role needs the namespace that it is in",
            "fieldPath": ".namespace",
            "reason": "FieldValueRequired",
        }],
    });
    // These are declared to be refused: what is not declared is dropped or passes through, and nobody hears of it.
    let entry = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let anything = json!({ "type": "array", "items": entry });
    let settings = json!({
        "type": "object",
        "nullable": true,
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "roleRefs": {
                "description": "The roles of the reconciler. Without one a RootSync gets the default, which is cluster-admin.",
                "type": "array",
                "nullable": true,
                "maxItems": 1024,
                "items": role_ref,
            },
            "roleRef": anything,
            "rolerefs": anything,
        },
        "x-kubernetes-validations": [refused("roleRef", "roleRefs"), refused("rolerefs", "roleRefs")],
    });
    let conditions = json!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "required": ["type", "status"],
            "properties": { "type": { "type": "string" }, "status": { "type": "string" } },
        },
    });
    json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "properties": {
                    "override": settings,
                    "overrides": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                    "roleRefs": anything,
                },
                "x-kubernetes-validations": [refused("overrides", "override"), refused("roleRefs", "override.roleRefs")],
            },
            "status": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "properties": {
                    "observedGeneration": { "type": "integer", "format": "int64" },
                    "reconciler": { "type": "string" },
                    "conditions": conditions,
                },
            },
        },
    })
}

/// The rule that refuses a field which nobody reads.
fn refused(written: &str, meant: &str) -> Value {
    json!({
        "rule": format!("!has(self.{written})"),
        "message": format!("there is no such field: say `{meant}`, and not `{written}`"),
        "fieldPath": format!(".{written}"),
        "reason": "FieldValueForbidden",
    })
}

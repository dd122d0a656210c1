//! The same definitions described here and by Kubernetes' own builder.

use rolewright_testkit::oracle::Oracle;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    document: Value,
    #[serde(default)]
    error: String,
}

fn definition(plural: &str, kind: &str, scope: &str, more: &Value, schema: &Value) -> Value {
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    version.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.apps.example-corp.com")},
        "spec": {
            "group": "apps.example-corp.com", "scope": scope, "versions": [version],
            "names": {"plural": plural, "kind": kind, "listKind": format!("{kind}List"), "singular": kind.to_lowercase()},
        },
    })
}

fn cases() -> Vec<Vec<Value>> {
    let rich = json!({
        "type": "object", "description": "A widget.", "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string", "description": "mine"},
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}},
            "spec": {
                "type": "object", "description": "what is <wanted>",
                "properties": {
                    "size": {"type": "integer", "format": "int32", "minimum": 1, "default": 3, "maximum": 1.5},
                    "either": {"x-kubernetes-int-or-string": true},
                    "both": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^a"},
                    "more": {"x-kubernetes-int-or-string": true, "anyOf": [{"minimum": 1}], "allOf": [{"maximum": 3}]},
                    "map": {"type": "object", "additionalProperties": {"type": "string", "nullable": true}, "maxProperties": 3},
                    "open": {"type": "object", "additionalProperties": true, "x-kubernetes-map-type": "atomic"},
                    "list": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
                    },
                    "clauses": {
                        "type": "object", "properties": {"a": {"type": "string"}},
                        "oneOf": [{"required": ["a"]}, {"properties": {"a": {"enum": ["x", "y"]}}}], "not": {"required": ["b"]},
                    },
                    "any": {"x-kubernetes-preserve-unknown-fields": true, "example": {"a": 1}, "externalDocs": {"url": "u"}},
                    "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
                    "pods": {"type": "array", "items": {
                        "type": "object", "x-kubernetes-embedded-resource": true, "required": ["kind"],
                        "properties": {"spec": {"type": "object"}},
                    }},
                    "ruled": {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": "m"}]},
                },
            },
        },
    });
    let parts = json!({
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}},
        "selectableFields": [{"jsonPath": ".spec.size"}],
    });
    let plain = json!({"type": "object"});
    vec![
        vec![definition("widgets", "Widget", "Namespaced", &json!({}), &rich)],
        vec![definition("widgets", "Widget", "Cluster", &parts, &rich)],
        vec![
            definition("widgets", "Widget", "Cluster", &json!({}), &plain),
            definition("gadgets", "Gadget", "Namespaced", &json!({"subresources": {"status": {}}}), &plain),
        ],
        vec![definition("odds", "Odd", "Cluster", &json!({}), &json!({"type": "object", "properties": {"a": {}}}))],
        vec![definition(
            "odds",
            "Odd",
            "Cluster",
            &json!({}),
            &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        )],
    ]
}

/// There is no prose about what all kinds share, and its kinds are those of this server.
fn without_prose(value: &mut Value, inside: bool) {
    match value {
        Value::Object(members) => {
            if !inside {
                members.retain(|key, value| key != "description" || !value.is_string());
                // Without prose beside it, a reference may stand alone.
                if let (1, Some(alone)) = (members.len(), members.get("allOf").and_then(|all| all.get(0)).cloned()) {
                    *value = alone;
                    return;
                }
            }
            for (key, value) in members.iter_mut() {
                let own = inside || key.starts_with("com.");
                if key.starts_with("io.k8s.")
                    && let Some(schema) = value.as_object_mut()
                {
                    schema.remove("x-kubernetes-group-version-kind");
                }
                without_prose(value, own);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_prose(item, inside)),
        _ => {}
    }
}

#[test]
fn documents_are_those_of_kubernetes() {
    let Some(mut oracle) = Oracle::start("custom_openapi").unwrap() else { return };
    let cases = cases();
    let items: Vec<Value> =
        cases.iter().map(|definitions| json!({"definitions": definitions, "version": "v1"})).collect();
    let answer: Answer = oracle.ask("custom_openapi", json!({"items": items})).unwrap();
    for (definitions, theirs) in cases.iter().zip(answer.results) {
        assert_eq!(theirs.error, "");
        let kinds: Vec<CustomKind> =
            definitions.iter().filter_map(|definition| CustomKind::read(definition.as_object()?, "v1")).collect();
        let (mut ours, mut theirs) = (document(&kinds), theirs.document);
        without_prose(&mut ours, false);
        without_prose(&mut theirs, false);
        for (path, theirs) in theirs["paths"].as_object().unwrap() {
            assert_eq!(ours["paths"][path], *theirs, "{path}");
        }
        for (name, theirs) in theirs["components"]["schemas"].as_object().unwrap() {
            assert_eq!(ours["components"]["schemas"][name], *theirs, "{name}");
        }
        assert_eq!(ours, theirs);
    }
}

//! Definitions to begin with, and edits of them.

use serde_json::{Value, json};

/// A definition with one version and a schema of some size.
pub(crate) fn single() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "scope": "Namespaced",
            "versions": [version("v1", true)],
        },
    })
}

/// A definition with two versions that differ.
pub(crate) fn double() -> Value {
    let mut definition = single();
    let mut second = version("v1alpha1", false);
    second["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["older"] = json!({"type": "string"});
    second["additionalPrinterColumns"] = json!([{"name": "Older", "type": "string", "jsonPath": ".spec.older"}]);
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    definition
}

fn version(name: &str, storage: bool) -> Value {
    json!({
        "name": name,
        "served": true,
        "storage": storage,
        "schema": {"openAPIV3Schema": {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": {
                    "type": "object",
                    "description": "what is wanted",
                    "required": ["size"],
                    "properties": {
                        "size": {"type": "integer", "minimum": 1, "format": "int32"},
                        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
                        "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                        "items": {
                            "type": "array",
                            "x-kubernetes-list-type": "map",
                            "x-kubernetes-list-map-keys": ["name"],
                            "items": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {"name": {"type": "string"}, "value": {"type": "number"}},
                            },
                        },
                        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "embedded": {
                            "type": "object",
                            "x-kubernetes-embedded-resource": true,
                            "x-kubernetes-preserve-unknown-fields": true,
                        },
                    },
                },
                "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
            },
        }},
    })
}

/// Abbreviations in pointers: `V` for the first version, `S` for its schema, `P` for the properties of its spec.
fn expand(pointer: &str) -> String {
    let version = "/spec/versions/0";
    let schema = format!("{version}/schema/openAPIV3Schema");
    let properties = format!("{schema}/properties/spec/properties");
    match pointer.split_at_checked(1) {
        Some(("V", rest)) => format!("{version}{rest}"),
        Some(("S", rest)) => format!("{schema}{rest}"),
        Some(("P", rest)) => format!("{properties}{rest}"),
        _ => pointer.to_owned(),
    }
}

/// Sets what a pointer leads to; `null` takes it away. Objects on the way are made, items of lists are not.
pub(crate) fn edit(definition: &mut Value, pointer: &str, value: Value) {
    let pointer = expand(pointer);
    let steps: Vec<String> =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let (last, way) = steps.split_last().unwrap();
    let mut at = definition;
    for step in way {
        at = match at {
            Value::Array(list) => match list.get_mut(step.parse::<usize>().unwrap()) {
                Some(item) => item,
                None => return,
            },
            other => {
                if !other.is_object() {
                    *other = json!({});
                }
                other.as_object_mut().unwrap().entry(step.clone()).or_insert_with(|| json!({}))
            }
        };
    }
    match at {
        Value::Array(list) => match last.parse::<usize>() {
            Ok(i) if i < list.len() && value.is_null() => {
                list.remove(i);
            }
            Ok(i) if i < list.len() => list[i] = value,
            _ => list.push(value),
        },
        Value::Object(map) if value.is_null() => {
            map.remove(last);
        }
        Value::Object(map) => {
            map.insert(last.clone(), value);
        }
        other => *other = json!({last.as_str(): value}),
    }
}

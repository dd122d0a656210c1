//! Lives of custom objects, of definitions that are random themselves.

use serde_json::{Map, Value, json};

use super::clients::{spoil, wish};
use super::{Life, Step};
use crate::random::Random;

const GROUP: &str = "example.com";
const KIND: &str = "Thing";

pub(super) fn life(seed: u64) -> Life {
    // To understand a definition takes Kubernetes longer than everything else.
    let mut random = Random::new(seed % 500);
    let schemas = schemas(&mut random);
    let names: Vec<String> = (1..=schemas.len()).map(|at| format!("v{at}")).collect();
    let with_status: Vec<bool> = schemas.iter().map(|_| !random.one_in(3)).collect();
    let versions = names.iter().zip(&schemas).zip(&with_status).map(|((name, schema), status)| {
        let subresources = if *status { json!({"status": {}}) } else { json!({}) };
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": schema}, "subresources": subresources,
        })
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": KIND, "listKind": "ThingList"},
            "versions": versions.collect::<Vec<_>>(),
        },
    });
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
    let mut last = Value::Null;
    for at in 0..2 + random.below(8) {
        let of = if random.one_in(3) { random.below(names.len()) } else { 0 };
        let (name, schema) = (&names[of], &schemas[of]);
        let version = format!("{GROUP}/{name}");
        let apply = !random.one_in(3);
        let from = Some(&last).filter(|last| !last.is_null());
        let mut object = draw(&mut random, schema, from, 0);
        object["apiVersion"] = json!(version);
        object["kind"] = json!(KIND);
        object["metadata"] = metadata(&mut random, from.map(|from| &from["metadata"]));
        if random.one_in(5) {
            let mut kept = if random.one_in(3) { draw(&mut random, schema, Some(&object), 0) } else { object.clone() };
            for (member, value) in [("apiVersion", json!(version)), ("kind", json!(KIND))] {
                kept[member] = value;
            }
            kept["metadata"] = json!({"name": "x", "annotations": {"other": "a"}});
            object["metadata"]["annotations"] =
                json!({"kubectl.kubernetes.io/last-applied-configuration": kept.to_string(), "other": "a"});
        }
        last = object.clone();
        if !apply && random.one_in(8) {
            let other = if random.one_in(3) { format!("{GROUP}/{}", names[0]) } else { version.clone() };
            object["metadata"]["managedFields"] = wish(&mut random, &other);
        }
        if apply && random.one_in(16) {
            spoil(&mut random, &mut object);
        }
        let status = at > 0 && with_status[of] && random.one_in(4);
        steps.push(Step {
            operation: if apply { "apply" } else { "update" }.to_owned(),
            manager: (*random.of(&["alice", "bob", "kubectl", ""])).to_owned(),
            group: None,
            version: name.clone(),
            subresource: if status { "status" } else { "" }.to_owned(),
            force: random.one_in(2),
            object,
        });
    }
    Life { group: GROUP.into(), version: "v1".into(), kind: KIND.into(), definition: Some(definition), steps }
}

/// The schemas of one or two versions, which have much in common.
fn schemas(random: &mut Random) -> Vec<Value> {
    let mut properties = Map::new();
    for name in ["spec", "status", "data"] {
        if name == "spec" || random.one_in(2) {
            properties.insert(name.to_owned(), structure(random, 0));
        }
    }
    if random.one_in(3) {
        properties.insert("metadata".to_owned(), json!({"type": "object"}));
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if random.one_in(12) {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if random.one_in(40) {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    let mut schemas = vec![schema];
    if random.one_in(3) {
        let mut other = schemas[0].clone();
        if random.one_in(2) {
            other["properties"]["spec"] = changed(random, &other["properties"]["spec"].clone(), 0);
        }
        schemas.push(other);
    }
    schemas
}

/// A schema that says a little more or less of the same.
fn changed(random: &mut Random, schema: &Value, depth: usize) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let names: Vec<String> = properties.keys().cloned().collect();
        for name in names {
            match random.below(8) {
                0 if properties.len() > 1 => {
                    properties.remove(&name);
                }
                1 => properties[&name] = changed(random, &properties[&name].clone(), depth + 1),
                _ => {}
            }
        }
        if random.one_in(4) {
            properties.insert("z".to_owned(), node(random, depth + 1));
        }
    } else if schema.get("items").is_some_and(|items| items["type"] == "string") {
        schema["x-kubernetes-list-type"] = json!(random.of(&["atomic", "set"]));
    } else if schema["x-kubernetes-list-type"] == "map" && random.one_in(2) {
        schema["x-kubernetes-list-type"] = json!("atomic");
        schema.as_object_mut().expect("schemas are objects").remove("x-kubernetes-list-map-keys");
    } else if schema.get("additionalProperties").is_some() {
        schema["x-kubernetes-map-type"] = json!(random.of(&["atomic", "granular"]));
    }
    schema
}

fn structure(random: &mut Random, depth: usize) -> Value {
    let mut properties = Map::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        if random.one_in(2) {
            properties.insert(name.to_owned(), node(random, depth + 1));
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if random.one_in(8) {
        schema["x-kubernetes-map-type"] = json!(random.of(&["atomic", "granular"]));
    }
    if random.one_in(10) {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    schema
}

fn scalar(random: &mut Random) -> Value {
    let all = [
        json!({"type": "string"}),
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
        json!({"type": "boolean"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "format": "byte"}),
        json!({"type": "string", "format": "unknown"}),
        json!({"x-kubernetes-int-or-string": true}),
    ];
    let mut schema = random.of(&all).clone();
    if random.one_in(10) {
        schema["default"] = leaf(random, &schema);
    }
    schema
}

fn node(random: &mut Random, depth: usize) -> Value {
    let mut schema = match random.below(if depth > 3 { 4 } else { 14 }) {
        0..=2 => scalar(random),
        3 => json!({"x-kubernetes-preserve-unknown-fields": true}),
        4 | 5 => structure(random, depth),
        6 => {
            let mut schema = json!({"type": "object", "additionalProperties": node(random, depth + 1)});
            if random.one_in(3) {
                schema["x-kubernetes-map-type"] = json!("atomic");
            }
            schema
        }
        7 => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        8 => json!({"type": "array", "items": node(random, depth + 1)}),
        9 | 10 => {
            let scalars = [json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "number"})];
            let more = [json!({"type": "boolean"}), json!({"x-kubernetes-int-or-string": true})];
            let items = if random.one_in(4) { random.of(&more) } else { random.of(&scalars) };
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": items})
        }
        11 | 12 => keyed_list(random, depth),
        _ => {
            let mut schema = structure(random, depth);
            schema["x-kubernetes-embedded-resource"] = json!(true);
            schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
            schema
        }
    };
    if random.one_in(10) {
        schema["nullable"] = json!(true);
    }
    schema
}

fn keyed_list(random: &mut Random, depth: usize) -> Value {
    let mut items = structure(random, depth + 1);
    items.as_object_mut().expect("schemas are objects").remove("x-kubernetes-map-type");
    let choices: [&[&str]; 3] = [&["k"], &["k", "a"], &["l", "k"]];
    let keys = *random.of(&choices);
    for key in keys {
        let mut schema =
            random.of(&[json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"})]).clone();
        if random.one_in(2) {
            schema["default"] = leaf(random, &schema);
        }
        items["properties"][*key] = schema;
    }
    json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items})
}

/// A scalar of a schema.
fn leaf(random: &mut Random, schema: &Value) -> Value {
    match schema["type"].as_str().unwrap_or_default() {
        "integer" => json!(*random.of(&[0, 1, 2, -7])),
        "number" => random.of(&[json!(0.5), json!(1), json!(-2.25)]).clone(),
        "boolean" => json!(random.one_in(2)),
        "string" => json!(*random.of(&["", "a", "b", "<é\">"])),
        _ => random.of(&[json!(1), json!("a"), json!("50%")]).clone(),
    }
}

/// Any value.
fn anything(random: &mut Random, from: Option<&Value>, depth: usize) -> Value {
    match from {
        Some(Value::Object(map)) if !random.one_in(4) => {
            let mut map = map.clone();
            for name in ["a", "b"] {
                match random.below(5) {
                    0 => {
                        map.remove(name);
                    }
                    1 => {
                        let old = map.get(name).cloned();
                        map.insert(name.to_owned(), anything(random, old.as_ref(), depth + 1));
                    }
                    _ => {}
                }
            }
            Value::Object(map)
        }
        Some(from) if random.one_in(2) => from.clone(),
        _ => match random.below(if depth > 2 { 5 } else { 8 }) {
            0 => json!("a"),
            1 => json!(1),
            2 => json!(1.5),
            3 => json!(true),
            4 => json!(null),
            5 => json!([anything(random, None, depth + 1), 1]),
            6 => json!({}),
            _ => json!({"a": anything(random, None, depth + 1), "b": anything(random, None, depth + 1)}),
        },
    }
}

/// A value of a schema that shares much with another; now and then one of no schema.
fn draw(random: &mut Random, schema: &Value, from: Option<&Value>, depth: usize) -> Value {
    if depth > 0 && random.one_in(400) {
        return anything(random, None, 1);
    }
    if depth > 1 && random.one_in(if schema["nullable"] == true { 6 } else { 120 }) {
        return Value::Null;
    }
    match schema["type"].as_str() {
        None if schema["x-kubernetes-int-or-string"] != true => anything(random, from, 0),
        Some("object") => Value::Object(draw_object(random, schema, from.and_then(Value::as_object), depth)),
        Some("array") => {
            let old = from.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let mut items: Vec<Value> = Vec::new();
            for item in old {
                match random.below(5) {
                    0 => {}
                    1 => items.push(draw(random, &schema["items"], Some(item), depth + 1)),
                    _ => items.push(item.clone()),
                }
            }
            for _ in 0..if old.is_empty() { random.below(4) } else { random.below(2) } {
                let at = random.below(items.len() + 1);
                items.insert(at, draw(random, &schema["items"], None, depth + 1));
            }
            if schema["x-kubernetes-list-type"] == "set" && !random.one_in(20) {
                let mut seen = Vec::new();
                items.retain(|item| {
                    !seen.contains(item) && {
                        seen.push(item.clone());
                        true
                    }
                });
            }
            Value::Array(items)
        }
        _ => leaf(random, schema),
    }
}

fn draw_object(
    random: &mut Random,
    schema: &Value,
    from: Option<&Map<String, Value>>,
    depth: usize,
) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let old = from.and_then(|from| from.get(name));
        let is_key = name == "k" && !random.one_in(6);
        let value = match old {
            Some(old) if !random.one_in(if depth == 0 { 8 } else { 3 }) && depth > 0 => Some(old.clone()),
            Some(_) if depth > 0 && !is_key && random.one_in(4) => None,
            Some(old) => Some(draw(random, property, Some(old), depth + 1)),
            None if from.is_some() && random.one_in(2) => None,
            None => (is_key || depth == 0 || random.one_in(2)).then(|| draw(random, property, None, depth + 1)),
        };
        out.extend(value.map(|value| (name.clone(), value)));
    }
    let values = schema.get("additionalProperties");
    if values.is_some() || schema["x-kubernetes-preserve-unknown-fields"] == true {
        for name in ["x", "y", "<\"é>"] {
            let old = from.and_then(|from| from.get(name));
            let value = match old {
                Some(_) if random.one_in(5) => None,
                Some(old) if !random.one_in(3) => Some(old.clone()),
                old => random.one_in(2).then(|| match values {
                    Some(values) => draw(random, values, old, depth + 1),
                    None => anything(random, old, 0),
                }),
            };
            out.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        out.insert("apiVersion".to_owned(), json!("v1"));
        out.insert("kind".to_owned(), json!("X"));
        let old = from.and_then(|from| from.get("metadata")).cloned();
        out.insert("metadata".to_owned(), metadata(random, old.as_ref()));
    }
    out
}

fn metadata(random: &mut Random, from: Option<&Value>) -> Value {
    let mut out = json!({"name": "x"});
    let old = |name: &str| from.and_then(|from| from.get(name)).cloned();
    for name in ["labels", "annotations"] {
        let map = old(name).filter(|_| !random.one_in(3));
        if let Some(map) = map {
            out[name] = map;
        } else if random.one_in(3) {
            let mut map = Map::new();
            for key in ["a", "b", "example.com/c"] {
                if random.one_in(2) {
                    map.insert(key.to_owned(), json!(*random.of(&["", "a", "b"])));
                }
            }
            out[name] = Value::Object(map);
        }
    }
    if let Some(finalizers) = old("finalizers").filter(|_| !random.one_in(3)) {
        out["finalizers"] = finalizers;
    } else if random.one_in(6) {
        out["finalizers"] = random.of(&[json!(["a"]), json!(["a", "b"]), json!([]), json!(["b", "a", "c"])]).clone();
    }
    if random.one_in(10) {
        let owner = |uid: &str| json!({"apiVersion": "v1", "kind": "X", "name": "a", "uid": uid});
        out["ownerReferences"] = random.of(&[json!([owner("1")]), json!([owner("1"), owner("2")])]).clone();
    }
    out
}

//! Objects for a schema.

use serde_json::{Map, Value, json};

use super::Choices;
use super::literals::{FLOATS, FORMATS, INTEGERS, PATTERNS, TEXTS, UNKNOWN};

/// An object of a kind with the schema, in `example.com/v1`, of kind `Thing`. Much of it is valid.
pub fn object(choices: &mut Choices, schema: &Value) -> Value {
    let mut object = match value(choices, schema, 0) {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    object.insert("apiVersion".into(), json!("example.com/v1"));
    object.insert("kind".into(), json!("Thing"));
    let name = if choices.chance(60) { "long-name" } else { "abc" };
    object.insert("metadata".into(), json!({"name": name, "namespace": "default"}));
    if choices.chance(20)
        && let Some(Value::Object(metadata)) = object.get_mut("metadata")
    {
        metadata.insert("finalizers".into(), json!(["a.b/c", "x", "y.z", "orphan"]));
    }
    if choices.chance(30) {
        object.insert(choices.pick(UNKNOWN).into(), anything(choices, 0));
    }
    Value::Object(object)
}

/// A value for a node of a schema. It is of the right type most of the time.
pub fn value(choices: &mut Choices, schema: &Value, depth: usize) -> Value {
    if choices.chance(12) {
        return Value::Null;
    }
    if choices.chance(12) || depth > 8 {
        return anything(choices, depth);
    }
    if let Some(Value::Array(known)) = schema.get("enum")
        && choices.chance(150)
        && !known.is_empty()
    {
        return known[choices.below(known.len())].clone();
    }
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return if choices.chance(128) { json!(choices.pick(INTEGERS)) } else { text(choices, schema) };
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => text(choices, schema),
        Some("number") if choices.chance(100) => json!(choices.pick(FLOATS)),
        Some("integer" | "number") => integer(choices),
        Some("boolean") => json!(choices.chance(128)),
        Some("array") => list(choices, schema, depth),
        Some("object") => Value::Object(fields(choices, schema, depth)),
        _ => anything(choices, depth),
    }
}

/// The same object with something changed: most of it stays.
pub fn mutated(choices: &mut Choices, schema: &Value, object: &Value) -> Value {
    let mut changed = object.clone();
    for _ in 0..=choices.below(3) {
        change(choices, schema, &mut changed, 0);
    }
    if let Value::Object(changed) = &mut changed {
        for name in ["apiVersion", "kind", "metadata"] {
            if let Some(kept) = object.get(name) {
                changed.insert(name.into(), kept.clone());
            }
        }
    }
    changed
}

fn change(choices: &mut Choices, schema: &Value, found: &mut Value, depth: usize) {
    if depth > 0 && choices.chance(60) {
        *found = value(choices, schema, depth);
        return;
    }
    match found {
        Value::Object(object) if !object.is_empty() => {
            let names: Vec<String> = object.keys().cloned().collect();
            let name = names[choices.below(names.len())].clone();
            if depth > 0 && choices.chance(20) {
                object.remove(&name);
            } else if let Some(below) = object.get_mut(&name) {
                let of = schema.get("properties").and_then(|properties| properties.get(&name));
                let of = of.or_else(|| schema.get("additionalProperties")).cloned().unwrap_or_default();
                change(choices, &of, below, depth + 1);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let of = schema.get("items").cloned().unwrap_or_default();
            let index = choices.below(items.len());
            match choices.below(5) {
                0 => items.reverse(),
                1 => {
                    items.remove(index);
                }
                2 => items.push(value(choices, &of, depth + 1)),
                _ => change(choices, &of, &mut items[index], depth + 1),
            }
        }
        _ => *found = value(choices, schema, depth),
    }
}

fn text(choices: &mut Choices, schema: &Value) -> Value {
    let known = |of: &[(&str, &'static [&'static str])], key: &str| {
        let name = schema.get(key).and_then(Value::as_str)?;
        of.iter().find(|(known, _)| *known == name).map(|(_, texts)| *texts)
    };
    let texts = known(FORMATS, "format").or_else(|| known(PATTERNS, "pattern"));
    match texts {
        Some(texts) if !choices.chance(40) => json!(choices.pick(texts)),
        _ => json!(choices.pick(TEXTS)),
    }
}

fn integer(choices: &mut Choices) -> Value {
    if choices.chance(20) { json!(choices.pick(FLOATS)) } else { json!(choices.pick(INTEGERS)) }
}

fn list(choices: &mut Choices, schema: &Value, depth: usize) -> Value {
    let of = schema.get("items").cloned().unwrap_or_default();
    let mut items: Vec<Value> = (0..choices.below(4)).map(|_| value(choices, &of, depth + 1)).collect();
    if choices.chance(40)
        && let Some(item) = items.last().cloned()
    {
        items.push(item);
    }
    Value::Array(items)
}

fn fields(choices: &mut Choices, schema: &Value, depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    let required = schema.get("required").and_then(Value::as_array);
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, below) in properties {
            let needed = required.is_some_and(|required| required.iter().any(|required| required == name));
            if choices.chance(if needed { 245 } else { 170 }) {
                object.insert(name.clone(), value(choices, below, depth + 1));
            }
        }
    }
    if let Some(below) = schema.get("additionalProperties") {
        for _ in 0..choices.below(3) {
            let name = choices.pick(&["a", "b", "k/v", "", "x.y"]);
            object.insert(name.into(), value(choices, below, depth + 1));
        }
    }
    if schema.get("x-kubernetes-embedded-resource").is_some() {
        embedded(choices, &mut object);
    }
    if choices.chance(25) {
        object.insert(choices.pick(UNKNOWN).into(), anything(choices, depth + 1));
    }
    object
}

fn embedded(choices: &mut Choices, object: &mut Map<String, Value>) {
    let versions = [json!("v1"), json!("a/v1"), json!("a/b/c"), json!(""), json!(3)];
    let kinds = [json!("Pod"), json!("pod-x"), json!("1x"), json!(""), json!([])];
    let plain = |choices: &mut Choices, of: &[Value]| {
        if choices.chance(60) { of[choices.below(of.len())].clone() } else { of[0].clone() }
    };
    if choices.chance(240) {
        object.insert("apiVersion".into(), plain(choices, &versions));
    }
    if choices.chance(240) {
        object.insert("kind".into(), plain(choices, &kinds));
    }
    if choices.chance(200) {
        let metadata = match choices.below(12) {
            0 => json!({}),
            1 => json!({"name": "a"}),
            2 => json!({"name": "a/b", "namespace": "X", "labels": {"a": "b c", "-": ""}}),
            3 => json!({"name": 3, "labels": {"a": "b"}}),
            4 => json!({"labels": {"a": 1}, "annotations": {"A/B/C": "x"}}),
            5 => json!({"creationTimestamp": "2020-01-01T00:00:00Z", "generation": -1, "unknown": {"x": 1}}),
            6 => json!({"creationTimestamp": "x", "finalizers": ["a", "b/c"]}),
            7 => json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u", "x": 1}]}),
            8 => json!({"generateName": "x_", "managedFields": [{"operation": "Bad"}], "selfLink": "/x"}),
            9 => json!("text"),
            10 => json!({"name": null, "labels": null, "creationTimestamp": null, "deletionGracePeriodSeconds": 3}),
            _ => Value::Null,
        };
        object.insert("metadata".into(), metadata);
    }
}

fn anything(choices: &mut Choices, depth: usize) -> Value {
    match choices.below(if depth > 4 { 6 } else { 9 }) {
        0 => json!(choices.pick(TEXTS)),
        1 => json!(choices.pick(INTEGERS)),
        2 => json!(choices.pick(FLOATS)),
        3 => json!(true),
        4 => Value::Null,
        5 => json!({}),
        6 => json!([anything(choices, depth + 1), anything(choices, depth + 1)]),
        7 => json!({"a": anything(choices, depth + 1), "zz": anything(choices, depth + 1)}),
        _ => json!([]),
    }
}

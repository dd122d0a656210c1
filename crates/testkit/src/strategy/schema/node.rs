//! Schemas, node by node.

use serde_json::{Map, Value, json};

use super::literals::{FLOATS, FORMATS, INTEGERS, NAMES, PATTERNS};
use super::{Choices, object};

type Node = Map<String, Value>;

const DEEPEST: usize = 4;

pub(super) fn root(choices: &mut Choices) -> Value {
    let mut properties = Node::new();
    properties.insert("spec".into(), any(choices, 0));
    if choices.chance(150) {
        properties.insert("status".into(), any(choices, 1));
    }
    if choices.chance(60) {
        let name = choices.pick(NAMES);
        if !["apiVersion", "kind"].contains(&name) {
            properties.insert(name.into(), any(choices, 2));
        }
    }
    if choices.chance(30) {
        properties.insert(
            "metadata".into(),
            json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}),
        );
    }
    if choices.chance(30) {
        properties.insert("kind".into(), json!({"type": "string", "enum": ["Other"]}));
    }
    let mut root = Node::new();
    root.insert("type".into(), json!("object"));
    root.insert("properties".into(), Value::Object(properties));
    if choices.chance(40) {
        root.insert("required".into(), json!(["spec", choices.pick(NAMES)]));
    }
    if choices.chance(15) {
        root.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
    }
    if choices.chance(30) {
        combine(choices, &mut root, 1);
    }
    Value::Object(root)
}

fn any(choices: &mut Choices, depth: usize) -> Value {
    let mut node = Node::new();
    let kind = choices.byte() % if depth >= DEEPEST { 7 } else { 16 };
    match kind {
        0 | 1 => text(choices, &mut node),
        2 => integer(choices, &mut node),
        3 => number(choices, &mut node),
        4 => {
            node.insert("type".into(), json!("boolean"));
        }
        5 => int_or_string(choices, &mut node),
        6 => {
            node.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
        }
        7..=10 => fields(choices, &mut node, depth),
        11 => map(choices, &mut node, depth),
        12 | 13 => list(choices, &mut node, depth),
        14 => map_list(choices, &mut node, depth),
        _ => embedded(choices, &mut node, depth),
    }
    if choices.chance(30) {
        node.insert("nullable".into(), json!(true));
    }
    if choices.chance(25) {
        let of = Value::Object(node.clone());
        let some: Vec<Value> = (0..=choices.below(3)).map(|_| object::value(choices, &of, 2)).collect();
        node.insert("enum".into(), Value::Array(some));
    }
    if choices.chance(40) && depth < DEEPEST {
        combine(choices, &mut node, depth + 1);
    }
    if choices.chance(50) {
        let default = object::value(choices, &Value::Object(node.clone()), 2);
        node.insert("default".into(), default);
    }
    Value::Object(node)
}

fn text(choices: &mut Choices, node: &mut Node) {
    node.insert("type".into(), json!("string"));
    text_facets(choices, node);
}

fn text_facets(choices: &mut Choices, node: &mut Node) {
    if choices.chance(60) {
        node.insert("maxLength".into(), json!(choices.pick(&[0, 1, 2, 3, 10])));
    }
    if choices.chance(60) {
        node.insert("minLength".into(), json!(choices.pick(&[0, 1, 2, 4])));
    }
    if choices.chance(60) {
        node.insert("pattern".into(), json!(choices.pick(PATTERNS).0));
    }
    if choices.chance(100) {
        node.insert("format".into(), json!(choices.pick(FORMATS).0));
    }
}

fn integer(choices: &mut Choices, node: &mut Node) {
    node.insert("type".into(), json!("integer"));
    if choices.chance(100) {
        node.insert("format".into(), json!(choices.pick(&["int32", "int64", "int16", "date"])));
    }
    bounds(choices, node);
}

fn number(choices: &mut Choices, node: &mut Node) {
    node.insert("type".into(), json!("number"));
    if choices.chance(100) {
        node.insert("format".into(), json!(choices.pick(&["float", "double", "float32", "int64"])));
    }
    bounds(choices, node);
}

fn bounds(choices: &mut Choices, node: &mut Node) {
    for (key, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if choices.chance(80) {
            let bound = if choices.chance(100) { json!(choices.pick(FLOATS)) } else { json!(choices.pick(INTEGERS)) };
            node.insert(key.into(), bound);
            if choices.chance(80) {
                node.insert(exclusive.into(), json!(true));
            }
        }
    }
    if choices.chance(60) {
        node.insert("multipleOf".into(), json!(choices.pick(&[1.0, 2.0, 3.0, 0.5, 0.1, 2.5, 1e-3])));
    }
}

fn int_or_string(choices: &mut Choices, node: &mut Node) {
    node.insert("x-kubernetes-int-or-string".into(), json!(true));
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    match choices.below(4) {
        1 => {
            node.insert("anyOf".into(), either);
        }
        2 => {
            node.insert("allOf".into(), json!([{"anyOf": either}, {"minLength": 1, "minimum": 2}]));
        }
        _ => {}
    }
    if choices.chance(60) {
        text_facets(choices, node);
    }
    if choices.chance(60) {
        bounds(choices, node);
    }
}

fn fields(choices: &mut Choices, node: &mut Node, depth: usize) {
    node.insert("type".into(), json!("object"));
    let mut properties = Node::new();
    for _ in 0..=choices.below(4) {
        properties.insert(choices.pick(NAMES).into(), any(choices, depth + 1));
    }
    if choices.chance(80) {
        let required: Vec<&str> = (0..=choices.below(2)).map(|_| choices.pick(NAMES)).collect();
        node.insert("required".into(), json!(required));
    }
    node.insert("properties".into(), Value::Object(properties));
    sizes(choices, node);
    if choices.chance(40) {
        node.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
    }
    if choices.chance(20) {
        node.insert("x-kubernetes-map-type".into(), json!(choices.pick(&["atomic", "granular"])));
    }
}

fn sizes(choices: &mut Choices, node: &mut Node) {
    for key in ["minProperties", "maxProperties"] {
        if choices.chance(30) {
            node.insert(key.into(), json!(choices.pick(&[0, 1, 2, 3])));
        }
    }
}

fn map(choices: &mut Choices, node: &mut Node, depth: usize) {
    node.insert("type".into(), json!("object"));
    let values = if choices.chance(30) { json!(true) } else { any(choices, depth + 1) };
    node.insert("additionalProperties".into(), values);
    sizes(choices, node);
}

fn list(choices: &mut Choices, node: &mut Node, depth: usize) {
    node.insert("type".into(), json!("array"));
    let set = choices.chance(60);
    let items = any(choices, if set { DEEPEST } else { depth + 1 });
    node.insert("items".into(), items);
    if set {
        node.insert("x-kubernetes-list-type".into(), json!("set"));
    } else if choices.chance(30) {
        node.insert("x-kubernetes-list-type".into(), json!("atomic"));
    }
    if choices.chance(20) {
        node.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
    }
    lengths(choices, node);
}

fn lengths(choices: &mut Choices, node: &mut Node) {
    for key in ["minItems", "maxItems"] {
        if choices.chance(40) {
            node.insert(key.into(), json!(choices.pick(&[0, 1, 2, 3])));
        }
    }
    if choices.chance(6) {
        node.insert("uniqueItems".into(), json!(true));
    }
}

fn map_list(choices: &mut Choices, node: &mut Node, depth: usize) {
    let mut items = Node::new();
    fields(choices, &mut items, depth + 1);
    let mut keys = vec!["key"];
    if choices.chance(100) {
        keys.push("name");
    }
    for key in &keys {
        let mut scalar = Node::new();
        match choices.below(4) {
            0 => text(choices, &mut scalar),
            1 => integer(choices, &mut scalar),
            2 => number(choices, &mut scalar),
            _ => {
                scalar.insert("type".into(), json!("boolean"));
            }
        }
        if choices.chance(40) {
            let default = object::value(choices, &Value::Object(scalar.clone()), 3);
            scalar.insert("default".into(), default);
        }
        if let Some(Value::Object(properties)) = items.get_mut("properties") {
            properties.insert((*key).into(), Value::Object(scalar));
        }
    }
    if choices.chance(150) {
        items.insert("required".into(), json!(keys));
    }
    node.insert("type".into(), json!("array"));
    node.insert("items".into(), Value::Object(items));
    node.insert("x-kubernetes-list-type".into(), json!("map"));
    node.insert("x-kubernetes-list-map-keys".into(), json!(keys));
    lengths(choices, node);
}

fn embedded(choices: &mut Choices, node: &mut Node, depth: usize) {
    fields(choices, node, depth);
    node.insert("x-kubernetes-embedded-resource".into(), json!(true));
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.remove("apiVersion");
        properties.remove("kind");
        if choices.chance(60) {
            properties.insert(
                "metadata".into(),
                json!({"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}}),
            );
        }
    }
}

/// Adds alternatives that speak of what the node has.
fn combine(choices: &mut Choices, node: &mut Node, depth: usize) {
    let of = node.clone();
    let some = |choices: &mut Choices| -> Value { (0..=choices.below(3)).map(|_| part(choices, &of, depth)).collect() };
    for key in ["anyOf", "oneOf", "allOf"] {
        if choices.chance(100) && !node.contains_key(key) {
            let parts = some(choices);
            node.insert(key.into(), parts);
        }
    }
    if choices.chance(60) {
        node.insert("not".into(), part(choices, &of, depth));
    }
}

/// Validations of a node, without what makes its structure.
fn part(choices: &mut Choices, of: &Node, depth: usize) -> Value {
    let mut node = Node::new();
    let kind = of.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "object" => {
            if let Some(Value::Object(properties)) = of.get("properties") {
                let names: Vec<&String> = properties.keys().collect();
                let mut parts = Node::new();
                for _ in 0..choices.below(3) {
                    if let Some(name) = names.get(choices.below(names.len()))
                        && let Some(Value::Object(below)) = properties.get(*name)
                    {
                        parts.insert((*name).clone(), part(choices, below, depth + 1));
                    }
                }
                if !parts.is_empty() {
                    node.insert("properties".into(), Value::Object(parts));
                }
                if choices.chance(120) {
                    node.insert("required".into(), json!([choices.pick(NAMES)]));
                }
            }
            if let Some(Value::Object(below)) = of.get("additionalProperties")
                && choices.chance(100)
            {
                node.insert("additionalProperties".into(), part(choices, below, depth + 1));
            }
            sizes(choices, &mut node);
        }
        "array" => {
            if let Some(Value::Object(below)) = of.get("items")
                && choices.chance(150)
            {
                node.insert("items".into(), part(choices, below, depth + 1));
            }
            lengths(choices, &mut node);
            node.remove("uniqueItems");
        }
        "integer" | "number" => bounds(choices, &mut node),
        "boolean" => {
            node.insert("enum".into(), json!([true]));
        }
        _ => {
            text_facets(choices, &mut node);
            if kind != "string" && choices.chance(100) {
                bounds(choices, &mut node);
            }
        }
    }
    if choices.chance(30) {
        let one = object::value(choices, &Value::Object(of.clone()), 2);
        node.insert("enum".into(), json!([one]));
    }
    if depth < DEEPEST && choices.chance(30) {
        combine_part(choices, &mut node, of, depth + 1);
    }
    Value::Object(node)
}

fn combine_part(choices: &mut Choices, node: &mut Node, of: &Node, depth: usize) {
    let key = choices.pick(&["anyOf", "oneOf", "allOf"]);
    let parts: Value = (0..=choices.below(2)).map(|_| part(choices, of, depth)).collect();
    node.insert(key.into(), parts);
    if choices.chance(60) {
        node.insert("not".into(), part(choices, of, depth));
    }
}

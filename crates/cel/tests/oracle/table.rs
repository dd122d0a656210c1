//! Expressions by hand: every function, operator, macro and error.
use serde_json::{Value, json};

use super::compare::Case;

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "maxLength": 63},
            "text": {"type": "string"},
            "mode": {"type": "string", "enum": ["a", "bbb"]},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "port": {"x-kubernetes-int-or-string": true},
            "maybe": {"type": "string", "nullable": true},
            "when": {"type": "string", "format": "date-time"},
            "day": {"type": "string", "format": "date"},
            "span": {"type": "string", "format": "duration"},
            "data": {"type": "string", "format": "byte", "maxLength": 100},
            "namespace": {"type": "string"},
            "a-b.c/d__e": {"type": "string"},
            "list": {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 20}},
            "ints": {"type": "array", "items": {"type": "integer"}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "keyed": {
                "type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
                "items": {
                    "type": "object",
                    "properties": {"key": {"type": "string"}, "value": {"type": "integer"}, "more": {"type": "array", "items": {"type": "string"}}},
                },
            },
            "labels": {"type": "object", "maxProperties": 8, "additionalProperties": {"type": "string", "maxLength": 10}},
            "deep": {"type": "object", "properties": {"er": {"type": "object", "properties": {"est": {"type": "integer"}}}}},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "raw": {"x-kubernetes-preserve-unknown-fields": true},
            "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        },
    })
}

pub(crate) fn value() -> Value {
    json!({
        "apiVersion": "x/v1", "kind": "X", "metadata": {"name": "n"},
        "name": "hello", "text": "héllo wörld", "mode": "a", "count": 5, "ratio": 1.5, "on": true, "port": "http",
        "maybe": null, "when": "2024-02-29T10:20:30.123Z", "day": "2024-02-29", "span": "1h30m", "data": "aGVsbG8=",
        "namespace": "ns", "a-b.c/d__e": "odd", "list": ["x", "yy", "zzz"], "ints": [3, 1, 2],
        "set": ["a", "b"],
        "keyed": [{"key": "one", "value": 1, "more": ["m"]}, {"key": "two", "value": 2}],
        "labels": {"app": "web", "a-b": "x"}, "deep": {"er": {"est": 7}}, "any": {"x": 1}, "raw": {"y": [1]},
        "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}},
    })
}

pub(crate) fn old() -> Value {
    json!({
        "metadata": {"name": "n"}, "name": "old", "count": 4, "port": 80, "set": ["b", "a"], "list": ["yy", "x", "zzz"],
        "keyed": [{"key": "two", "value": 2}, {"key": "one", "value": 1, "more": ["m"]}], "labels": {"app": "web", "a-b": "x"},
        "any": {"x": 1}, "raw": {"y": [1]}, "when": "2024-02-28T10:20:30Z", "deep": {"er": {"est": 7}},
    })
}

const EXPRESSIONS: &str = include_str!("expressions.txt");

/// Expressions that nest as deep as may be, and a little deeper.
fn deep() -> Vec<String> {
    let mut texts = Vec::new();
    for (open, middle, close, least, most) in [
        ("(", "1", ")", 246, 252),
        ("[", "1", "]", 246, 252),
        ("{1: ", "1", "}", 246, 252),
        ("(1 + ", "1", ")", 80, 86),
        ("(1 == ", "1", ")", 80, 86),
        ("size([", "1", "]) + ", 80, 86),
        ("[1].map(x, ", "1", ")", 122, 128),
        ("", "1", " + 1", 246, 252),
        ("", "1", " * 1", 246, 252),
        ("", "true", " == true", 246, 252),
        ("", "dyn(self)", ".a", 246, 252),
        ("", "dyn(self)", "[0]", 246, 252),
        ("true ? 1 : ", "1", "", 246, 252),
        ("!", "true", "", 246, 252),
        ("-", "1", "", 246, 252),
        ("", "true", " && true", 246, 300),
    ] {
        for count in [least, most - 3, most - 2, most - 1, most] {
            texts.push(format!("{}{middle}{}", open.repeat(count), close.repeat(count)));
        }
    }
    texts
}

pub(crate) fn cases() -> Vec<Case> {
    let deep = deep();
    EXPRESSIONS
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("##"))
        .chain(deep.iter().map(String::as_str))
        .map(|line| Case {
            schema: schema(),
            root: true,
            expression: line.replace("⏎", "\n").replace("⇥", "\t"),
            value: value(),
            old: Some(old()),
            optional: line.contains("oldSelf.?") || line.contains("oldSelf.or") || line.contains("oldSelf.has"),
        })
        .collect()
}

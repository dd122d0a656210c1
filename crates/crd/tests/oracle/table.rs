//! Cases by hand, keyword by keyword, and what random ones have found.

use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::schema::{FORMATS, PATTERNS};
use serde_json::{Value, json};

use crate::ask::{Case, compare};

/// A new object whose `spec` has this schema and value.
fn created(schema: Value, spec: Value) -> Case {
    Case {
        schema: json!({"type": "object", "properties": {"spec": schema}}),
        object: json!({
            "apiVersion": "example.com/v1", "kind": "Thing", "spec": spec,
            "metadata": {"name": "abc", "namespace": "default", "resourceVersion": "1"},
        }),
        ..Case::default()
    }
}

/// The same as a change of another value.
fn updated(schema: Value, spec: Value, old: Value) -> Case {
    let old = created(json!({}), old).object;
    Case { old: Some(old), ..created(schema, spec) }
}

fn check(suite: &str, cases: &[Case]) -> anyhow::Result<()> {
    let Some(mut oracle) = Oracle::start(suite)? else { return Ok(()) };
    let mut differences = Vec::new();
    for (case, compared) in cases.iter().zip(compare(&mut oracle, cases)?) {
        differences.extend(compared.difference(case));
    }
    anyhow::ensure!(differences.is_empty(), "{} differences, the first: {}", differences.len(), differences[0]);
    Ok(())
}

#[test]
fn formats() -> anyhow::Result<()> {
    let text = |format: &str, text: &str| created(json!({"type": "string", "format": format}), json!(text));
    let mut cases: Vec<Case> =
        FORMATS.iter().flat_map(|(format, texts)| texts.iter().map(|case| text(format, case))).collect();
    // Texts of one format are near misses of another.
    for (format, _) in FORMATS {
        cases.extend(FORMATS.iter().flat_map(|(_, texts)| texts.iter().map(|case| text(format, case))));
    }
    check("formats", &cases)
}

#[test]
fn patterns() -> anyhow::Result<()> {
    let text = |pattern: &str, text: &str| created(json!({"type": "string", "pattern": pattern}), json!(text));
    let mut cases = Vec::new();
    for (pattern, _) in PATTERNS {
        cases.extend(PATTERNS.iter().flat_map(|(_, texts)| texts.iter().map(|case| text(pattern, case))));
    }
    check("patterns", &cases)
}

#[test]
fn ratcheting() -> anyhow::Result<()> {
    let keyed = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
        "items": {"type": "object", "properties": {"key": {"type": "string"}, "a": {"type": "string", "maxLength": 1}}},
    });
    let fields = json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1}, "b": {"type": "string"},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "maxProperties": 0},
        "map": {"type": "object", "maxProperties": 0, "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "maxItems": 0, "items": {"type": "string", "maxLength": 0}},
        "any": {"type": "object", "properties": {"x": {"type": "string"}}, "allOf": [{"properties": {"x": {"maxLength": 1}}}]},
    }});
    let mut cases = Vec::new();
    for (schema, new, old) in [
        (&fields, json!({"a": "long", "b": "2"}), json!({"a": "long", "b": "1"})),
        (&fields, json!({"a": "long"}), json!({"a": "other"})),
        (&fields, json!({"open": {"x": 1}}), json!({"open": {"x": 1}})),
        (&fields, json!({"map": {"x": "1"}, "b": "2"}), json!({"map": {"x": "1"}})),
        (&fields, json!({"list": ["a"], "b": "2"}), json!({"list": ["a"]})),
        (&fields, json!({"list": ["a", "b"], "b": "2"}), json!({"list": ["a"]})),
        (&fields, json!({"any": {"x": "long"}, "b": "2"}), json!({"any": {"x": "long"}})),
        (&keyed, json!([{"key": "1", "a": "long"}, {"key": "2"}]), json!([{"key": "1", "a": "long"}])),
        (&keyed, json!([{"key": "1", "a": "long"}]), json!([{"key": "2", "a": "long"}])),
        (&keyed, json!([{"key": "1", "a": "long"}, {"key": "1"}]), json!([{"key": "1"}, {"key": "1", "a": "long"}])),
        (&keyed, json!([{"a": "long"}]), json!([{"a": "long"}])),
    ] {
        cases.push(updated(schema.clone(), new, old));
    }
    check("ratcheting", &cases)
}

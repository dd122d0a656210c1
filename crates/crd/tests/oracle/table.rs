//! Cases by hand, keyword by keyword, and what random ones have found.

use rolewright_testkit::oracle::Oracle;
use rolewright_testkit::strategy::schema::{FORMATS, PATTERNS};
use serde_json::{Value, json};

use crate::ask::{Case, compare};

/// A new object whose `spec` has this schema and value.
#[expect(clippy::needless_pass_by_value, reason = "tables read better without borrows")]
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

#[test]
fn keywords() -> anyhow::Result<()> {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(3),
        json!(-7),
        json!(2.5),
        json!(4.0),
        json!(1e21),
        json!(3e38),
        json!(4e38),
        json!(i64::MAX),
        json!(2_147_483_648_i64),
        json!(""),
        json!("abc"),
        json!("\u{e9}\u{e9}\u{e9}"),
        json!([]),
        json!([1, 1]),
        json!(["a", "b", "c"]),
        json!([null, {}]),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x", "b": [1.5, {"<": null}]}),
    ];
    let mut schemas = vec![json!({})];
    for kind in ["array", "boolean", "integer", "number", "object", "string"] {
        for facets in [
            json!({}),
            json!({"nullable": true}),
            json!({"enum": ["abc", 3, 2.5, null, [1, 1], {"a": 1}, true]}),
            json!({"format": "int32", "maximum": 3e9, "minimum": 2.5}),
            json!({"format": "float", "maximum": 1e39}),
            json!({"format": "date"}),
            json!({"maximum": 3, "exclusiveMaximum": true, "minimum": 0, "exclusiveMinimum": true}),
            json!({"multipleOf": 0.5}),
            json!({"multipleOf": 2}),
            json!({"maxLength": 1, "maxItems": 1, "maxProperties": 1}),
            json!({"maxLength": 2, "maxItems": 2, "maxProperties": 0}),
            json!({"minLength": 3, "minItems": 3, "minProperties": 3, "uniqueItems": true}),
            json!({"pattern": "^b"}),
            json!({"required": ["a", "c"], "properties": {"a": {"type": "string"}}}),
            json!({"additionalProperties": {"type": "integer"}, "properties": {"b": {"type": "string"}}}),
            json!({"additionalProperties": false}),
            json!({"additionalProperties": true}),
            json!({"items": {"type": "string", "nullable": true}}),
            json!({"x-kubernetes-list-type": "set"}),
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}),
            json!({"anyOf": [{"minimum": 5}, {"maxLength": 1}, {"minItems": 2}]}),
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"maxLength": 1}]}),
            json!({"allOf": [{"minimum": 5}, {"maxLength": 1}], "not": {"minItems": 1}}),
            json!({"not": {}}),
            json!({"x-kubernetes-preserve-unknown-fields": true}),
        ] {
            let mut schema = facets.clone();
            schema["type"] = json!(kind);
            schemas.push(schema);
            schemas.push(facets);
        }
    }
    for facets in [
        json!({}),
        json!({"format": "date", "maximum": 2.5, "multipleOf": 0.5}),
        json!({"enum": ["a", "\u{3}"]}),
        json!({"nullable": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ] {
        let mut schema = facets;
        schema["x-kubernetes-int-or-string"] = json!(true);
        schemas.push(schema);
    }
    let mut cases = Vec::new();
    for schema in &schemas {
        cases.extend(values.iter().map(|value| created(schema.clone(), value.clone())));
    }
    check("keywords", &cases)
}

#[test]
fn what_random_cases_have_found() -> anyhow::Result<()> {
    let null = json!({
        "x-kubernetes-int-or-string": true, "nullable": true, "allOf": [{"enum": ["null"]}], "oneOf": [{"enum": [null]}],
    });
    let pod = json!([{"apiVersion": "v1", "kind": "Pod", "metadata": {"generation": -1, "unknown": {"x": 1}}}]);
    let embedded = json!({"type": "array", "default": pod, "items": {
        "type": "object", "x-kubernetes-embedded-resource": true, "properties": {"a": {"type": "string"}},
    }});
    let scaled = Case { scale: true, ..created(json!({"type": "number"}), json!(1e10)) };
    check("found", &[created(null, json!("")), created(embedded, json!(null)), scaled])
}

//! Schemas and objects that mean no good: everything ends soon, and nothing panics.

use serde_json::{Map, Value, json};

use crate::schema::Schema;

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// All that a schema does to an object.
fn run(schema: &Value, object: Value) -> usize {
    let schema = Schema::compile(schema);
    let mut object = members(object);
    schema.prune_and_tell(&mut object);
    schema.prune_nulls(&mut object);
    schema.apply_defaults(&mut object);
    schema.validate_update(&object, &object);
    schema.validate_lists(&object).len() + schema.validate(&object).len()
}

#[test]
fn nodes_are_small() {
    assert_eq!(size_of::<Schema>(), 32);
    assert_eq!(size_of::<(smol_str::SmolStr, Schema)>(), 56);
}

#[test]
fn any_json_is_a_schema_of_something() {
    for schema in [
        json!(null),
        json!([1]),
        json!({"type": 1, "properties": [], "items": [{}], "required": "x", "enum": {}, "default": null}),
        json!({"maximum": "x", "minLength": 1.5, "pattern": 3, "allOf": {}, "not": [], "format": []}),
        json!({"properties": {"a": null, "b": 1, "c": []}, "additionalProperties": 1}),
        json!({"x-kubernetes-list-type": "other", "x-kubernetes-list-map-keys": [1, null]}),
    ] {
        run(&schema, json!({"a": 1, "b": [null], "c": {"d": 1e300}}));
    }
}

#[test]
fn depth_is_no_danger() {
    let (mut schema, mut object) = (json!({"type": "string"}), json!(1));
    for _ in 0..120 {
        schema = json!({
            "type": "object", "properties": {"a": schema.clone()}, "anyOf": [{"required": ["a"]}],
        });
        object = json!({"a": object});
    }
    run(&schema, object.clone());
    run(&json!({"x-kubernetes-preserve-unknown-fields": true, "enum": [1]}), object.clone());
    run(&json!({"properties": {"a": {"additionalProperties": true, "type": "string"}}}), object);
}

#[test]
fn width_is_no_danger() {
    let properties: Map<String, Value> =
        (0..20_000).map(|i| (format!("name{i}"), json!({"type": "integer", "default": i}))).collect();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    assert_eq!(run(&schema, json!({"spec": {}})), 0);
    let wrong: Map<String, Value> = (0..20_000).map(|i| (format!("name{i}"), json!("x"))).collect();
    assert_eq!(run(&schema, json!({"spec": wrong})), 10_000, "no more faults than anybody reads");
}

#[test]
fn long_enumerations_are_searched_and_told_with_measure() {
    let values: Vec<String> = (0..20_000).map(|i| format!("value{i}")).collect();
    let items: Vec<&str> = std::iter::repeat_n("none of them", 20_000).collect();
    let schema = json!({"properties": {"spec": {"items": {"type": "string", "enum": values}}}});
    let faults = Schema::compile(&schema).validate(&members(json!({"spec": items})));
    let size: usize = faults.iter().map(|fault| fault.to_string().len()).sum();
    assert!((1..64).contains(&faults.len()) && size < 16 << 20, "{} faults, {size} bytes", faults.len());
}

#[test]
fn long_lists_are_compared_in_time() {
    let items: Vec<Value> = (0..50_000).map(|i| json!({"key": i, "other": "x"})).collect();
    let list = |kind: &str| {
        json!({"type": "array", "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": ["key"],
        "uniqueItems": true, "maxItems": 3, "items": {"type": "object", "properties": {"key": {"type": "integer"},
        "other": {"type": "string", "maxLength": 0}}}})
    };
    for kind in ["set", "map"] {
        run(&json!({"properties": {"spec": list(kind)}}), json!({"spec": items}));
    }
}

#[test]
fn patterns_that_go_back_elsewhere_do_not_here() {
    let text = format!("{}b", "a".repeat(100_000));
    let schema = json!({"properties": {"spec": {"type": "string", "pattern": "^(a+)+$"}}});
    assert_eq!(run(&schema, json!({"spec": text})), 1);
}

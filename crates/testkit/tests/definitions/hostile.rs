//! Definitions that are large, deep or full of faults end soon, and fail no worse than with an error.

use rolewright_crd::definition;
use rolewright_crd::{Columns, naming};
use rolewright_server::strategy::Object;
use rolewright_server::strategy::embedded::Metadata;
use serde_json::{Value, json};

use crate::base::{edit, single};
use crate::compare::typed;

fn judged(definition: &Value) -> usize {
    let mut object: Object = typed(definition);
    definition::prepare_create(&mut object);
    let faults = definition::validate(&object, &Metadata);
    let text: usize = faults.iter().map(|fault| fault.to_string().len()).sum();
    assert!(text < 64 << 20, "{text} bytes of errors");
    definition::validate_update(&object, &object, &Metadata);
    definition::canonicalize(&mut object, &Metadata);
    definition::warnings(&object, None);
    naming::check_structure(&mut object, "2026-01-01T00:00:00Z");
    faults.len()
}

fn with(pointer: &str, value: Value) -> Value {
    let mut definition = single();
    edit(&mut definition, pointer, value);
    definition
}

#[test]
fn wide_and_long_schemas_end() {
    let wide: Value =
        (0..20_000).map(|i| (format!("p{i}"), json!({"type": "string", "default": "x"}))).collect::<Object>().into();
    assert_eq!(judged(&with("P/wide", json!({"type": "object", "properties": wide}))), 0);
    let long = "n".repeat(400_000);
    let faulty: Value = (0..5_000).map(|i| (format!("p{i}"), json!({"default": {"x": 1}}))).collect::<Object>().into();
    assert!(judged(&with("P", json!({long: {"type": "object", "properties": faulty}}))) > 0);
    let keys: Vec<String> = (0..20_000).map(|i| format!("k{i}")).collect();
    let list = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
        "items": {"type": "object", "properties": {"a": {"type": "string"}}},
    });
    assert!(judged(&with("P/list", list)) > 0);
    let rules: Vec<Value> =
        (0..2_000).map(|i| json!({"rule": format!("self.a == '{i}'"), "fieldPath": ".gone"})).collect();
    let ruled = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": rules});
    assert!(judged(&with("P/ruled", ruled)) > 0);
    assert!(judged(&with("P/pattern", json!({"type": "string", "pattern": "(".repeat(500_000)}))) > 0);
}

#[test]
fn deep_schemas_end() {
    let mut deep = json!({"type": "string", "default": "x"});
    let mut clauses = json!({"minLength": 1});
    // As deep as a body may be nested.
    for i in 0..50 {
        deep = json!({"type": "object", "properties": {"a": deep}, "default": {}});
        clauses = if i % 2 == 0 { json!({"allOf": [clauses.clone(), clauses_end()]}) } else { json!({"not": clauses}) };
    }
    judged(&with("P/deep", deep));
    judged(&with("P/clauses", json!({"type": "string", "anyOf": [clauses]})));
}

fn clauses_end() -> Value {
    json!({"required": ["x"], "properties": {"gone": {"type": "string"}}})
}

#[test]
fn thousands_of_versions_and_columns_end() {
    let mut definition = single();
    let versions: Vec<Value> = (0..3_000)
        .map(|i| {
            let mut version = definition["spec"]["versions"][0].clone();
            version["name"] = json!(format!("v{}", i % 2_500));
            version["storage"] = json!(i == 0);
            version["deprecationWarning"] = json!("x");
            version["schema"] = json!({"openAPIV3Schema": {"type": "object", "title": format!("t{i}")}});
            version
        })
        .collect();
    definition["spec"]["versions"] = versions.into();
    assert!(judged(&definition) > 0);
    let columns: Vec<Value> =
        (0..20_000).map(|i| json!({"name": format!("c{i}"), "type": "odd", "jsonPath": ".spec..x..x..x..x"})).collect();
    let definition = with("V/additionalPrinterColumns", columns.into());
    assert!(judged(&definition) > 0);
    let compiled = Columns::compile(&definition["spec"]["versions"][0]);
    let object = json!({"metadata": {"name": "a"}, "spec": {"list": [1, 2, [3, {"x": [4]}]]}});
    assert_eq!(compiled.cells(object.as_object().unwrap(), |_| None).len(), 20_001);
}

#[test]
fn names_of_thousands_of_definitions_are_accepted_one_by_one() {
    let mut names = naming::Names::default();
    for i in 0..5_000 {
        let mut definition = single();
        for (pointer, value) in [
            ("/spec/names/plural", json!(format!("things{i}"))),
            ("/spec/names/singular", json!(format!("thing{i}"))),
            ("/spec/names/kind", json!(format!("Thing{i}"))),
            ("/spec/names/shortNames", json!([format!("t{}", i / 2)])),
        ] {
            edit(&mut definition, pointer, value);
        }
        let mut object = typed(&definition);
        assert!(naming::accept_names(&mut object, &names, "2026-01-01T00:00:00Z"));
        let accepted = object["status"]["conditions"][0]["status"] == "True";
        assert_eq!(accepted, i % 2 == 0, "{i}");
        names.insert(&object);
    }
}

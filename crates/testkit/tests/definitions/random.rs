//! Definitions changed at random places by random values.

use serde_json::{Map, Value, json};

use crate::base::{double, edit, single};
use crate::compare::Item;

/// A source of chance that repeats with its seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit.max(1) as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// A write of a random definition.
pub(crate) fn item(seed: u64) -> Item {
    let mut chance = Chance(seed);
    let mut old = if chance.one_in(2) { single() } else { double() };
    let rounds = chance.below(3);
    change(&mut old, rounds, &mut chance);
    if chance.one_in(2) {
        let rounds = 1 + chance.below(3);
        change(&mut old, rounds, &mut chance);
        return Item::create(old).about(format!("seed {seed}"));
    }
    edit(&mut old, "/metadata/generation", json!(2));
    edit(&mut old, "/metadata/resourceVersion", json!("5"));
    edit(&mut old, "/metadata/uid", json!("8a8e1bd1-6c2e-4f0a-9d5c-1f4f9d8b7c6a"));
    let established = chance.pick(&["True", "False"]);
    edit(
        &mut old,
        "/status",
        json!({
            "acceptedNames": {"plural": "widgets", "kind": "Widget"}, "storedVersions": ["v1"],
            "conditions": [{"type": "Established", "status": established, "lastTransitionTime": "2026-01-02T03:04:05Z"}],
        }),
    );
    let mut new = old.clone();
    let rounds = chance.below(4);
    change(&mut new, rounds, &mut chance);
    let part = if chance.one_in(10) { "status" } else { "" };
    Item::new(new, Some(old), part).about(format!("seed {seed}"))
}

fn change(definition: &mut Value, rounds: usize, chance: &mut Chance) {
    for _ in 0..rounds {
        if chance.one_in(4) {
            let (pointer, values) = chance.pick(&places());
            edit(definition, pointer, chance.pick(&values));
            continue;
        }
        let mut schemas = Vec::new();
        for i in 0..definition["spec"]["versions"].as_array().map_or(0, Vec::len) {
            let root = format!("/spec/versions/{i}/schema/openAPIV3Schema");
            if let Some(schema) = definition.pointer(&root) {
                find_schemas(schema, &root, &mut schemas);
            }
        }
        if schemas.is_empty() {
            continue;
        }
        let at = chance.pick(&schemas);
        let Some(Value::Object(schema)) = definition.pointer_mut(&at) else { continue };
        change_schema(schema, chance);
    }
}

fn find_schemas(schema: &Value, at: &str, found: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    found.push(at.to_owned());
    for (key, value) in members {
        let at = format!("{at}/{key}");
        match (key.as_str(), value) {
            ("properties" | "definitions" | "patternProperties", Value::Object(entries)) => {
                for (name, entry) in entries {
                    find_schemas(entry, &format!("{at}/{name}"), found);
                }
            }
            ("items" | "not" | "additionalProperties", value) => find_schemas(value, &at, found),
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                for (i, item) in list.iter().enumerate() {
                    find_schemas(item, &format!("{at}/{i}"), found);
                }
            }
            _ => {}
        }
    }
}

fn change_schema(schema: &mut Map<String, Value>, chance: &mut Chance) {
    if chance.one_in(4) && !schema.is_empty() {
        let keys: Vec<String> = schema.keys().cloned().collect();
        schema.remove(&chance.pick(&keys));
        return;
    }
    if chance.one_in(4) {
        let name = chance.pick(&["a", "b", "name", "metadata", "kind", "spec"]);
        let property = some_schema(chance, 2);
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.insert(name.to_owned(), property);
        }
        return;
    }
    let (key, value) = keyword(chance, 2);
    schema.insert(key.to_owned(), value);
}

fn some_schema(chance: &mut Chance, depth: usize) -> Value {
    let mut schema = Map::new();
    if !chance.one_in(6) {
        schema.insert("type".to_owned(), kind(chance));
    }
    for _ in 0..chance.below(3) {
        let (key, value) = keyword(chance, depth);
        schema.insert(key.to_owned(), value);
    }
    if schema.get("type") == Some(&json!("array")) && !schema.contains_key("items") && !chance.one_in(4) {
        schema.insert("items".to_owned(), json!({"type": "string"}));
    }
    Value::Object(schema)
}

fn kind(chance: &mut Chance) -> Value {
    let kinds = ["string", "integer", "number", "boolean", "object", "array", "object", "array", "null", "odd"];
    chance.pick(&kinds).into()
}

fn value(chance: &mut Chance) -> Value {
    chance.pick(&[
        json!("red"),
        json!(1),
        json!(2.5),
        json!(true),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x", "name": "n"}),
        json!(["a", "a"]),
        json!([1, {"name": "n"}]),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}}),
        json!({"metadata": {"x": 1, "name": 2}}),
    ])
}

fn keyword(chance: &mut Chance, depth: usize) -> (&'static str, Value) {
    let keywords: &[&'static str] = &[
        "type",
        "description",
        "title",
        "format",
        "default",
        "default",
        "nullable",
        "maximum",
        "minimum",
        "exclusiveMaximum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "enum",
        "maxProperties",
        "minProperties",
        "required",
        "items",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "additionalProperties",
        "x-kubernetes-list-type",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "example",
        "externalDocs",
        "id",
        "$ref",
        "$schema",
        "definitions",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "x-kubernetes-validations",
        "x-kubernetes-validations",
    ];
    let key = chance.pick(keywords);
    let schemas = |chance: &mut Chance| {
        let count = 1 + chance.below(2);
        (0..count).map(|_| if depth == 0 { json!({"minLength": 1}) } else { some_clause(chance, depth - 1) }).collect()
    };
    let value = match key {
        "type" => kind(chance),
        "description" | "title" | "id" | "$ref" | "$schema" => json!("text"),
        "format" => chance.pick(&[json!("int32"), json!("date-time"), json!("odd"), json!("ipv4"), json!("byte")]),
        "default" | "example" => value(chance),
        "nullable" | "exclusiveMaximum" | "x-kubernetes-int-or-string" | "x-kubernetes-embedded-resource" => {
            json!(true)
        }
        "uniqueItems" => json!(!chance.one_in(2)),
        "x-kubernetes-preserve-unknown-fields" => json!(!chance.one_in(4)),
        "maximum" | "minimum" | "multipleOf" => chance.pick(&[json!(0), json!(1.5), json!(-3), json!(100)]),
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
            chance.pick(&[json!(0), json!(1), json!(3), json!(-1)])
        }
        "pattern" => chance.pick(&[json!("^r"), json!("[a-z"), json!("a{2,1}"), json!("(?i)x|y"), json!("\\d+")]),
        "enum" => chance.pick(&[json!(["red", "blue"]), json!([1, 2]), json!([null, "red"]), json!([{"a": 1}])]),
        "required" => chance.pick(&[json!(["name"]), json!(["a", "b"]), json!(["size"])]),
        "items" if chance.one_in(8) => json!([{"type": "string"}]),
        "items" | "additionalProperties" if depth > 0 => {
            if key == "additionalProperties" && chance.one_in(3) {
                json!(!chance.one_in(2))
            } else {
                some_schema(chance, depth - 1)
            }
        }
        "items" | "additionalProperties" => json!({"type": "string"}),
        "allOf" | "oneOf" | "anyOf" => schemas(chance),
        "not" => some_clause(chance, depth.saturating_sub(1)),
        "x-kubernetes-list-type" => chance.pick(&[json!("map"), json!("set"), json!("atomic"), json!("odd")]),
        "x-kubernetes-list-map-keys" => chance.pick(&[json!(["name"]), json!(["a", "a"]), json!(["gone"])]),
        "x-kubernetes-map-type" => chance.pick(&[json!("atomic"), json!("granular"), json!("odd")]),
        "x-kubernetes-validations" => chance.pick(&[
            json!([{"rule": "true"}]),
            json!([{"rule": "self == oldSelf"}]),
            json!([{"rule": "self.a == 'x'", "fieldPath": ".a"}]),
            json!([{"rule": "size(self) > 2", "message": "m"}, {"rule": "self > 1", "reason": "FieldValueInvalid"}]),
            json!([{"rule": "self.all(x, x == 'a')", "messageExpression": "string(size(self))"}]),
        ]),
        "externalDocs" => json!({"url": "u"}),
        "dependencies" => chance.pick(&[json!({"a": ["b"]}), json!({"a": {"type": "odd"}})]),
        "additionalItems" => json!(chance.one_in(2)),
        _ => json!({"a": {"type": "string"}}),
    };
    (key, value)
}

/// Mostly conditions, as they may stand below `allOf`.
fn some_clause(chance: &mut Chance, depth: usize) -> Value {
    if chance.one_in(4) {
        return some_schema(chance, depth);
    }
    chance.pick(&[
        json!({"required": ["name"]}),
        json!({"minLength": 2, "pattern": "^a"}),
        json!({"properties": {"spec": {"required": ["x"]}}}),
        json!({"properties": {"a": {"maximum": 3}}}),
        json!({"items": {"maxLength": 3}}),
        json!({"type": "integer"}),
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"enum": ["red"]}),
    ])
}

fn places() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("/spec/group", vec![json!("example.com"), json!("x.k8s.io"), json!("Bad"), json!("plain")]),
        ("/spec/scope", vec![json!("Cluster"), json!("Odd"), Value::Null]),
        ("/spec/preserveUnknownFields", vec![json!(true), json!(false)]),
        ("/spec/names/plural", vec![json!("widgets"), json!("Widgets"), json!("gadgets"), Value::Null]),
        ("/spec/names/singular", vec![json!("widget"), json!("w w")]),
        ("/spec/names/kind", vec![json!("Widget"), json!("Gadget"), json!("9"), Value::Null]),
        ("/spec/names/listKind", vec![json!("Widget"), json!("List")]),
        ("/spec/names/shortNames", vec![json!(["a"]), json!(["A", "b"]), Value::Null]),
        ("/spec/names/categories", vec![json!(["all"]), json!(["-"])]),
        (
            "/metadata/annotations/api-approved.kubernetes.io",
            vec![json!("https://a/b"), json!("no"), json!("unapproved")],
        ),
        ("/metadata/labels", vec![json!({"a": "b"}), json!({"a": "b c"})]),
        ("V/name", vec![json!("v1"), json!("v2"), json!("V"), json!("v1alpha1")]),
        ("V/served", vec![json!(true), json!(false)]),
        ("V/storage", vec![json!(true), json!(false)]),
        ("/spec/versions/1/storage", vec![json!(true), json!(false)]),
        ("/spec/versions/1", vec![Value::Null]),
        ("V/deprecated", vec![json!(true)]),
        ("V/deprecationWarning", vec![json!("old"), json!("a\u{7}"), json!("")]),
        ("V/schema", vec![Value::Null, json!({})]),
        (
            "V/subresources",
            vec![json!({"status": {}}), json!({"scale": {"specReplicasPath": ".spec.a", "statusReplicasPath": "x"}})],
        ),
        (
            "V/additionalPrinterColumns",
            vec![
                json!([{"name": "A", "type": "odd", "jsonPath": "x"}]),
                json!([{"name": "A", "type": "string", "jsonPath": ".x"}]),
            ],
        ),
        (
            "V/selectableFields",
            vec![json!([{"jsonPath": ".spec.color"}]), json!([{"jsonPath": ".spec.gone"}, {"jsonPath": ".spec"}])],
        ),
        (
            "/spec/conversion",
            vec![
                json!({"strategy": "None"}),
                json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}}),
                json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "a", "namespace": "b", "path": "c"}}, "conversionReviewVersions": ["v3"]}}),
            ],
        ),
        ("/status/storedVersions", vec![json!(["v1", "v0"]), json!(["v1alpha1"])]),
        ("/status/acceptedNames/kind", vec![json!("x y")]),
    ]
}

//! Each rule about definitions, broken and kept.

#![expect(clippy::needless_pass_by_value, clippy::too_many_lines, reason = "a table, not a program")]

use serde_json::{Value, json};

use crate::base::{double, edit, single};
use crate::compare::Item;

type Edits = Vec<(&'static str, Value)>;

/// All writes.
pub(crate) fn items() -> Vec<Item> {
    let mut items = vec![Item::create(single()), Item::create(double())];
    for edits in fields().into_iter().chain(schemas()) {
        for base in [single(), double()] {
            items.push(Item::create(edited(base, &edits)).about(format!("create {}", told(&edits))));
        }
    }
    for (old, new) in updates() {
        for base in [single(), double()] {
            for established in [false, true] {
                items.push(update(&base, &old, &new, established, ""));
            }
        }
    }
    for edits in statuses() {
        items.push(update(&single(), &vec![], &edits, true, "status"));
        items.push(update(&single(), &edits, &vec![], true, ""));
    }
    // What is refused to new definitions may be kept by old ones, or not.
    for edits in fields().into_iter().chain(schemas()) {
        let also = vec![("/metadata/labels", json!({"a": "b"}))];
        items.push(update(&single(), &edits, &[edits.clone(), also.clone()].concat(), true, ""));
        items.push(update(&double(), &edits, &[edits.clone(), also].concat(), false, ""));
        items.push(update(&single(), &vec![], &edits, true, ""));
    }
    items
}

fn edited(mut base: Value, edits: &Edits) -> Value {
    for (pointer, value) in edits {
        edit(&mut base, pointer, value.clone());
    }
    base
}

fn update(base: &Value, old: &Edits, new: &Edits, established: bool, subresource: &str) -> Item {
    let mut stored = base.clone();
    edit(&mut stored, "/metadata/generation", json!(3));
    edit(&mut stored, "/metadata/resourceVersion", json!("7"));
    edit(&mut stored, "/metadata/uid", json!("8a8e1bd1-6c2e-4f0a-9d5c-1f4f9d8b7c6a"));
    let status = if established { "True" } else { "False" };
    edit(
        &mut stored,
        "/status",
        json!({
            "acceptedNames": {"plural": "widgets", "kind": "Widget"}, "storedVersions": ["v1"],
            "conditions": [{"type": "Established", "status": status, "lastTransitionTime": "2026-01-02T03:04:05Z"}],
        }),
    );
    let about = format!("update {subresource} {established} from {} to {}", told(old), told(new));
    Item::new(edited(stored.clone(), new), Some(edited(stored, old)), subresource).about(about)
}

fn told(edits: &Edits) -> String {
    edits.iter().map(|(pointer, value)| format!("{pointer} = {value}")).collect::<Vec<_>>().join("; ")
}

fn fields() -> Vec<Edits> {
    let long = "a".repeat(64);
    vec![
        vec![("/metadata/name", json!("other.example.com"))],
        vec![("/metadata/name", json!("Widgets.example.com"))],
        vec![("/metadata/name", json!(null)), ("/metadata/generateName", json!("w-"))],
        vec![("/metadata/finalizers", json!(["plain"]))],
        vec![("/metadata/namespace", json!("default"))],
        vec![("/metadata/labels", json!({"a b": "c"}))],
        vec![("/metadata/generation", json!(9))],
        vec![("/spec/group", json!(null))],
        vec![("/spec/group", json!("example"))],
        vec![("/spec/group", json!("Example.com"))],
        vec![("/spec/group", json!(format!("{}.com", "a.".repeat(130))))],
        vec![("/spec/scope", json!(null))],
        vec![("/spec/scope", json!("Global"))],
        vec![("/spec/scope", json!("Cluster"))],
        vec![("/spec/preserveUnknownFields", json!(true))],
        vec![("/spec/preserveUnknownFields", json!(false))],
        vec![("/spec/preserveUnknownFields", json!(true)), ("P", json!({"a": {"type": "string"}}))],
        vec![("/spec/preserveUnknownFields", json!(true)), ("S", json!({"properties": {"a": {"type": "string"}}}))],
        vec![("/spec/preserveUnknownFields", json!(true)), ("/spec/conversion", webhook(json!({"url": "https://a"})))],
        vec![("/spec/names/plural", json!(null))],
        vec![("/spec/names/plural", json!("Widgets"))],
        vec![("/spec/names/plural", json!(long.clone()))],
        vec![("/spec/names/singular", json!("a_b"))],
        vec![("/spec/names/singular", json!("thing"))],
        vec![("/spec/names/kind", json!(null))],
        vec![("/spec/names/kind", json!("1Widget"))],
        vec![("/spec/names/kind", json!("Wid get"))],
        vec![("/spec/names/kind", json!(long.to_uppercase()))],
        vec![("/spec/names/kind", json!("\u{130}stanbul"))],
        vec![("/spec/names/listKind", json!("Widget"))],
        vec![("/spec/names/listKind", json!("Widget.List"))],
        vec![("/spec/names/listKind", json!("Widgets"))],
        vec![("/spec/names/shortNames", json!(["a", "B", "", "a-"]))],
        vec![("/spec/names/categories", json!(["all", "ALL", "1"]))],
        vec![("/spec/names/categories", json!([]))],
        vec![("/spec/names", json!({}))],
        vec![("/spec/versions", json!([]))],
        vec![("/spec/versions", json!(null))],
        vec![("V/name", json!("V1"))],
        vec![("V/name", json!(""))],
        vec![("V/name", json!("v1.1"))],
        vec![("V/name", json!("v1alpha1"))],
        vec![("V/storage", json!(false))],
        vec![("V/served", json!(false))],
        vec![("/spec/versions/1/storage", json!(true))],
        vec![("V/deprecated", json!(true))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("use v2"))],
        vec![("V/deprecationWarning", json!("use v2"))],
        vec![("V/deprecationWarning", json!(""))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!(""))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("a".repeat(257)))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("é".repeat(128)))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("a\nb"))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("ab\u{a0}c"))],
        vec![("V/deprecated", json!(true)), ("V/deprecationWarning", json!("\u{7f}"))],
        vec![("V/schema", json!(null))],
        vec![("V/schema", json!({}))],
        vec![("V/schema", json!({"openAPIV3Schema": {}}))],
        vec![("V/additionalPrinterColumns", json!([{}]))],
        vec![("V/additionalPrinterColumns", json!([{"name": "A", "type": "text", "jsonPath": ".a"}]))],
        vec![("V/additionalPrinterColumns", json!([{"name": "A", "type": "string", "jsonPath": "a"}]))],
        vec![("V/additionalPrinterColumns", json!([{"name": "A", "type": "string", "jsonPath": "."}]))],
        vec![(
            "V/additionalPrinterColumns",
            json!([{"name": "A", "type": "date", "jsonPath": ".a[*].b", "priority": -1}]),
        )],
        vec![(
            "V/additionalPrinterColumns",
            json!([{"name": "A", "type": "integer", "format": "int", "jsonPath": ".a", "description": "d"}]),
        )],
        vec![(
            "V/additionalPrinterColumns",
            json!([{"name": "A", "type": "number", "format": "double", "jsonPath": ".a", "priority": 1}]),
        )],
        vec![("V/subresources", json!({}))],
        vec![("V/subresources", json!({"status": {}}))],
        vec![("V/subresources", json!({"scale": {}}))],
        vec![("V/subresources", scale("spec.replicas", ".status.replicas"))],
        vec![("V/subresources", scale(".spec.replicas", ".status.replicas"))],
        vec![("V/subresources", scale(".status.replicas", ".spec.replicas"))],
        vec![("V/subresources", scale(".spec", ".status"))],
        vec![("V/subresources", scale(".", "x"))],
        vec![
            ("V/subresources", scale(".spec.replicas", ".status.replicas")),
            ("V/subresources/scale/labelSelectorPath", json!(".metadata.labels")),
        ],
        vec![
            ("V/subresources", scale(".spec.replicas", ".status.replicas")),
            ("V/subresources/scale/labelSelectorPath", json!("labels")),
        ],
        vec![
            ("V/subresources", scale(".spec.replicas", ".status.replicas")),
            ("V/subresources/scale/labelSelectorPath", json!("")),
        ],
        vec![
            ("V/subresources", scale(".spec.replicas", ".status.replicas")),
            ("V/subresources/scale/labelSelectorPath", json!(".status.selector")),
        ],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.color"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.color"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ""}, {"jsonPath": "."}, {"jsonPath": "spec"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.nothing"}, {"jsonPath": ".spec.labels.a"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.labels"}, {"jsonPath": ".metadata"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec['color']"}, {"jsonPath": ".spec.tags[0]"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.color."}, {"jsonPath": ".spec..color"}]))],
        vec![("V/selectableFields", json!([{"jsonPath": ".spec.size"}, {"jsonPath": ".spec.port"}]))],
        vec![("V/selectableFields", many_fields(9)), ("P", many_properties(9))],
        vec![("V/selectableFields", many_fields(8)), ("P", many_properties(9))],
        vec![("/spec/conversion", json!({"strategy": "None"}))],
        vec![("/spec/conversion", json!({"strategy": "Other"}))],
        vec![("/spec/conversion", json!({"strategy": ""}))],
        vec![("/spec/conversion", json!({"strategy": "None", "webhook": {}}))],
        vec![("/spec/conversion", json!({"strategy": "None", "webhook": {"conversionReviewVersions": []}}))],
        vec![("/spec/conversion", json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}))],
        vec![(
            "/spec/conversion",
            json!({"strategy": "None", "webhook": {"clientConfig": {"url": "https://a"}, "conversionReviewVersions": ["v1"]}}),
        )],
        vec![("/spec/conversion", json!({"strategy": "Webhook"}))],
        vec![("/spec/conversion", json!({"strategy": "Webhook", "webhook": {}}))],
        vec![("/spec/conversion", webhook(json!({})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a", "service": {"name": "a", "namespace": "b"}})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://example.com:443/convert"})))],
        vec![("/spec/conversion", webhook(json!({"url": "http://example.com"})))],
        vec![("/spec/conversion", webhook(json!({"url": ""})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://u:p@example.com?q=1#f"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://[::1]:80/x"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://[::1"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a:b"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a b"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a/%zz"})))],
        vec![("/spec/conversion", webhook(json!({"url": "://a"})))],
        vec![("/spec/conversion", webhook(json!({"url": "a:b/c"})))],
        vec![("/spec/conversion", webhook(json!({"url": "1a:b/c"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a\u{1}"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https:///path"})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://us er@a"})))],
        vec![("/spec/conversion", webhook(json!({"url": "HTTPS://a#%41"})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "b"}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "", "namespace": "b", "port": 0}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "", "port": 70000}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "b", "path": "x"}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "b", "path": "//"}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "b", "path": "/a//B/"}})))],
        vec![("/spec/conversion", webhook(json!({"service": {"name": "a", "namespace": "b", "path": "/a/b/"}})))],
        vec![("/spec/conversion", webhook(json!({"url": "https://a", "caBundle": "Zm9v"})))],
        vec![
            ("/spec/conversion", webhook(json!({"url": "https://a"}))),
            ("/spec/conversion/webhook/conversionReviewVersions", json!(["v2", "v2", "V1"])),
        ],
        vec![
            ("/spec/conversion", webhook(json!({"url": "https://a"}))),
            ("/spec/conversion/webhook/conversionReviewVersions", json!(["v2"])),
        ],
        vec![
            ("/spec/conversion", webhook(json!({"url": "https://a"}))),
            ("/spec/conversion/webhook/conversionReviewVersions", json!(["v1beta1", "v2"])),
        ],
        protected("widgets.k8s.io", json!(null)),
        protected("a.kubernetes.io", json!("")),
        protected("kubernetes.io", json!("maybe")),
        protected("k8s.io", json!("unapproved, because")),
        protected("x.k8s.io", json!("https://github.com/kubernetes/kubernetes/pull/1")),
        protected("x.k8s.io", json!("/path/only")),
        protected("x.k8s.io", json!("https:opaque")),
        protected("x.k8s.io", json!("https://[::1/x")),
        protected("xk8s.io", json!(null)),
    ]
}

fn protected(group: &'static str, annotation: Value) -> Edits {
    vec![
        ("/spec/group", json!(group)),
        ("/metadata/name", json!(format!("widgets.{group}"))),
        ("/metadata/annotations/api-approved.kubernetes.io", annotation),
    ]
}

fn webhook(client: Value) -> Value {
    json!({"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}})
}

fn scale(spec: &str, status: &str) -> Value {
    json!({"scale": {"specReplicasPath": spec, "statusReplicasPath": status}})
}

fn many_fields(count: usize) -> Value {
    (0..count).map(|i| json!({"jsonPath": format!(".spec.p{i}")})).collect()
}

fn many_properties(count: usize) -> Value {
    (0..count).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>().into()
}

fn schemas() -> Vec<Edits> {
    let status = || ("V/subresources", json!({"status": {}}));
    let mut all: Vec<Edits> = vec![
        // At the root.
        vec![("S/type", json!(null))],
        vec![("S/type", json!("array"))],
        vec![("S/type", json!("string")), status()],
        vec![("S/nullable", json!(true))],
        vec![("S/additionalProperties", json!(true))],
        vec![("S/additionalProperties", json!(false)), status()],
        vec![("S/additionalProperties", json!({"type": "string"}))],
        vec![("S/default", json!({"spec": {"size": 1}})), status()],
        vec![("S/allOf", json!([{"required": ["spec"]}])), status()],
        vec![("S/allOf", json!([{"required": ["spec"]}]))],
        vec![("S/x-kubernetes-preserve-unknown-fields", json!(true)), status()],
        vec![("S/x-kubernetes-map-type", json!("atomic")), status()],
        vec![("S/maxProperties", json!(3)), status()],
        vec![("S/format", json!("x")), ("S/title", json!("t")), ("S/description", json!("<d>")), status()],
        vec![("S/externalDocs", json!({"url": "u", "description": "d"})), ("S/example", json!({"a": 1.5})), status()],
        vec![("S/enum", json!([1, "a", null, {"b": [1.0]}])), ("S/not", json!({"required": ["x"]})), status()],
        vec![
            ("S/oneOf", json!([{"items": {"minimum": 1.5}}, {"properties": {"a": {"maxLength": 3}}}])),
            ("S/dependencies", json!({"a": ["b"], "c": {"type": "object"}, "d": null})),
            ("S/definitions", json!({"x": {"type": "string"}})),
            ("S/items", json!([{"type": "string"}])),
            ("S/additionalItems", json!(false)),
            ("S/patternProperties", json!({"^a": {"pattern": "b"}})),
            status(),
        ],
        vec![("S/id", json!("x")), status()],
        vec![("S/$schema", json!("x"))],
        vec![("S/$schema", json!("x")), status()],
        vec![("S/$ref", json!("#/x"))],
        vec![("S/$ref", json!(""))],
        vec![("S/properties/kind/type", json!("integer"))],
        vec![("S/properties/apiVersion", json!({"x-kubernetes-int-or-string": true}))],
        vec![("S/properties/metadata/type", json!("string"))],
        vec![("S/properties/metadata/description", json!("d"))],
        vec![("S/properties/metadata/properties", json!({"name": {"type": "string", "pattern": "^a"}}))],
        vec![(
            "S/properties/metadata/properties",
            json!({"generateName": {"type": "string"}, "name": {"type": "string", "maxLength": 3}}),
        )],
        vec![("S/properties/metadata/properties", json!({"labels": {"type": "object"}}))],
        vec![("S/properties/metadata/properties", json!({"name": {"type": "string"}, "labels": {"type": "object"}}))],
        vec![("S/properties/metadata/required", json!(["name"]))],
        vec![("S/properties/metadata/default", json!({"name": "a"}))],
        vec![("S/properties/metadata/properties", json!({"name": {"type": "string", "default": "x"}}))],
        vec![("S/properties/kind/default", json!("Widget"))],
        vec![("S/properties/apiVersion/default", json!("example.com/v1"))],
        vec![("S/properties/metadata/additionalProperties", json!(false))],
        vec![("S/properties/metadata/items", json!([]))],
        vec![("S/properties/metadata/x-kubernetes-preserve-unknown-fields", json!(true))],
        vec![("S/properties/metadata/x-kubernetes-embedded-resource", json!(true))],
        vec![("S/allOf", json!([{"properties": {"metadata": {"required": ["name"]}}}]))],
        vec![(
            "S/anyOf",
            json!([{"properties": {"spec": {"required": ["a"]}}}, {"properties": {"other": {"minimum": 1}}}]),
        )],
        vec![("S/not", json!({"items": {"minimum": 1}, "properties": {"spec": {"properties": {"zzz": {}}}}}))],
        vec![("S/oneOf", json!([{"allOf": [{"anyOf": [{"properties": {"gone": {"maximum": 2}}}]}]}]))],
        // Types.
        vec![("P/x", json!({}))],
        vec![("P/x", json!({"type": "null"}))],
        vec![("P/x", json!({"type": "text"}))],
        vec![("P/x", json!({"type": "array"}))],
        vec![("P/x", json!({"type": "array", "items": []}))],
        vec![("P/x", json!({"type": "array", "items": {}}))],
        vec![("P/x", json!({"type": "array", "items": [{"type": "string"}, {}]}))],
        vec![("P/x", json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}))],
        vec![("P/x", json!({"type": "object", "additionalProperties": {}}))],
        vec![("P/x", json!({"type": "object", "additionalProperties": true}))],
        vec![(
            "P/x",
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}),
        )],
        vec![("P/x", json!({"type": "object", "additionalProperties": true, "properties": {"a": {"type": "string"}}}))],
        vec![(
            "P/x",
            json!({"type": "object", "additionalProperties": {"type": "string"}, "properties": {"a": {"type": "string"}}}),
        )],
        vec![("P/x", json!({"type": "string", "nullable": true, "maxLength": 3, "minLength": 4}))],
        vec![("P/x", json!({"x-kubernetes-preserve-unknown-fields": true}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true}))],
        vec![("P/x", json!({"type": "string", "x-kubernetes-int-or-string": true}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}))],
        vec![(
            "P/x",
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 3}]}),
        )],
        vec![(
            "P/x",
            json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"minimum": 1}]}),
        )],
        vec![(
            "P/x",
            json!({"x-kubernetes-int-or-string": true, "allOf": [{"minimum": 1}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}]}),
        )],
        vec![("P/x", json!({"type": "string", "anyOf": [{"type": "integer"}, {"type": "string"}]}))],
        vec![("P/x", json!({"x-kubernetes-embedded-resource": true}))],
        vec![("P/x", json!({"type": "string", "x-kubernetes-embedded-resource": true}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-embedded-resource": true}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-embedded-resource": true, "additionalProperties": true}))],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "string"}, "kind": {"type": "object"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
        )],
        // Conditions.
        vec![(
            "P/x",
            json!({"type": "string", "allOf": [{"type": "string", "title": "t", "description": "d", "nullable": true, "default": "a"}]}),
        )],
        vec![(
            "P/x",
            json!({"type": "string", "not": {"x-kubernetes-int-or-string": true, "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}),
        )],
        vec![(
            "P/x",
            json!({"type": "array", "items": {"type": "string"}, "oneOf": [{"x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"], "x-kubernetes-map-type": "atomic"}]}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "anyOf": [{"additionalProperties": true}, {"additionalProperties": false}, {"additionalProperties": {"minLength": 1}}]}),
        )],
        vec![("P/x", json!({"type": "object", "anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}))],
        vec![(
            "P/x",
            json!({"type": "object", "allOf": [{"properties": {"metadata": {}, "y": {"type": "string"}}, "items": {"title": "t"}}]}),
        )],
        vec![("P/x", json!({"type": "string", "pattern": "[a"}))],
        vec![("P/x", json!({"type": "string", "anyOf": [{"pattern": "(?=a)"}, {"pattern": "^[a-z]+$"}]}))],
        // What is not supported.
        vec![(
            "P/x",
            json!({"type": "object", "id": "i", "$ref": "r", "definitions": {"d": {"type": "zzz"}}, "dependencies": {"a": {"uniqueItems": true}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "patternProperties": {"a": {"type": "string"}}, "additionalItems": true}),
        )],
        vec![("P/x", json!({"type": "object", "$schema": "s"}))],
        vec![("P/x", json!({"type": "string", "format": "strange"}))],
        vec![
            ("P/x", json!({"type": "integer", "format": "date"})),
            ("P/y", json!({"type": "string", "format": "date-time"})),
        ],
        vec![
            ("P/x", json!({"type": "number", "format": "double"})),
            ("P/y", json!({"type": "object", "format": "int32"})),
        ],
        vec![("P/x", json!({"type": "string", "allOf": [{"format": "k8s-short-name"}, {"format": "k8s-name"}]}))],
        // Lists and maps.
        vec![("P/x", json!({"type": "string", "x-kubernetes-map-type": "atomic"}))],
        vec![("P/x", json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic"}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-map-type": "set"}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-map-type": "granular"}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-map-type": ""}))],
        vec![("P/x", json!({"type": "object", "x-kubernetes-list-type": "set"}))],
        vec![("P/x", json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-list-type": "map"}))],
        list(json!({"x-kubernetes-list-type": "ordered"})),
        list(json!({"x-kubernetes-list-type": "atomic"})),
        list(json!({"x-kubernetes-list-type": "set", "items": {"type": "object"}})),
        list(json!({"x-kubernetes-list-type": "set", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}})),
        list(json!({"x-kubernetes-list-type": "set", "items": {"type": "array", "items": {"type": "string"}}})),
        list(
            json!({"x-kubernetes-list-type": "set", "items": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}),
        ),
        list(json!({"x-kubernetes-list-type": "set", "items": {"type": "string", "nullable": true}})),
        list(json!({"x-kubernetes-list-map-keys": ["a"]})),
        list(json!({"x-kubernetes-list-map-keys": ["a"], "x-kubernetes-list-type": "set"})),
        list(json!({"x-kubernetes-list-type": "map"})),
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]})),
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": null})),
        list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": []})),
        list(
            json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": [{"type": "object"}]}),
        ),
        map_list(&["a"], json!({"a": {"type": "string"}})),
        map_list(&["a"], json!({"a": {"type": "string", "default": "x"}})),
        map_list(&["a"], json!({"a": {"type": "string", "default": "x", "nullable": true}})),
        map_list(&["a", "a"], json!({"a": {"type": "string", "default": "x"}})),
        map_list(&["a", "b"], json!({"a": {"type": "array", "items": {"type": "string"}}})),
        map_list(&["a"], json!({"a": {"type": "object"}})),
        vec![(
            "P/x",
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "nullable": true, "required": ["a"], "properties": {"a": {"type": "string"}}}}),
        )],
        // Rules, as texts.
        rule(json!({})),
        rule(json!({"rule": " "})),
        rule(json!({"rule": "true", "message": " "})),
        rule(json!({"rule": "true", "message": "a\nb"})),
        rule(json!({"rule": "true ||\n true"})),
        rule(json!({"rule": "true ||\n true", "message": "m"})),
        rule(json!({"rule": "true", "messageExpression": " "})),
        rule(json!({"rule": "true", "reason": "Other"})),
        rule(json!({"rule": "true", "reason": "FieldValueForbidden"})),
        rule(json!({"rule": "true", "fieldPath": " "})),
        rule(json!({"rule": "true", "fieldPath": ".a\n"})),
        rule(json!({"rule": "true", "fieldPath": ".a"})),
        rule(json!({"rule": "true", "fieldPath": ".b"})),
        rule(json!({"rule": "true", "fieldPath": "a"})),
        rule(json!({"rule": "true", "fieldPath": ".m['x']"})),
        rule(json!({"rule": "true", "fieldPath": ".m[x]"})),
        rule(json!({"rule": "true", "fieldPath": ".m['x"})),
        rule(json!({"rule": "true", "fieldPath": ".m['x\\q']"})),
        rule(json!({"rule": "true", "fieldPath": "['a']"})),
        rule(json!({"rule": "true", "fieldPath": ".a.b"})),
        rule(json!({"rule": "true", "optionalOldSelf": true})),
    ];
    all.extend(defaults());
    all.extend(rules());
    all
}

/// Rules whose expressions matter.
fn rules() -> Vec<Edits> {
    let on = |schema: Value, rule: Value| {
        let mut schema = schema;
        schema["x-kubernetes-validations"] = json!([rule]);
        vec![("P/x", schema)]
    };
    let list = || json!({"type": "array", "items": {"type": "string"}});
    let inside = |list: Value, rule: &str| {
        let mut list = list;
        list["type"] = json!("array");
        list["items"] = json!({
            "type": "object", "required": ["k"], "properties": {"k": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": rule}],
        });
        vec![("P/x", list)]
    };
    vec![
        rule(json!({"rule": "self.a == 'x'"})),
        rule(json!({"rule": "self.a == 1"})),
        rule(json!({"rule": "self.gone"})),
        rule(json!({"rule": "self.a"})),
        rule(json!({"rule": "self.a =="})),
        rule(json!({"rule": "self.a == oldSelf.a"})),
        rule(json!({"rule": "oldSelf.hasValue() && self.a == oldSelf.value().a", "optionalOldSelf": true})),
        rule(json!({"rule": "self.a != ''", "messageExpression": "'a is ' + self.a"})),
        rule(json!({"rule": "self.a != ''", "messageExpression": "1"})),
        rule(json!({"rule": "self.a != ''", "messageExpression": "self.b"})),
        rule(json!({"rule": "self.m.all(k, self.m.all(l, k == l))"})),
        rule(json!({"rule": "self.m.all(k, self.m[k] != '')"})),
        on(list(), json!({"rule": "self.all(a, self.all(b, a == b))"})),
        on(
            json!({"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 5}}),
            json!({"rule": "self.all(a, self.all(b, a == b))"}),
        ),
        on(json!({"type": "string"}), json!({"rule": "self.matches('^[a-z')"})),
        on(json!({"type": "string", "default": "no"}), json!({"rule": "self == 'yes'"})),
        on(json!({"type": "string", "default": "yes"}), json!({"rule": "self == 'yes'"})),
        on(json!({"type": "integer", "default": 3}), json!({"rule": "self > oldSelf"})),
        on(json!({"x-kubernetes-int-or-string": true}), json!({"rule": "self == 3"})),
        on(json!({"x-kubernetes-preserve-unknown-fields": true}), json!({"rule": "true"})),
        inside(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}), "self == oldSelf"),
        inside(json!({}), "self == oldSelf"),
        inside(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}), "self.k == 'a'"),
        vec![("S/x-kubernetes-validations", json!([{"rule": "self.metadata.name == 'a'"}]))],
        vec![(
            "S/x-kubernetes-validations",
            json!([{"rule": "self.spec.size > 3 && has(self.status)"}, {"rule": "self.what"}]),
        )],
        vec![(
            "P/embedded/x-kubernetes-validations",
            json!([{"rule": "self.kind == 'Pod' && self.metadata.name != ''"}]),
        )],
        vec![("P/size/x-kubernetes-validations", json!([{"rule": "self > 1"}])), ("S/nullable", json!(true))],
    ]
}

fn list(edits: Value) -> Edits {
    let mut schema = json!({"type": "array", "items": {"type": "string"}});
    for (key, value) in edits.as_object().unwrap() {
        if value.is_null() {
            schema.as_object_mut().unwrap().remove(key);
        } else {
            schema[key] = value.clone();
        }
    }
    vec![("P/x", schema)]
}

fn map_list(keys: &[&str], properties: Value) -> Edits {
    list(json!({
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
        "items": {"type": "object", "properties": properties},
    }))
}

fn rule(rule: Value) -> Edits {
    vec![(
        "P/x",
        json!({
            "type": "object", "x-kubernetes-validations": [rule],
            "properties": {"a": {"type": "string"}, "m": {"type": "object", "additionalProperties": {"type": "string"}}},
        }),
    )]
}

fn defaults() -> Vec<Edits> {
    vec![
        vec![("P/x", json!({"type": "string", "default": "a"}))],
        vec![("P/x", json!({"type": "string", "default": 1}))],
        vec![("P/x", json!({"type": "string", "default": null}))],
        vec![("P/x", json!({"type": "integer", "default": 1.5}))],
        vec![("P/x", json!({"type": "integer", "default": 1.0}))],
        vec![("P/x", json!({"type": "number", "default": 0.00001, "minimum": 1}))],
        vec![("P/x", json!({"type": "string", "enum": ["a", "b"], "default": "c"}))],
        vec![("P/x", json!({"type": "string", "pattern": "^b", "default": "c"}))],
        vec![("P/x", json!({"type": "string", "maxLength": 2, "default": "long"}))],
        vec![("P/x", json!({"type": "object", "default": {}}))],
        vec![("P/x", json!({"type": "object", "default": {"a": 1}}))],
        vec![("P/x", json!({"type": "object", "default": {"a": 1}, "x-kubernetes-preserve-unknown-fields": true}))],
        vec![("P/x", json!({"type": "object", "default": {"a": 1}, "additionalProperties": {"type": "string"}}))],
        vec![("P/x", json!({"type": "object", "default": {"a": "b"}, "additionalProperties": {"type": "string"}}))],
        vec![(
            "P/x",
            json!({"type": "object", "default": {"a": {"c": 1}}, "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "required": ["a"], "default": {}, "properties": {"a": {"type": "string"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "required": ["a"], "default": {}, "properties": {"a": {"type": "string", "default": "z"}}}),
        )],
        vec![("P/x", json!({"type": "array", "items": {"type": "string"}, "default": ["a", 1]}))],
        vec![(
            "P/x",
            json!({"type": "array", "items": {"type": "string"}, "default": ["a", "a"], "x-kubernetes-list-type": "set"}),
        )],
        vec![("P/x", json!({"type": "array", "items": {"type": "string", "default": "a"}}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true, "default": "50%"}))],
        vec![("P/x", json!({"x-kubernetes-int-or-string": true, "default": true}))],
        vec![("P/x", json!({"type": "string", "nullable": true, "default": null}))],
        vec![("P/x", json!({"type": "object", "additionalProperties": {"type": "string", "default": "a"}}))],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "a/b/c", "kind": "P od", "metadata": {"name": "a/b"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": 1, "kind": "Pod"}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"foo": "a"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "default": {"labels": {"a": "b"}}}, "kind": {"type": "string", "default": "Pod"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "default": {"name": "A/B"}}, "kind": {"type": "string", "default": "P od"}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string", "default": "a"}}}}}}),
        )],
        vec![(
            "P/x",
            json!({"type": "object", "properties": {"y": {"type": "object", "default": {"z": 3, "q": 1}, "properties": {"z": {"type": "integer", "maximum": 2}}}}}),
        )],
    ]
}

fn updates() -> Vec<(Edits, Edits)> {
    vec![
        (vec![], vec![]),
        (vec![], vec![("P/x", json!({"type": "string"}))]),
        (vec![], vec![("/spec/scope", json!("Cluster"))]),
        (vec![], vec![("/spec/names/kind", json!("Gadget"))]),
        (vec![], vec![("/spec/names/plural", json!("gadgets"))]),
        (vec![], vec![("/spec/group", json!("other.com"))]),
        (vec![], vec![("/spec/names/singular", json!("one")), ("/spec/names/shortNames", json!(["x"]))]),
        (vec![], vec![("/metadata/annotations", json!({"a": "b"}))]),
        (vec![], vec![("/metadata/name", json!("gadgets.example.com"))]),
        (vec![], vec![("/metadata/generation", json!(1))]),
        (vec![], vec![("/status/storedVersions", json!(["v9"])), ("/status/acceptedNames", json!({"plural": "B"}))]),
        (vec![], vec![("V/storage", json!(false)), ("/spec/versions/1/storage", json!(true))]),
        (vec![], vec![("V/name", json!("v2"))]),
        (vec![("/status/storedVersions", json!(["v1", "v0", "v0"]))], vec![]),
        (vec![("/status/storedVersions", json!(["v1", "v0", "w0"]))], vec![("V/served", json!(false))]),
        (vec![("/status/acceptedNames", json!({"plural": "Bad", "kind": "A b", "shortNames": ["X"]}))], vec![]),
        (vec![("/spec/preserveUnknownFields", json!(true))], vec![]),
        (vec![], vec![("/spec/preserveUnknownFields", json!(true))]),
        (
            vec![("/spec/preserveUnknownFields", json!(true)), ("V/schema", json!(null))],
            vec![("/spec/preserveUnknownFields", json!(true)), ("V/schema", json!(null)), ("V/served", json!(false))],
        ),
        (
            vec![("/spec/preserveUnknownFields", json!(true)), ("V/schema", json!(null))],
            vec![("V/schema", json!(null))],
        ),
        (vec![("V/schema", json!(null))], vec![("V/schema", json!(null)), ("V/served", json!(false))]),
        (vec![("P/x", json!({"type": "zzz"}))], vec![("P/y", json!({"type": "qqq"}))]),
        (vec![("P/x", json!({}))], vec![("P/y", json!({}))]),
        (
            vec![("/spec/preserveUnknownFields", json!(true)), ("S", json!({"properties": {"a": {}}}))],
            vec![("/spec/preserveUnknownFields", json!(true)), ("S", json!({"properties": {"b": {}}}))],
        ),
        (
            vec![("/spec/preserveUnknownFields", json!(true)), ("S", json!({"properties": {"a": {}}}))],
            vec![("/spec/preserveUnknownFields", json!(true)), ("S", json!({"properties": {"b": {"default": 1}}}))],
        ),
        (
            list(json!({"x-kubernetes-list-type": "set", "items": {"type": "object"}})),
            vec![("P/y", json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}))],
        ),
        (map_list(&["a"], json!({"a": {"type": "string"}})), map_list(&["b"], json!({"b": {"type": "string"}}))),
        (
            vec![("V/selectableFields", many_fields(9)), ("P", many_properties(10))],
            vec![("V/selectableFields", many_fields(9)), ("P", many_properties(10)), ("V/served", json!(false))],
        ),
        (
            vec![("V/selectableFields", many_fields(9)), ("P", many_properties(10))],
            vec![("V/selectableFields", many_fields(10)), ("P", many_properties(10))],
        ),
        (
            vec![("/spec/conversion", webhook(json!({"url": "https://a", "caBundle": "Zm9v"})))],
            vec![("/spec/conversion", webhook(json!({"url": "https://b", "caBundle": "Zm9v"})))],
        ),
        (vec![], vec![("/spec/conversion", webhook(json!({"url": "https://b", "caBundle": "Zm9v"})))]),
        (
            vec![
                ("/spec/conversion", webhook(json!({"url": "https://a"}))),
                ("/spec/conversion/webhook/conversionReviewVersions", json!(["v9"])),
            ],
            vec![
                ("/spec/conversion", webhook(json!({"url": "https://a"}))),
                ("/spec/conversion/webhook/conversionReviewVersions", json!(["v8"])),
            ],
        ),
        (
            vec![("P/x", json!({"type": "string", "format": "odd"}))],
            vec![
                ("P/x", json!({"type": "string", "format": "odd"})),
                ("P/y", json!({"type": "string", "format": "odder"})),
            ],
        ),
        (
            vec![("P/x", json!({"type": "object", "default": {"a": 1}}))],
            vec![("P/x", json!({"type": "object", "default": {"b": 1}}))],
        ),
        (protected("a.k8s.io", json!(null)), protected("a.k8s.io", json!(null))),
        (protected("a.k8s.io", json!("https://x/y")), protected("a.k8s.io", json!(null))),
        (protected("a.k8s.io", json!(null)), protected("a.k8s.io", json!("what"))),
    ]
}

fn statuses() -> Vec<Edits> {
    vec![
        vec![("/status/acceptedNames", json!({"plural": "widgets", "kind": "Widget", "listKind": "WidgetList"}))],
        vec![(
            "/status/acceptedNames",
            json!({"plural": "W", "singular": "-", "kind": "x y", "listKind": "x y", "shortNames": ["A"], "categories": ["B"]}),
        )],
        vec![("/status/storedVersions", json!([]))],
        vec![("/status/storedVersions", json!(["v7"]))],
        vec![("/status/conditions", json!([{"type": "Odd", "status": "Perhaps", "reason": "r", "message": "m"}]))],
        vec![("/status/conditions", json!([]))],
        vec![("/status", json!(null))],
        vec![("/spec/group", json!("stolen.com")), ("/metadata/labels", json!({"l": "m"}))],
        vec![("/status/observedGeneration", json!(4))],
    ]
}

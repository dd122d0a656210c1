//! Who owns what, in small examples. The large ones are compared with Kubernetes by the oracle's suites.

use rolewright_crd::Schema;
use serde_json::{Map, Value, json};

use super::*;
use crate::facts;

fn object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn request<'a>(name: &'a str, kind: Kind<'a>, manager: &'a str, now: &'a str) -> Request<'a> {
    Request { kind, name, api_version: "v1", manager, subresource: "", reset_fields: &[], now, versions: None }
}

fn config_map_request(manager: &'static str, now: &'static str) -> Request<'static> {
    request("ConfigMap", Kind::BuiltIn(facts::type_of("", "v1", "ConfigMap").unwrap()), manager, now)
}

fn service_request(manager: &'static str, now: &'static str) -> Request<'static> {
    let kind = Kind::BuiltIn(facts::type_of("", "v1", "Service").unwrap());
    Request { reset_fields: &["status"], ..request("Service", kind, manager, now) }
}

fn config_map(data: &Value) -> Object {
    object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}))
}

#[test]
fn managers_own_what_they_changed() {
    let mut first = config_map(&json!({"a": "1", "b": "1"}));
    update(&config_map_request("x", "2000-01-01T00:00:00Z"), None, &mut first);
    let owns = json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2000-01-01T00:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}}]);
    assert_eq!(managed_fields(&first), Some(&owns));
    let mut second = config_map(&json!({"a": "2", "c": "1"}));
    update(&config_map_request("y", "2000-01-01T00:00:01Z"), Some(&first), &mut second);
    let fields = |at: usize| managed_fields(&second).unwrap()[at]["fieldsV1"].clone();
    assert_eq!(fields(0), json!({"f:data": {}}));
    assert_eq!(fields(1), json!({"f:data": {"f:a": {}, "f:c": {}}}));
}

#[test]
fn an_empty_list_stops_the_tracking() {
    let mut first = config_map(&json!({"a": "1"}));
    update(&config_map_request("x", "2000-01-01T00:00:00Z"), None, &mut first);
    for wish in [json!([]), json!([{}])] {
        let mut second = config_map(&json!({"a": "2"}));
        second["metadata"]["managedFields"] = wish;
        update(&config_map_request("y", "2000-01-01T00:00:01Z"), Some(&first), &mut second);
        assert_eq!(managed_fields(&second), None);
        let mut third = config_map(&json!({"a": "3"}));
        update(&config_map_request("y", "2000-01-01T00:00:02Z"), Some(&second), &mut third);
        assert_eq!(managed_fields(&third), None);
    }
}

#[test]
fn managers_have_names() {
    for (asked, agent, name) in [
        ("me", "curl/8", "me"),
        ("", "curl/8.1 (x)", "curl"),
        ("", "", ""),
        ("", "a\u{7}b\u{a0}c é/1", "abc é"),
        ("", "/x", ""),
    ] {
        assert_eq!(manager(asked, agent), name);
    }
    assert_eq!(manager("", &"é".repeat(100)), "é".repeat(64));
    assert_eq!(manager("", &format!("a{}", "é".repeat(100))).len(), 127);
}

/// Would take minutes if the time grew with the square of the size.
#[test]
fn many_entries_and_fields_take_no_time() {
    let labels: Map<String, Value> = (0..20_000).map(|at| (format!("l{at}"), json!("x"))).collect();
    let entries: Value = (0..20_000)
        .map(|at| {
            let numbers: Map<String, Value> = (0..2).map(|n| (format!("v:{}", at * 7 + n), json!({}))).collect();
            let fields = json!({"f:metadata": {"f:labels": {(format!("f:l{at}")): {}}, "f:finalizers": numbers}});
            json!({"manager": format!("m{at}"), "operation": if at % 2 == 0 { "Apply" } else { "Update" },
                "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
        })
        .collect();
    let live = config_map(&json!({}));
    let mut new = config_map(&json!({}));
    new["metadata"]["managedFields"] = entries;
    new["metadata"]["labels"] = Value::Object(labels);
    update(&config_map_request("x", "2000-01-01T00:00:00Z"), Some(&live), &mut new);
    assert_eq!(managed_fields(&new).unwrap().as_array().unwrap().len(), 10_010);
    let again =
        apply(&config_map_request("x", "2000-01-01T00:00:01Z"), Some(&new), &config_map(&json!({"a": "b"})), false)
            .unwrap();
    apply(&config_map_request("x", "2000-01-01T00:00:02Z"), Some(&again), &config_map(&json!({"c": "d"})), false)
        .unwrap();
}

fn service(spec: &Value) -> Object {
    object(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}))
}

fn entry(object: &Object, at: usize) -> &Value {
    &managed_fields(object).unwrap()[at]
}

#[test]
fn what_is_no_longer_applied_goes() {
    let both = json!({"clusterIP": "None", "ports": [{"port": 80, "name": "a"}, {"port": 443, "name": "b"}]});
    let first = apply(&service_request("x", "2000-01-01T00:00:00Z"), None, &service(&both), false).unwrap();
    let owned = json!({"f:spec": {"f:clusterIP": {}, "f:ports": {
        "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
        "k:{\"port\":443,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
    }}});
    assert_eq!(entry(&first, 0)["fieldsV1"], owned);
    let one = service(&json!({"ports": [{"port": 443, "name": "b"}]}));
    let second = apply(&service_request("x", "2000-01-01T00:00:01Z"), Some(&first), &one, false).unwrap();
    assert_eq!(second["spec"], json!({"ports": [{"port": 443, "name": "b", "targetPort": 0}]}));
    let third = apply(&service_request("x", "2000-01-01T00:00:02Z"), Some(&second), &one, false).unwrap();
    assert_eq!(third, second, "not even the time");
}

#[test]
fn others_must_be_overruled() {
    let mut live = service(&json!({"clusterIP": "a", "type": "b"}));
    update(&service_request("curl", "2000-01-01T00:00:00Z"), None, &mut live);
    for (spec, message) in [
        (json!({"type": "c"}), "Apply failed with 1 conflict: conflict with \"curl\" using v1: .spec.type"),
        (
            json!({"clusterIP": "c", "type": "c"}),
            "Apply failed with 2 conflicts: conflicts with \"curl\" using v1:\n- .spec.clusterIP\n- .spec.type",
        ),
    ] {
        let failure =
            apply(&service_request("x", "2000-01-01T00:00:01Z"), Some(&live), &service(&spec), false).unwrap_err();
        assert_eq!((failure.code, failure.reason, failure.message.as_str()), (409, "Conflict", message));
        let causes = failure.details.unwrap().causes;
        assert_eq!(causes[0].reason, "FieldManagerConflict");
        assert_eq!(causes[0].message, "conflict with \"curl\" using v1");
    }
    let same = service(&json!({"type": "b"}));
    let shared = apply(&service_request("x", "2000-01-01T00:00:01Z"), Some(&live), &same, false).unwrap();
    assert_eq!(entry(&shared, 0)["manager"], "x");
    let other = service(&json!({"type": "c"}));
    let forced = apply(&service_request("x", "2000-01-01T00:00:01Z"), Some(&live), &other, true).unwrap();
    assert_eq!(forced["spec"]["type"], "c");
    assert_eq!(entry(&forced, 1)["fieldsV1"], json!({"f:spec": {"f:clusterIP": {}}}));
}

#[test]
fn what_was_there_before_has_an_owner() {
    let live = service(&json!({"type": "b"}));
    let failure =
        apply(&service_request("x", "2000-01-01T00:00:00Z"), Some(&live), &service(&json!({"type": "c"})), false)
            .unwrap_err();
    let message = "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .spec.type";
    assert_eq!(failure.message, message);
}

#[test]
fn kubectl_owns_what_it_applied_before() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let mut live = service(&json!({"clusterIP": "a", "type": "b"}));
    let last = service(&json!({"clusterIP": "other", "type": "b"}));
    live["metadata"]["annotations"] = json!({annotation: Value::Object(last).to_string()});
    update(&service_request("kubectl-client-side-apply", "2000-01-01T00:00:00Z"), None, &mut live);
    let apply_as = |manager: &'static str, spec: Value| {
        apply(&service_request(manager, "2000-01-01T00:00:01Z"), Some(&live), &service(&spec), false)
    };
    let applied = apply_as("kubectl", json!({"type": "<c>"})).unwrap();
    assert_eq!(applied["spec"]["type"], "<c>");
    let kept = "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"\\u003cc\\u003e\"}}\n";
    assert_eq!(applied["metadata"]["annotations"][annotation], kept);
    let failure = apply_as("kubectl", json!({"clusterIP": "c", "type": "c"})).unwrap_err();
    assert_eq!(
        failure.message,
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .spec.clusterIP",
        "somebody changed it since"
    );
    assert!(apply_as("other", json!({"type": "c"})).is_err());
}

#[test]
fn malformed_configurations_are_refused() {
    let about = "failed to create typed patch object (/a; /v1, Kind=Service): ";
    for (change, code, message) in [
        (json!({"kind": "Pod"}), 400, "invalid object type: /v1, Kind=Pod".to_owned()),
        (json!({"metadata": {"managedFields": []}}), 400, "metadata.managedFields must be nil".to_owned()),
        (json!({"odd": 1}), 500, format!("{about}.odd: field not declared in schema")),
        (
            json!({"spec": {"ports": [{"port": 1}, {"port": 1}]}}),
            500,
            format!("{about}.spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]"),
        ),
        (
            json!({"spec": {"type": 1, "ports": 1}}),
            500,
            format!(
                "{about}errors:\n  .spec.ports: expected list, got &{{1}}\n  .spec.type: expected string, got &value.valueUnstructured{{Value:1}}"
            ),
        ),
    ] {
        let mut document = service(&json!({}));
        document.extend(object(change));
        let failure = apply(&service_request("x", "2000-01-01T00:00:00Z"), None, &document, false).unwrap_err();
        assert_eq!((failure.code, failure.message), (code, message));
    }
}

fn thing(version: &str, spec: &Value) -> Object {
    object(json!({"apiVersion": version, "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}))
}

fn schema(properties: &Value) -> Schema {
    Schema::compile(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}))
}

/// Versions of a custom kind.
#[derive(Debug)]
struct Both<'a>([(&'a str, &'a Schema); 2]);

impl Versions for Both<'_> {
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        unchanged(object, from, to, |name| {
            let (_, schema) = self.0.iter().find(|(version, _)| *version == name)?;
            Some(Version { kind: Kind::Custom(schema), reset_fields: &[] })
        })
    }
}

#[test]
fn custom_kinds_are_owned_by_their_schemas() {
    let key = json!({"type": "string"});
    let item = json!({"type": "object", "properties": {"k": key, "n": {"type": "integer", "default": 7}, "v": key}});
    let schema = schema(&json!({
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "n"], "items": item},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "atom": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "whole": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
    }));
    let ask = |now| request("Thing", Kind::Custom(&schema), "x", now);
    let spec = json!({
        "map": [{"k": "a", "v": "1"}, {"k": "a", "n": 1}], "set": ["x"], "atom": {"a": "b"}, "any": {"a": {"b": [1]}},
        "whole": {"apiVersion": "v1", "kind": "Pod", "metadata": {"finalizers": ["f"]}, "free": {"c": 1}},
    });
    let first = apply(&ask("2000-01-01T00:00:00Z"), None, &thing("v1", &spec), false).unwrap();
    let owned = json!({
        "f:map": {
            "k:{\"k\":\"a\",\"n\":1}": {".": {}, "f:k": {}, "f:n": {}},
            "k:{\"k\":\"a\",\"n\":7}": {".": {}, "f:k": {}, "f:v": {}},
        },
        "f:set": {"v:\"x\"": {}}, "f:atom": {}, "f:any": {"f:a": {".": {}, "f:b": {}}},
        "f:whole": {
            "f:apiVersion": {}, "f:kind": {}, "f:metadata": {"f:finalizers": {"v:\"f\"": {}}}, "f:free": {".": {}, "f:c": {}},
        },
    });
    assert_eq!(entry(&first, 0)["fieldsV1"]["f:spec"], owned);
    let less = thing("v1", &json!({"set": ["y"]}));
    let second = apply(&ask("2000-01-01T00:00:01Z"), Some(&first), &less, false).unwrap();
    assert_eq!(second["spec"], json!({"set": ["y"]}), "nulls and empty lists are not left behind");
}

#[test]
fn what_a_custom_kind_is_not_is_refused() {
    let schema = schema(&json!({"n": {"type": "integer"}, "t": {"type": "string", "format": "date-time"}}));
    let ask = request("Thing", Kind::Custom(&schema), "x", "2000-01-01T00:00:00Z");
    let about = "failed to create typed patch object (/a; /v1, Kind=Thing): ";
    for (spec, message) in [
        (json!({"n": "1"}), ".spec.n: expected numeric (int or float), got string"),
        (json!({"m": 1}), ".spec.m: field not declared in schema"),
        (json!({"t": {}}), ".spec.t: expected any scalar, got &{map[]}"),
        (json!([]), ".spec: expected map, got &{[]}"),
    ] {
        let failure = apply(&ask, None, &thing("v1", &spec), false).unwrap_err();
        assert_eq!((failure.code, failure.message), (500, format!("{about}{message}")));
    }
}

#[test]
fn versions_of_custom_kinds_are_converted_or_in_the_way() {
    let (first, second) = (schema(&json!({"a": {"type": "string"}})), schema(&json!({"b": {"type": "string"}})));
    let both = Both([("v1", &first), ("v2", &second)]);
    let ask = |api_version, manager| Request {
        api_version,
        versions: Some(&both),
        ..request("Thing", Kind::Custom(&first), manager, "2000-01-01T00:00:00Z")
    };
    let live = apply(&ask("x/v1", "one"), None, &thing("x/v1", &json!({"a": "1"})), false).unwrap();
    let entry_of = |version: &str| {
        json!([{"manager": "other", "operation": "Update", "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:a": {}}}}])
    };
    for (version, message) in [
        ("x/v3", "request to convert CR to an invalid group/version: x/v3"),
        ("y/v1", "x/v1, Kind=Thing is unstructured and is not suitable for converting to \"y/v1\""),
        ("x/v2", ".spec.a: field not declared in schema"),
        ("a/b/c", "unexpected GroupVersion string: a/b/c"),
    ] {
        let mut live = live.clone();
        live["metadata"]["managedFields"] = entry_of(version);
        let failure = apply(&ask("x/v1", "two"), Some(&live), &thing("x/v1", &json!({"a": "2"})), true).unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (500, message));
        // An update goes through, and nobody owns anything any longer.
        let mut new = thing("x/v1", &json!({"a": "2"}));
        update(&ask("x/v1", "two"), Some(&live), &mut new);
        assert_eq!(managed_fields(&new), None);
    }
}

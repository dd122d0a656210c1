//! One table per kind of patch; random patches are compared with Kubernetes in `testkit`.

use serde_json::json;

use super::*;
use crate::facts::type_of;

fn object(value: &Value) -> Object {
    value.as_object().unwrap().clone()
}

fn patched(kind: PatchType, original: &Value, patch: &str) -> Result<Value, (u16, String)> {
    let ty = match original["kind"].as_str().unwrap() {
        "Pod" => type_of("", "v1", "Pod"),
        "ConfigMap" => type_of("", "v1", "ConfigMap"),
        "PodDisruptionBudget" => type_of("policy", "v1", "PodDisruptionBudget"),
        _ => type_of("apps", "v1", "Deployment"),
    };
    apply(kind, Some(ty.unwrap()), &object(original), patch.as_bytes(), FieldValidation::Warn)
        .map(|patched| Value::Object(patched.object))
        .map_err(|failure| (failure.code, failure.message))
}

#[test]
fn operations_apply() {
    let original = json!({"kind": "ConfigMap", "data": {"a": "1", "b/c": "2", "<": "<"}, "list": [1, 2, 3]});
    for (patch, at, expected) in [
        (r#"[{"op":"add","path":"/data/x","value":"y"}]"#, "/data/x", json!("y")),
        (r#"[{"op":"add","path":"/list/-","value":4}]"#, "/list", json!([1, 2, 3, 4])),
        (r#"[{"op":"add","path":"/list/1","value":4}]"#, "/list", json!([1, 4, 2, 3])),
        (r#"[{"op":"add","path":"/list/-1","value":4}]"#, "/list", json!([1, 2, 3, 4])),
        (r#"[{"op":"add","path":"/list/3","value":4}]"#, "/list", json!([1, 2, 3, 4])),
        (r#"[{"op":"remove","path":"/list/-1"}]"#, "/list", json!([1, 2])),
        (r#"[{"op":"remove","path":"/data/b~1c"}]"#, "/data", json!({"a": "1", "<": "<"})),
        (r#"[{"op":"replace","path":"/data/new","value":"x"}]"#, "/data/new", json!("x")),
        (r#"[{"op":"replace","path":"/list/0","value":9}]"#, "/list", json!([9, 2, 3])),
        (r#"[{"op":"replace","path":"","value":{"kind":"X"}}]"#, "", json!({"kind": "X"})),
        (r#"[{"op":"move","from":"/data/a","path":"/data/z"}]"#, "/data", json!({"z": "1", "b/c": "2", "<": "<"})),
        (r#"[{"op":"copy","from":"/list/2","path":"/list/0"}]"#, "/list", json!([3, 1, 2, 3])),
        (r#"[{"op":"copy","from":"/data/none","path":"/data/z"}]"#, "/data/z", json!(null)),
        (r#"[{"op":"test","path":"/data/none","value":null}]"#, "/list", json!([1, 2, 3])),
        (r#"[{"op":"test","path":"/data/none"}]"#, "/list", json!([1, 2, 3])),
        (r#"[{"op":"test","path":"/list","value":[1,2,3]}]"#, "/list", json!([1, 2, 3])),
        (r#"[{"op":"test","path":"/data/<","value":"\u003c"}]"#, "/list", json!([1, 2, 3])),
        (r#"[{"op":"add","path":"ignored/data","value":1}]"#, "/data", json!(1)),
        ("null", "/list", json!([1, 2, 3])),
    ] {
        let result = patched(PatchType::Json, &original, patch).unwrap();
        assert_eq!(result.pointer(at), Some(&expected), "{patch}");
    }
}

#[test]
fn operations_fail() {
    let original = json!({"kind": "ConfigMap", "data": {"a": "1", "<": "<"}, "list": [1, null], "number": 1});
    let rejected = "the server rejected our request due to an error in our request";
    for (patch, code, message) in [
        (r#"[{"op":"test","path":"/data/a","value":"2"}]"#, 422, rejected),
        (r#"[{"op":"test","path":"/number","value":1.0}]"#, 422, rejected),
        // The stored text has an escape; the patch has none.
        (r#"[{"op":"test","path":"/data/<","value":"<"}]"#, 422, rejected),
        (r#"[{"op":"add","path":"","value":1}]"#, 422, rejected),
        (r#"[{"op":"add","path":"/list/4","value":1}]"#, 422, rejected),
        (r#"[{"op":"add","path":"/none/a","value":1}]"#, 422, rejected),
        (r#"[{"op":"remove","path":"/none"}]"#, 422, rejected),
        (r#"[{"op":"replace","path":"/list/-","value":1}]"#, 422, rejected),
        (r#"[{"op":"jump","path":"/data"}]"#, 422, rejected),
        (r#"[{"op":"add"}]"#, 422, rejected),
        ("[null]", 422, rejected),
        (
            r#"[{"op":"test","path":"/list","value":[1,null]}]"#,
            500,
            "This request caused apiserver to panic. Look in the logs for details.",
        ),
        ("[", 400, "error decoding patch: unexpected end of JSON input"),
        ("{}", 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
    ] {
        assert_eq!(patched(PatchType::Json, &original, patch), Err((code, message.to_owned())), "{patch}");
    }
}

#[test]
fn operations_are_limited() {
    let original = json!({"kind": "ConfigMap", "data": {"a": "x".repeat(100_000)}});
    let many = format!("[{}]", vec![r#"{"op":"test","path":"/none"}"#; 10_001].join(","));
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(patched(PatchType::Json, &original, &many), Err((413, message.to_owned())));
    let copies = |count| format!("[{}]", vec![r#"{"op":"copy","from":"/data/a","path":"/data/b"}"#; count].join(","));
    assert!(patched(PatchType::Json, &original, &copies(31)).is_ok());
    assert_eq!(patched(PatchType::Json, &original, &copies(32)).unwrap_err().0, 422);
}

#[test]
fn documents_cannot_be_built_without_end() {
    let original = json!({"kind": "ConfigMap", "a": {}});
    let chain = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    let step = |n: usize| format!(r#"{{"op":"add","path":"{}","value":{chain}}}"#, "/a".repeat(100 * n + 1));
    let patch = format!("[{}]", (0..30).map(step).collect::<Vec<_>>().join(","));
    assert_eq!(patched(PatchType::Json, &original, &patch).unwrap_err().0, 422);
}

#[test]
fn merges_apply() {
    let original = json!({"kind": "ConfigMap", "data": {"a": "1", "b": "2"}, "list": [1]});
    for (patch, expected) in [
        ("{}", json!({"kind": "ConfigMap", "data": {"a": "1", "b": "2"}, "list": [1]})),
        (r#"{"data":{"a":null,"c":"3"}}"#, json!({"kind": "ConfigMap", "data": {"b": "2", "c": "3"}, "list": [1]})),
        (r#"{"list":[{"x":null}],"data":null}"#, json!({"kind": "ConfigMap", "list": [{}]})),
        (r#"{"data":[{"x":null}],"list":null}"#, json!({"kind": "ConfigMap", "data": [{"x": null}]})),
        (
            r#"{"new":{"x":null,"y":[null]}}"#,
            json!({"kind": "ConfigMap", "data": {"a": "1", "b": "2"}, "list": [1], "new": {"y": [null]}}),
        ),
    ] {
        assert_eq!(patched(PatchType::Merge, &original, patch), Ok(expected), "{patch}");
    }
    for (patch, message) in [
        ("null", "Invalid JSON Patch"),
        ("{", "error decoding patch: unexpected end of JSON input"),
        ("[]", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ] {
        assert_eq!(patched(PatchType::Merge, &original, patch), Err((400, message.to_owned())), "{patch}");
    }
}

#[test]
fn strategic_merges_apply() {
    let pod = json!({
        "kind": "Pod",
        "metadata": {"name": "p", "finalizers": ["a", "b"], "labels": {"x": "1"}},
        "spec": {
            "containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}],
            "tolerations": [{"key": "t"}],
            "volumes": [{"name": "v", "emptyDir": {}}],
        },
    });
    for (patch, at, expected) in [
        (r#"{"metadata":{"labels":{"x":null,"y":"2"}}}"#, "/metadata/labels", json!({"y": "2"})),
        (r#"{"metadata":{"finalizers":["c","b"]}}"#, "/metadata/finalizers", json!(["c", "a", "b"])),
        (r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}"#, "/metadata/finalizers", json!(["b"])),
        (
            r#"{"spec":{"containers":[{"name":"b","image":"3"},{"name":"c"}]}}"#,
            "/spec/containers",
            json!([{"name": "a", "image": "1"}, {"name": "b", "image": "3"}, {"name": "c"}]),
        ),
        (
            r#"{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}"#,
            "/spec/containers",
            json!([{"name": "b", "image": "2"}]),
        ),
        (r#"{"spec":{"containers":[{"name":"z"},{"$patch":"replace"}]}}"#, "/spec/containers", json!([{"name": "z"}])),
        (
            r#"{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b","image":"x"}]}}"#,
            "/spec/containers",
            json!([{"name": "b", "image": "x"}, {"name": "a", "image": "1"}]),
        ),
        (
            // The new container takes the place of the deleted one, and with it a place in the old order.
            r#"{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c"},{"name":"b","$patch":"delete"}]}}"#,
            "/spec/containers",
            json!([{"name": "a", "image": "1"}, {"name": "c"}]),
        ),
        (r#"{"spec":{"tolerations":[{"key":"u"}]}}"#, "/spec/tolerations", json!([{"key": "u"}])),
        (
            r#"{"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}}"#,
            "/spec/volumes",
            json!([{"name": "v", "hostPath": {"path": "/"}}]),
        ),
        (r#"{"spec":{"$patch":"replace","hostname":"h"}}"#, "/spec", json!({"hostname": "h"})),
        (r#"{"metadata":{"annotations":{"a":null,"b":"c"}}}"#, "/metadata/annotations", json!({"b": "c"})),
        ("null", "/kind", json!("Pod")),
    ] {
        let result = patched(PatchType::Strategic, &pod, patch).unwrap();
        assert_eq!(result.pointer(at), Some(&expected), "{patch}");
    }
    let budget = json!({"kind": "PodDisruptionBudget", "spec": {"selector": {"matchLabels": {"a": "b"}}}});
    let result = patched(PatchType::Strategic, &budget, r#"{"spec":{"selector":{"matchExpressions":[]}}}"#).unwrap();
    assert_eq!(result["spec"]["selector"], json!({"matchExpressions": []}));
}

#[test]
fn strategic_merges_fail() {
    let pod = json!({
        "kind": "Pod",
        "metadata": {"name": "p", "finalizers": ["a"], "labels": {"x": "1"}},
        "spec": {"containers": [{"name": "a", "image": "1"}]},
    });
    for (patch, code, message) in [
        ("{", 400, "unexpected end of JSON input"),
        ("[]", 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (
            r#"{"spec":{"containers":[{"image":"x","n":1}]}}"#,
            500,
            "map: map[image:x n:1] does not contain declared merge key: name",
        ),
        (r#"{"$patch":"merge"}"#, 500, "unknown patch type: merge in map: map[$patch:merge]"),
        (r#"{"spec":{"$patch":5}}"#, 500, "unknown patch type: %!s(int64=5) in map: map[$patch:5]"),
        (r#"{"metadata":{"finalizers":[1]}}"#, 500, "list element types are not identical: [[a] [1]]"),
        (r#"{"metadata":{"$deleteFromPrimitiveListx":[1]}}"#, 400, "invalid patch format of primitive list"),
        (r#"{"spec":{"$retainKeys":1}}"#, 400, "invalid patch format of retainKeys"),
        (r#"{"spec":{"$retainKeys":["a"],"b":1}}"#, 400, "invalid patch format of retainKeys"),
        (r#"{"spec":{"$setElementOrderx":[]}}"#, 400, "invalid patch format of setElementOrder list"),
        (r#"{"spec":{"$setElementOrder/containers":1}}"#, 500, "expected a []interface {}, but received a int64"),
        (
            r#"{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}}"#,
            500,
            "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
        (
            r#"{"spec":{"$setElementOrder/x":[]}}"#,
            500,
            "unable to find api field in struct PodSpec for the json field \"x\"",
        ),
        (
            r#"{"metadata":{"labels":{"$setElementOrder/y":[]}}}"#,
            500,
            "merging an object in json but data type is not struct, instead is: map",
        ),
    ] {
        assert_eq!(patched(PatchType::Strategic, &pod, patch), Err((code, message.to_owned())), "{patch}");
    }
}

#[test]
fn what_cannot_be_decoded_is_shown() {
    let original = object(&json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"uid": "u", "name": "<"}}));
    let ty = type_of("", "v1", "ConfigMap").unwrap();
    let run = |kind, patch: &str| apply(kind, Some(ty), &original, patch.as_bytes(), FieldValidation::Warn).unwrap();
    let shown = |patched: &Patched| patched.refused("why").message;
    let merged = run(PatchType::Merge, r#"{"x":1}"#);
    let text = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"\u003c","uid":"u"},"x":1}"#;
    assert_eq!(merged.text().as_deref(), Some(text));
    assert_eq!(shown(&merged), format!(" \"\" is invalid: patch: Invalid value: {text:?}: why"));
    let strategic = run(PatchType::Strategic, r#"{"x":{"y":[1]},"x":{"y":[1]}}"#);
    assert_eq!(shown(&strategic), " \"\" is invalid: patch: Invalid value: \"map[x:map[y:[1]]]\": why");
    assert_eq!(strategic.strict, ["duplicate field \"x\""]);
}

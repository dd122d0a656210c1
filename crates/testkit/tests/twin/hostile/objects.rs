//! Objects of a kind that has something of everything.

use serde_json::{Map, Value, json};

use super::{DEFINITIONS, definition, nested, post, wait};
use crate::exchange::Script;

const OBJECTS: &str = "/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/things";

pub(super) fn script() -> Script {
    let defined = format!("{DEFINITIONS}/things.{{{{ns}}}}.example.com");
    let mut exchanges = vec![
        post("define", 201, DEFINITIONS, definition("things", &schema()).to_string()),
        wait("defined", &defined, ".status.conditions[1].status == \"True\""),
        wait("served", OBJECTS, "status 200"),
    ];
    for (number, (title, status, x)) in rows().into_iter().enumerate() {
        exchanges.push(post(title, status, OBJECTS, object(number, &x).to_string()));
    }
    for (title, status, body) in texts() {
        exchanges.push(post(title, status, OBJECTS, body));
    }
    Script { name: "hostile-objects".into(), exchanges }
}

fn schema() -> Value {
    let bounded = |limit: u64| json!({"type": "array", "items": {"type": "integer"}, "maxItems": limit});
    let mut pairs = bounded(900);
    pairs["x-kubernetes-validations"] = json!([{"rule": "self.all(a, self.all(b, a + b >= 0))"}]);
    // Each costs a lot and takes no time.
    let searches: Vec<Value> = (0..250).map(|number| json!({"rule": format!("!self.contains('b{number}')")})).collect();
    json!({"type": "object", "properties": {
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "integer": {"type": "integer"},
        "small": {"type": "integer", "format": "int32"},
        "number": {"type": "number", "multipleOf": 0.1},
        "even": {"type": "integer", "multipleOf": 2},
        "text": {"type": "string", "maxLength": 10},
        "slow": {"type": "string", "pattern": "^((a+)+)+$"},
        "mail": {"type": "string", "format": "email"},
        "unknown": {"type": "string", "format": "klingon"},
        "choice": {"type": "string", "enum": (0..2_000).map(|number| format!("v{number}")).collect::<Vec<_>>()},
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": {"type": "integer"}}}},
        "nullable": {"type": "string", "nullable": true},
        "filled": {"type": "string", "default": "x"},
        "filledNullable": {"type": "string", "default": "x", "nullable": true},
        "map": {"type": "object", "additionalProperties": {"type": "string", "default": "d"}},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "either": {"x-kubernetes-int-or-string": true},
        "pairs": pairs,
        "searched": {"type": "string", "maxLength": 500_000, "x-kubernetes-validations": searches},
        "bounded": {"type": "object", "maxProperties": 3, "additionalProperties": {"type": "integer"}},
        "clauses": {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 2}], "not": {"enum": [7]}},
    }})
}

fn object(number: usize, x: &Value) -> Value {
    json!({"apiVersion": "{{ns}}.example.com/v1", "kind": "Thing", "metadata": {"name": format!("o{number}")}, "spec": {"x": x}})
}

fn rows() -> Vec<(&'static str, u16, Value)> {
    let deep = |depth: usize| nested(depth, json!(1), |inner| json!({"p": inner}));
    let keyed = |count: usize| -> Value {
        (0..count).map(|number| json!({"name": format!("k{number}"), "value": number})).collect()
    };
    let mut doubled = keyed(3_000);
    doubled.as_array_mut().unwrap().push(json!({"name": "k7"}));
    let mut texts: Vec<String> = (0..3_000).map(|number| format!("t{number}")).collect();
    let set = json!(texts);
    texts.push("t7".into());
    let embedded = |metadata: Value| json!({"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}});
    let members = |count: usize| -> Value {
        (0..count).map(|number| (format!("m{number}"), json!("v"))).collect::<Map<String, Value>>().into()
    };
    vec![
        ("50 levels", 201, json!({"any": deep(50)})),
        ("100 levels", 201, json!({"any": deep(100)})),
        ("100 levels that nobody knows", 201, json!({"gone": deep(100)})),
        ("130 levels", 201, json!({"any": deep(130)})),
        ("100 lists", 201, json!({"any": nested(100, json!(1), |inner| json!([inner]))})),
        ("the largest integer", 201, json!({"integer": i64::MAX, "any": i64::MIN})),
        ("beyond the largest integer", 422, json!({"integer": 9_223_372_036_854_775_808_u64})),
        ("beyond the largest integer, anywhere", 201, json!({"any": 18_446_744_073_709_551_615_u64})),
        ("a float for an integer", 422, json!({"integer": 1.5})),
        ("a whole float for an integer", 201, json!({"integer": 2.0})),
        ("a large float for an integer", 422, json!({"integer": 1e19})),
        ("beyond 32 bits", 422, json!({"small": 3_000_000_000_u64})),
        ("the largest float", 422, json!({"number": f64::MAX, "any": f64::MIN_POSITIVE})),
        ("a tenth", 201, json!({"number": 0.3})),
        ("an odd number", 422, json!({"even": 3})),
        ("a text of a megabyte", 422, json!({"text": "t".repeat(1 << 20)})),
        ("eleven letters of two bytes", 422, json!({"text": "\u{e9}".repeat(11)})),
        ("ten letters of four bytes", 201, json!({"text": "\u{1f600}".repeat(10)})),
        ("a text for a slow pattern", 422, json!({"slow": format!("{}!", "a".repeat(50_000))})),
        ("a text that fits a slow pattern", 201, json!({"slow": "a".repeat(50_000)})),
        ("an address that is none", 422, json!({"mail": "@"})),
        ("an unknown format of noise", 201, json!({"unknown": "\u{0}\u{7f}"})),
        ("none of 2,000 choices", 422, json!({"choice": "none"})),
        ("3,000 items of a set", 201, json!({"set": set})),
        ("3,000 items of a set and one again", 422, json!({"set": texts})),
        ("3,000 keyed items", 201, json!({"keyed": keyed(3_000)})),
        ("3,000 keyed items and one again", 422, json!({"keyed": doubled})),
        ("keyed items without a key", 422, json!({"keyed": [{"value": 1}, {"value": 2}, {}]})),
        ("keyed items that are texts", 422, json!({"keyed": ["a", null, 7]})),
        (
            "everything is nothing",
            201,
            json!({
                "any": null, "integer": null, "text": null, "set": null, "keyed": null, "nullable": null, "filled": null,
                "filledNullable": null, "map": null, "embedded": null, "either": null, "pairs": null, "gone": null,
            }),
        ),
        ("items that are nothing", 422, json!({"set": [null]})),
        ("entries that are nothing", 201, json!({"map": {"a": null, "b": "b"}})),
        ("fields inside that are nothing", 201, json!({"any": {"a": null, "b": [null, {"c": null}]}})),
        ("all of another type", 422, json!({"integer": "1"})),
        ("an object for a list", 422, json!({"set": {}})),
        ("a list for an object", 422, json!({"map": []})),
        ("10,000 entries", 201, json!({"map": members(10_000)})),
        ("more entries than may be", 422, json!({"bounded": {"a": 1, "b": 2, "c": 3, "d": 4}})),
        ("an embedded object without a kind", 422, json!({"embedded": {"metadata": {"name": "a"}}})),
        ("an embedded object with a bad name", 201, embedded(json!({"name": "A b"}))),
        (
            "an embedded object with metadata of noise",
            400,
            embedded(json!({"name": 7, "labels": [1], "x": {"y": null}})),
        ),
        ("an embedded object with metadata of nothing", 201, embedded(json!(null))),
        ("an embedded object with 1,000 labels", 201, embedded(json!({"name": "a", "labels": members(1_000)}))),
        ("either is neither", 422, json!({"either": 1.5})),
        ("either is a large integer", 201, json!({"either": 9_223_372_036_854_775_807_u64})),
        ("a rule that runs a while", 201, json!({"pairs": vec![1; 200]})),
        ("a rule that runs too long", 422, json!({"pairs": vec![1; 900]})),
        ("rules that cost too much together", 422, json!({"searched": "a".repeat(490_000)})),
        ("rules that cost enough", 201, json!({"searched": "a".repeat(90_000)})),
        ("a rule over too many items", 422, json!({"pairs": vec![1; 901]})),
        ("between the clauses", 422, json!({"clauses": 3})),
        ("what no clause may have", 422, json!({"clauses": 7})),
        ("50 fields that nobody knows", 201, members(50)),
        (
            "fields with strange names",
            201,
            json!({"map": {"": "a", "a/b": "b", "~": "c", "a.b[0]": "d", "\u{0}": "e"}}),
        ),
        ("x is a text", 422, json!("text")),
        ("x is nothing", 201, json!(null)),
    ]
}

fn texts() -> Vec<(&'static str, u16, String)> {
    let text = |name: &str, x: &str| {
        format!(
            r#"{{"apiVersion": "{{{{ns}}}}.example.com/v1", "kind": "Thing", "metadata": {{"name": "{name}"}}, "spec": {{"x": {x}}}}}"#
        )
    };
    let meta = |metadata: &str| {
        format!(
            r#"{{"apiVersion": "{{{{ns}}}}.example.com/v1", "kind": "Thing", "metadata": {metadata}, "spec": {{}}}}"#
        )
    };
    vec![
        ("a field that is said twice", 201, text("t1", r#"{"integer": 1, "integer": 2}"#)),
        ("an unknown field that is said twice", 201, text("t2", r#"{"gone": 1, "gone": 2}"#)),
        ("a key that is said twice, deep", 201, text("t3", r#"{"any": {"a": [{"b": 1, "b": 2}]}}"#)),
        ("an integer with an exponent", 201, text("t4", r#"{"integer": 1e2}"#)),
        ("an integer of 40 digits", 422, text("t5", &format!(r#"{{"integer": {}}}"#, "9".repeat(40)))),
        ("a number beyond floats", 400, text("t6", r#"{"number": 1e400}"#)),
        ("minus zero", 201, text("t7", r#"{"integer": -0, "any": -0.0}"#)),
        ("a number with many digits", 201, text("t8", &format!(r#"{{"any": 0.{}}}"#, "1".repeat(400)))),
        ("a number that begins with zero", 400, text("t9", r#"{"integer": 01}"#)),
        ("half a surrogate", 201, text("t10", r#"{"text": "\ud800"}"#)),
        ("a control character", 400, text("t11", "{\"text\": \"a\u{1}b\"}")),
        ("a comma too many", 400, text("t12", r#"{"integer": 1,}"#)),
        ("a comment", 400, text("t13", r#"{/* one */ "integer": 1}"#)),
        ("another case", 201, text("t14", r#"{"Integer": 1}"#)),
        ("a name at its limit", 201, meta(&format!(r#"{{"name": "{}"}}"#, "n".repeat(253)))),
        ("a name beyond its limit", 422, meta(&format!(r#"{{"name": "{}"}}"#, "n".repeat(254)))),
        (
            "a generated name beyond its limit",
            422,
            meta(&format!(r#"{{"name": "g", "generateName": "{}"}}"#, "n".repeat(300))),
        ),
        (
            "annotations that are too large",
            422,
            meta(&format!(r#"{{"name": "m1", "annotations": {{"a": "{}"}}}}"#, "x".repeat(300_000))),
        ),
        ("labels of numbers", 400, meta(r#"{"name": "m2", "labels": {"a": 1, "b": null}}"#)),
        ("labels that are a list", 400, meta(r#"{"name": "m3", "labels": []}"#)),
        ("metadata said twice", 201, meta(r#"{"name": "gone"}, "metadata": {"name": "m4"}"#)),
        ("a name that is a number", 400, meta(r#"{"name": 7}"#)),
        ("managers of noise", 400, meta(r#"{"name": "m5", "managedFields": [{"manager": 1}, null, "x"]}"#)),
        ("owners of noise", 422, meta(r#"{"name": "m6", "ownerReferences": [{"uid": ""}, {}]}"#)),
        ("finalizers of noise", 422, meta(r#"{"name": "m7", "finalizers": ["", "a b", "x/y/z"]}"#)),
        (
            "a time of noise",
            400,
            meta(r#"{"name": "m8", "creationTimestamp": "yesterday", "deletionTimestamp": "2020-01-01T00:00:00Z"}"#),
        ),
        ("a generation of noise", 400, meta(r#"{"name": "m9", "generation": 99999999999999999999}"#)),
        ("metadata that are a text", 400, meta(r#""text""#)),
    ]
}

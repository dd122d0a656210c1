//! Definitions with schemas that hurt.

use serde_json::{Map, Value, json};

use super::{DEFINITIONS, definition, nested, object_of, post, wholes};
use crate::exchange::Script;

/// One way to hurt: what it is, what Kubernetes answers with, and the schema of `spec.x`.
type Row = (&'static str, u16, Value);

/// Definitions that are judged and not stored.
pub(super) fn script() -> Script {
    let dry = format!("{DEFINITIONS}?dryRun=All");
    let schemas = [structures(), patterns(), rules(), values(), nulls()].into_iter().flatten();
    let mut exchanges: Vec<_> = schemas
        .map(|(title, status, schema)| post(title, status, &dry, definition("things", &schema).to_string()))
        .collect();
    exchanges.extend(wholes::rows().into_iter().map(|row| post(row.0, row.1, &dry, row.2)));
    exchanges.extend(wholes::texts().into_iter().map(|row| post(row.0, row.1, &dry, row.2)));
    Script { name: "hostile-definitions".into(), exchanges }
}

/// Definitions whose size only storing them shows.
pub(super) fn stored() -> Script {
    let described = |plural: &str, size: usize| {
        definition(plural, &json!({"type": "string", "description": "d".repeat(size)})).to_string()
    };
    let exchanges = vec![
        post("a megabyte", 201, DEFINITIONS, described("ones", 1 << 20)),
        post("more than etcd takes", 500, DEFINITIONS, described("mores", 7 << 18)),
        post("two megabytes", 500, DEFINITIONS, described("twos", 2 << 20)),
        post("more than three megabytes", 413, DEFINITIONS, described("threes", (3 << 20) + 1)),
    ];
    Script { name: "hostile-sizes".into(), exchanges }
}

fn wide(count: usize, part: &Value) -> Value {
    let properties: Map<String, Value> = (0..count).map(|number| (format!("p{number}"), part.clone())).collect();
    json!({"type": "object", "properties": properties})
}

fn structures() -> Vec<Row> {
    let many: Vec<String> = (0..10_000).map(|number| format!("v{number}")).collect();
    let array_of = |inner: &Value| json!({"type": "array", "items": inner});
    let map_of = |inner: &Value| json!({"type": "object", "additionalProperties": inner});
    vec![
        ("a reference to the root", 422, json!({"$ref": "#"})),
        ("a reference to itself", 422, json!({"type": "object", "$ref": "#/properties/spec/properties/x"})),
        ("a reference among properties", 422, object_of(&json!({"$ref": "#/definitions/p"}))),
        ("definitions", 422, json!({"type": "object", "definitions": {"p": {"type": "string"}}})),
        ("40 objects in each other", 201, nested(40, json!({"type": "string"}), object_of)),
        ("50 objects in each other", 201, nested(50, json!({"type": "string"}), object_of)),
        ("60 objects in each other", 201, nested(60, json!({"type": "string"}), object_of)),
        ("50 arrays in each other", 201, nested(50, json!({"type": "string"}), array_of)),
        ("50 maps in each other", 201, nested(50, json!({"type": "string"}), map_of)),
        ("30 clauses in each other", 201, nested_clauses(30, "allOf")),
        (
            "40 negations in each other",
            201,
            json!({"type": "string", "not": nested(40, json!({"minLength": 1}), |inner| json!({"not": inner}))}),
        ),
        ("clauses with types", 422, json!({"type": "string", "anyOf": [{"type": "string"}, {"type": "integer"}]})),
        ("5,000 clauses", 201, json!({"type": "string", "anyOf": vec![json!({"pattern": "a"}); 5_000]})),
        ("3,000 properties", 201, wide(3_000, &json!({"type": "string"}))),
        ("3,000 properties with defaults", 201, wide(3_000, &json!({"type": "string", "default": "x"}))),
        ("10,000 values", 201, json!({"type": "string", "enum": many})),
        ("10,000 values twice", 201, json!({"type": "string", "enum": many.iter().chain(&many).collect::<Vec<_>>()})),
        ("10,000 required fields", 201, json!({"type": "object", "required": many})),
        ("a field required twice", 201, json!({"type": "object", "required": ["a", "a"]})),
        (
            "a key that is said twice",
            422,
            json!({
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b", "a"],
                "items": {"type": "object", "properties": {"a": {"type": "string"}}},
            }),
        ),
        (
            "a set of sets",
            201,
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "array", "items": {"type": "string"}}}),
        ),
        ("unique items", 422, json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}})),
        ("no type", 422, json!({})),
        ("a type of its own", 422, json!({"type": "thing"})),
        (
            "properties and values",
            422,
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        ),
        ("no other properties", 201, json!({"type": "object", "additionalProperties": false})),
        ("a list of items", 422, json!({"type": "array", "items": [{"type": "string"}]})),
        (
            "a name of 100,000 letters",
            201,
            json!({"type": "object", "properties": {"n".repeat(100_000): {"type": "string"}}}),
        ),
        ("an empty name", 201, json!({"type": "object", "properties": {"": {"type": "string"}}})),
        ("a name with a slash", 201, json!({"type": "object", "properties": {"a/b~c.d[0]": {"type": "string"}}})),
        ("embedded and not preserved", 422, json!({"type": "object", "x-kubernetes-embedded-resource": true})),
    ]
}

fn nested_clauses(depth: usize, word: &str) -> Value {
    let clauses = nested(depth, json!({"minLength": 1}), |inner| json!({word: [inner, {"maxLength": 5}]}));
    json!({"type": "string", word: [clauses]})
}

fn patterns() -> Vec<Row> {
    let text = |pattern: String| json!({"type": "string", "pattern": pattern});
    vec![
        ("a pattern that backtracks", 201, text("^((a+)+)+$".into())),
        ("a pattern that repeats repetitions", 422, text("(((x{0,1000}){0,1000}){0,1000})".into())),
        ("a pattern that repeats too often", 422, text("x{1001}".into())),
        ("a pattern that looks ahead", 422, text("(?=a)b".into())),
        ("a pattern that refers back", 422, text("(a)\\1".into())),
        ("a pattern that is not closed", 422, text("(a".into())),
        ("a pattern that nests too deeply", 422, text(format!("{}a{}", "(".repeat(1_001), ")".repeat(1_001)))),
        ("a pattern that nests deeply", 201, text(format!("{}a{}", "(".repeat(900), ")".repeat(900)))),
        ("a pattern of 100,000 letters", 201, text("a".repeat(100_000))),
        ("a pattern of 10,000 alternatives", 201, text(vec!["ab"; 10_000].join("|"))),
        ("a pattern of classes", 201, text("^[\\p{L}\\pN[:alpha:]\\x{10FFFF}]+\\z".into())),
        ("a pattern of an unknown class", 422, text("\\p{Klingon}".into())),
        ("a pattern with a surrogate", 422, text("\\x{D800}\\x{110000}".into())),
    ]
}

fn rules() -> Vec<Row> {
    let ruled = |schema: Value, rules: Value| {
        let mut schema = schema;
        schema["x-kubernetes-validations"] = rules;
        schema
    };
    let texts = |limit: Option<u64>| match limit {
        Some(limit) => json!({"type": "array", "items": {"type": "string", "maxLength": limit}, "maxItems": limit}),
        None => json!({"type": "array", "items": {"type": "string"}}),
    };
    let one = |rule: &str| json!([{"rule": rule}]);
    let twice = "self.all(a, self.all(b, a == b))";
    let thrice = "self.all(a, self.all(b, self.all(c, a == b && b == c)))";
    let many: Vec<Value> = (0..200).map(|number| json!({"rule": format!("self.all(a, a != '{number}')")})).collect();
    let doubled = nested_text(20, "'x'", |inner| format!("cel.bind(v, {inner}, v + v)"));
    let text = json!({"type": "string"});
    vec![
        ("a rule over all pairs", 422, ruled(texts(None), one(twice))),
        ("a rule over all triples", 422, ruled(texts(None), one(thrice))),
        ("a rule over few triples", 201, ruled(texts(Some(20)), one(thrice))),
        ("a rule over pairs that are long", 422, ruled(texts(Some(2_000)), one(twice))),
        ("200 rules over all items", 422, ruled(texts(None), many.into())),
        (
            "a rule below two lists",
            422,
            json!({"type": "array", "items": ruled(texts(None), one("self.all(a, a.contains('x'))"))}),
        ),
        ("a rule with a slow pattern", 422, ruled(texts(None), one("self.all(a, a.matches('^((a+)+)+$'))"))),
        ("a rule that doubles itself", 422, ruled(text.clone(), one(&format!("{doubled} != ''")))),
        ("a rule of 5,000 terms", 201, ruled(text.clone(), one(&vec!["true"; 5_000].join(" && ")))),
        (
            "a rule in 1,000 parentheses",
            422,
            ruled(text.clone(), one(&format!("{}true{}", "(".repeat(1_000), ")".repeat(1_000)))),
        ),
        ("a rule of many sums", 422, ruled(text.clone(), one(&format!("{}1 == 1", "1 + ".repeat(400))))),
        ("a rule that is too long", 422, ruled(text.clone(), one(&format!("self == '{}'", "x".repeat(100_001))))),
        ("a rule that does not end", 422, ruled(text.clone(), one("self == 'x"))),
        ("a rule of noise", 422, ruled(text.clone(), one("@#$%^&*()"))),
        ("a rule about nothing", 422, ruled(text.clone(), one(""))),
        ("a rule about an unknown", 422, ruled(text.clone(), one("other.all(x, x == self)"))),
        ("a rule that is a number", 422, ruled(text.clone(), one("size(self)"))),
        ("a rule that divides by zero", 201, ruled(text.clone(), one("1 / 0 == 1"))),
        ("a rule that overflows", 422, ruled(text.clone(), one("9223372036854775808 > 1"))),
        ("a rule with a bad pattern", 422, ruled(text.clone(), one("self.matches('(')"))),
        (
            "a rule about a range without end",
            422,
            ruled(text.clone(), one("lists.range(9223372036854775807).all(x, x > 0)")),
        ),
        (
            "a message that is costly",
            422,
            ruled(
                texts(None),
                json!([{"rule": "true", "messageExpression": "self.map(a, self.map(b, a + b).join()).join()"}]),
            ),
        ),
        ("a message that is no text", 422, ruled(text.clone(), json!([{"rule": "true", "messageExpression": "1"}]))),
        ("a message of lines", 422, ruled(text.clone(), json!([{"rule": "true", "message": "a\nb"}]))),
        (
            "a message of 3,000 letters",
            201,
            ruled(text.clone(), json!([{"rule": "true", "message": "m".repeat(3_000)}])),
        ),
        ("a path that is none", 422, ruled(object_of(&text), json!([{"rule": "true", "fieldPath": ".gone"}]))),
        ("a reason that is none", 422, ruled(text.clone(), json!([{"rule": "true", "reason": "Whim"}]))),
        (
            "rules without a type",
            422,
            json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self.a == 1"}]}),
        ),
    ]
}

fn nested_text(depth: usize, inner: &str, around: impl Fn(String) -> String) -> String {
    (0..depth).fold(inner.to_owned(), |inner, _| around(inner))
}

fn values() -> Vec<Row> {
    let with = |kind: &str, word: &str, value: Value| json!({"type": kind, word: value});
    vec![
        ("a default of 500,000 letters", 201, with("string", "default", json!("d".repeat(500_000)))),
        (
            "a default of 10,000 items",
            201,
            json!({"type": "array", "items": {"type": "integer"}, "default": vec![1; 10_000]}),
        ),
        ("a default of another type", 422, with("string", "default", json!(1))),
        ("a default that is too long", 422, json!({"type": "string", "maxLength": 1, "default": "ab"})),
        ("a default with more than is known", 422, json!({"type": "object", "properties": {}, "default": {"a": 1}})),
        ("a default that is nothing", 201, with("string", "default", json!(null))),
        (
            "a default that breaks a rule",
            422,
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 1"}]}),
        ),
        ("a default at the root of 40 objects", 201, {
            let value = nested(40, json!({}), |inner| json!({"p": inner}));
            let mut schema = nested(40, json!({"type": "object"}), object_of);
            schema["default"] = value;
            schema
        }),
        (
            "defaults in each other",
            201,
            nested(
                30,
                json!({"type": "string", "default": "x"}),
                |inner| json!({"type": "object", "properties": {"p": inner}, "default": {}}),
            ),
        ),
        ("a length beyond numbers", 400, with("string", "maxLength", json!(9_223_372_036_854_775_808_u64))),
        ("the longest length", 201, with("string", "maxLength", json!(i64::MAX))),
        ("a length below zero", 201, with("string", "maxLength", json!(-1))),
        ("a length with a half", 400, with("string", "maxLength", json!(1.5))),
        ("a length that is a whole float", 400, with("string", "maxLength", json!(1.0))),
        (
            "a count below zero",
            201,
            json!({"type": "array", "items": {"type": "string"}, "minItems": -1, "maxItems": -2}),
        ),
        ("the largest number", 201, with("number", "maximum", json!(f64::MAX))),
        ("a limit beyond integers", 201, with("integer", "maximum", json!(1e30))),
        ("a multiple of nothing", 201, with("number", "multipleOf", json!(0))),
        ("a multiple below zero", 201, with("number", "multipleOf", json!(-2))),
        ("limits that leave nothing", 201, json!({"type": "integer", "minimum": 5, "maximum": 3})),
        ("an unknown format", 201, with("string", "format", json!("klingon"))),
        ("a format of another type", 201, with("integer", "format", json!("date-time"))),
        (
            "an integer of 32 bits with a default beyond",
            422,
            json!({"type": "integer", "format": "int32", "default": 3_000_000_000_u64}),
        ),
        ("values of other types", 201, with("string", "enum", json!([1, true, null, {"a": []}]))),
        ("no values", 201, with("string", "enum", json!([]))),
        ("a type that is a list", 400, json!({"type": ["string", "null"]})),
        ("an unknown word", 201, json!({"type": "string", "x-made-up": {"a": [1]}})),
        (
            "an example that is deep",
            201,
            json!({"type": "string", "example": nested(40, json!(1), |inner| json!([inner]))}),
        ),
    ]
}

fn nulls() -> Vec<Row> {
    vec![
        ("a schema that is nothing", 422, json!(null)),
        ("properties that are nothing", 201, json!({"type": "object", "properties": null})),
        ("a property that is nothing", 422, json!({"type": "object", "properties": {"a": null}})),
        ("items that are nothing", 422, json!({"type": "array", "items": null})),
        ("a value that is nothing", 201, json!({"type": "string", "enum": [null]})),
        ("values that are nothing", 201, json!({"type": "string", "enum": null})),
        ("a required field that is nothing", 201, json!({"type": "object", "required": [null]})),
        ("a rule that is nothing", 422, json!({"type": "string", "x-kubernetes-validations": [null]})),
        ("rules that are nothing", 201, json!({"type": "string", "x-kubernetes-validations": null})),
        ("clauses that are nothing", 201, json!({"type": "string", "allOf": [null], "not": null})),
        ("a type that is nothing", 422, json!({"type": null})),
        (
            "a list type that is nothing",
            201,
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": null}),
        ),
        ("additional properties that are nothing", 201, json!({"type": "object", "additionalProperties": null})),
    ]
}

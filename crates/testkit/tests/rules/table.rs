//! Schemas with rules.
use serde_json::{Value, json};

use super::Case;

/// A schema whose `spec` has some properties and rules.
fn spec(properties: Value, rules: Value) -> Value {
    json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties, "x-kubernetes-validations": rules}},
    })
}

fn properties() -> Value {
    json!({
        "name": {"type": "string", "maxLength": 20},
        "size": {"type": "integer"},
        "tags": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 5}},
        "free": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "port": {"x-kubernetes-int-or-string": true},
        "inner": {"type": "object", "properties": {"a": {"type": "string"}, "namespace": {"type": "string"}}},
    })
}

fn object() -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"name": "n", "size": 3, "tags": ["a", "b"], "free": ["x"], "labels": {"k": "v"}, "port": 80, "inner": {"a": "x"}},
    })
}

/// Rules of `spec`, each alone.
fn rules() -> Vec<Value> {
    vec![
        json!({"rule": "self.size < 5"}),
        json!({"rule": "self.size > 5"}),
        json!({"rule": "self.size > 5", "message": " too small "}),
        json!({"rule": "self.size > 5", "messageExpression": "'size is ' + string(self.size)"}),
        json!({"rule": "self.size > 5", "message": "m", "messageExpression": "''"}),
        json!({"rule": "self.size > 5", "message": "m", "messageExpression": "'a\\nb'"}),
        json!({"rule": "self.size > 5", "message": "m", "messageExpression": "self.free[9]"}),
        json!({"rule": "self.size > 5", "messageExpression": "1"}),
        json!({"rule": "self.size > 5", "messageExpression": "undefined"}),
        json!({"rule": "self.size > 5", "messageExpression": "string(int('x'))"}),
        json!({"rule": "self.size > 5", "reason": "FieldValueForbidden"}),
        json!({"rule": "self.size > 5", "reason": "FieldValueRequired", "fieldPath": ".size"}),
        json!({"rule": "self.size > 5", "reason": "FieldValueDuplicate"}),
        json!({"rule": "self.size > 5", "reason": "FieldValueInvalid", "fieldPath": ".labels['k']"}),
        json!({"rule": "self.size > 5", "reason": "Nope"}),
        json!({"rule": "self.size > 5", "fieldPath": ".nope"}),
        json!({"rule": "self.size > 5", "fieldPath": "size"}),
        json!({"rule": ""}),
        json!({"rule": " "}),
        json!({"rule": "self.size\n> 5"}),
        json!({"rule": "self.size\n> 5", "message": "m"}),
        json!({"rule": "self.size > 5", "message": "a\nb"}),
        json!({"rule": "self.size > 5", "message": " "}),
        json!({"rule": "self.size > 5", "messageExpression": " "}),
        json!({"rule": "self.size"}),
        json!({"rule": "self.nope"}),
        json!({"rule": "self.size >"}),
        json!({"rule": "self == 1"}),
        json!({"rule": "self.inner == self.size"}),
        json!({"rule": "int('x') == 1"}),
        json!({"rule": "self.free[9] == 'x'"}),
        json!({"rule": "self.port + 'x' == 'y'"}),
        json!({"rule": "self.port.startsWith('x')"}),
        json!({"rule": "dyn(self.size).foo == 1"}),
        json!({"rule": "self.size == oldSelf.size"}),
        json!({"rule": "self.size >= oldSelf.size", "message": "may not shrink"}),
        json!({"rule": "oldSelf.hasValue() && oldSelf.value().size == self.size", "optionalOldSelf": true}),
        json!({"rule": "!oldSelf.hasValue()", "optionalOldSelf": true, "messageExpression": "oldSelf.?name.orValue('none')"}),
        json!({"rule": "self.size == 1", "optionalOldSelf": true}),
        json!({"rule": "self.size == 1", "optionalOldSelf": false}),
        json!({"rule": "self.size == 1", "messageExpression": "oldSelf.name"}),
        json!({"rule": "self.size == oldSelf.size", "messageExpression": "'was ' + string(oldSelf.size)"}),
        json!({"rule": "self.free.all(x, self.free.all(y, x == y))"}),
        json!({"rule": "self.free.all(x, self.free.all(y, self.free.all(z, x == y && y == z)))"}),
        json!({"rule": "self.tags.all(x, self.tags.all(y, x == y))"}),
        json!({"rule": "self.free.all(x, x.contains(self.free[0]))"}),
        json!({"rule": "self.free.exists(x, x == 'x')", "messageExpression": "self.free.map(x, self.free.map(y, y + x).join()).join()"}),
        json!({"rule": "self.labels.all(k, k.matches('^[a-z]+$'))"}),
        json!({"rule": "lists.range(2000000).all(x, x >= 0)"}),
        json!({"rule": "lists.range(900000).all(x, x >= 0)"}),
        json!({"rule": "self.size == 1", "messageExpression": "lists.range(2000000).map(x, string(x)).join()"}),
        json!({"rule": "has(self.inner.__namespace__)"}),
        json!({"rule": "has(self.inner.namespace) || self.inner.a == 'y'"}),
        json!({"rule": "self.free.sum() == 1"}),
        json!({"rule": "self.name.size() > 3 ? true : self.labels['zz'] == 'q'"}),
    ]
}

/// A schema with rules at all kinds of nodes.
fn everywhere() -> Value {
    let rule = |text: &str| json!([{"rule": text}]);
    json!({
        "type": "object",
        "x-kubernetes-validations": rule("self.metadata.name.size() > 3"),
        "properties": {"spec": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "x-kubernetes-validations": rule("self.startsWith('x')")},
                "fixed": {"type": "string", "x-kubernetes-validations": rule("self == oldSelf")},
                "size": {"type": "integer", "x-kubernetes-validations": rule("self > 5")},
                "ratio": {"type": "number", "x-kubernetes-validations": rule("self > 5.0")},
                "on": {"type": "boolean", "x-kubernetes-validations": rule("self")},
                "port": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": rule("self == 'x'")},
                "list": {
                    "type": "array", "maxItems": 3, "x-kubernetes-validations": rule("self.size() < 1"),
                    "items": {"type": "string", "maxLength": 3, "x-kubernetes-validations": rule("self.size() > 2")},
                },
                "keyed": {
                    "type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
                    "items": {
                        "type": "object", "required": ["key"],
                        "properties": {"key": {"type": "string"}, "value": {"type": "integer", "x-kubernetes-validations": rule("self >= oldSelf")}},
                        "x-kubernetes-validations": rule("!has(self.value) || self.value > 1"),
                    },
                },
                "plain": {
                    "type": "array", "maxItems": 3,
                    "items": {"type": "object", "properties": {"v": {"type": "integer"}}, "x-kubernetes-validations": rule("self.v == oldSelf.v")},
                },
                "labels": {
                    "type": "object", "maxProperties": 3, "x-kubernetes-validations": rule("!('bad' in self)"),
                    "additionalProperties": {"type": "string", "maxLength": 5, "x-kubernetes-validations": rule("self != 'bad'")},
                },
                "maybe": {"type": "string", "nullable": true, "x-kubernetes-validations": rule("self == 'x'")},
                "odd-name/x": {"type": "string", "x-kubernetes-validations": rule("self == 'x'")},
                "a b": {"type": "string", "x-kubernetes-validations": rule("self == 'x'")},
                "embedded": {
                    "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
                    "x-kubernetes-validations": rule("self.kind == 'Pod' && self.metadata.name == 'p'"),
                },
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": rule("has(self.x)")},
            },
        }},
    })
}

fn everything() -> Vec<Value> {
    let spec = |spec: Value| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
    vec![
        spec(json!({})),
        spec(json!({"name": "n", "fixed": "a", "size": 3, "ratio": 1, "on": false, "port": 80})),
        spec(json!({"name": "n", "fixed": "b", "size": 3, "ratio": 1.5, "on": false, "port": "q"})),
        spec(
            json!({"list": ["a", "bbb"], "labels": {"bad": "x", "y": "bad"}, "maybe": null, "odd-name/x": "y", "a b": "z"}),
        ),
        spec(json!({"list": ["a", "bbb"], "labels": {"bad": "x"}, "maybe": "q", "odd-name/x": "y", "a b": "x"})),
        spec(json!({"keyed": [{"key": "a", "value": 1}, {"key": "b", "value": 5}], "plain": [{"v": 1}]})),
        spec(json!({"keyed": [{"key": "b", "value": 4}, {"key": "a", "value": 1}], "plain": [{"v": 2}]})),
        spec(json!({"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}}, "any": {"x": 1}})),
    ]
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut old = object();
    old["spec"]["size"] = json!(4);
    old["spec"]["name"] = json!("o");
    let olds = [None, Some(old), Some(object())];
    for rule in rules() {
        let objects = olds.iter().map(|old| (object(), old.clone())).collect();
        cases.push(Case { schema: spec(properties(), json!([rule])), objects });
    }
    let mut objects = Vec::new();
    for object in everything() {
        objects.push((object.clone(), None));
        objects.extend(everything().into_iter().map(|old| (object.clone(), Some(old))));
    }
    cases.push(Case { schema: everywhere(), objects });
    // Together they cost too much, and no one of them does.
    let costly = json!({"rule": "self.free.all(x, x.size() < 5 && x.startsWith('aaaaaaaaaaaa') && x != self.name)"});
    let many: Vec<Value> = std::iter::repeat_n(costly, 30).collect();
    cases.push(Case { schema: spec(properties(), json!(many)), objects: vec![(object(), None)] });
    let spending = json!({"rule": "lists.range(900000).size() > 0"});
    let many: Vec<Value> = std::iter::repeat_n(spending, 14).collect();
    cases.push(Case { schema: spec(properties(), json!(many)), objects: vec![(object(), None)] });
    cases
}

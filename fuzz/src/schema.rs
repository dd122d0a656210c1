//! Schemas of custom kinds that are mostly structural, and values that mostly fit them.

use arbitrary::{Arbitrary, Result, Unstructured};
use serde_json::{Map, Value, json};

/// The names of fields: few, so that objects and schemas meet.
pub const NAMES: &[&str] = &["a", "b", "c", "name", "spec", "status", "metadata", "apiVersion", "kind", "labels"];

const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "abc",
    "2020-01-01T00:00:00Z",
    "a@b.c",
    "http://a/b",
    "1h",
    "10.0.0.0/8",
    "1.2.3.4",
    "YQ==",
    "5",
    "\u{e9}",
];
const FORMATS: &[&str] = &["date-time", "date", "email", "uri", "duration", "int32", "int64", "cidr", "ipv4", "byte", "uuid", "x"];
const PATTERNS: &[&str] = &["^a+(b|c)*$", "(?i)[[:alpha:]]{2,3}", "^$", "("];
const RULES: &[(&str, &[&str])] = &[
    ("object", &["has(self.a)", "!has(self.b) || has(self.a)", "self == oldSelf", "size(self) < 3", "self.a == oldSelf.a"]),
    ("array", &["size(self) < 3", "self.all(x, x == x)", "self == oldSelf", "self.exists(x, x in oldSelf)"]),
    ("string", &["self.size() < 3", "self == oldSelf", "self.matches('^a')", "self in ['a', 'b']"]),
    ("integer", &["self < 3", "self >= oldSelf", "self / 0 == 1"]),
    ("number", &["self < 3.0", "self == oldSelf"]),
    ("boolean", &["self", "self || !oldSelf"]),
];

/// The schema of a kind: what it says of `metadata` may be anything, too.
#[derive(Clone, Debug)]
pub struct KindSchema(pub Value);

impl<'a> Arbitrary<'a> for KindSchema {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut schema = json!({"type": "object"});
        object(input, 4, &mut schema)?;
        if input.ratio(1, 8)? {
            schema["x-kubernetes-preserve-unknown-fields"] = true.into();
        }
        Ok(Self(schema))
    }
}

/// A part of a schema.
fn part(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    let kind = *input.choose(&["object", "array", "string", "integer", "number", "boolean", "either", "any"])?;
    let kind = if depth == 0 && matches!(kind, "object" | "array") { "string" } else { kind };
    let mut schema = match kind {
        "either" => json!({"x-kubernetes-int-or-string": true}),
        "any" => json!({"x-kubernetes-preserve-unknown-fields": true}),
        kind => json!({"type": kind}),
    };
    match kind {
        "object" => object(input, depth - 1, &mut schema)?,
        "array" => array(input, depth - 1, &mut schema)?,
        _ => scalar(input, kind, &mut schema)?,
    }
    if input.ratio(1, 6)? {
        schema["nullable"] = true.into();
    }
    if input.ratio(1, 6)? {
        let rules = RULES.iter().find(|(of, _)| *of == kind).map_or(&["true"] as &[&str], |(_, rules)| *rules);
        schema["x-kubernetes-validations"] = json!([{"rule": *input.choose(rules)?}]);
    }
    if input.ratio(1, 4)? {
        schema["default"] = value(input, &schema, 3)?;
    }
    Ok(schema)
}

fn object(input: &mut Unstructured<'_>, depth: usize, schema: &mut Value) -> Result<()> {
    if input.ratio(1, 5)? {
        schema["additionalProperties"] = if input.ratio(1, 8)? { json!(input.arbitrary::<bool>()?) } else { part(input, depth)? };
    } else {
        let mut properties = Map::new();
        for _ in 0..input.int_in_range(0..=3)? {
            properties.insert((*input.choose(NAMES)?).to_owned(), part(input, depth)?);
        }
        if input.ratio(1, 4)? {
            let names: Vec<&String> = properties.keys().collect();
            if let Ok(name) = input.choose(&names) {
                schema["required"] = json!([name]);
            }
        }
        schema["properties"] = properties.into();
        if input.ratio(1, 8)? {
            schema["x-kubernetes-preserve-unknown-fields"] = true.into();
        }
    }
    match input.int_in_range(0..=20)? {
        0 => schema["x-kubernetes-embedded-resource"] = true.into(),
        1 => schema["x-kubernetes-map-type"] = "atomic".into(),
        2 => schema["maxProperties"] = 1.into(),
        3 => schema["anyOf"] = json!([{"required": ["a"]}, {"properties": {"b": {"maximum": 3}}}]),
        4 => schema["not"] = json!({"required": ["c"]}),
        5 => schema["minProperties"] = 1.into(),
        _ => {}
    }
    Ok(())
}

fn array(input: &mut Unstructured<'_>, depth: usize, schema: &mut Value) -> Result<()> {
    let items = match input.int_in_range(0..=3)? {
        0 => {
            let mut items = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
            items["properties"]["a"] = part(input, depth)?;
            schema["x-kubernetes-list-type"] = "map".into();
            schema["x-kubernetes-list-map-keys"] = json!(["name"]);
            if input.ratio(1, 3)? {
                items["properties"]["b"] = json!({"type": "integer", "default": 7});
                schema["x-kubernetes-list-map-keys"] = json!(["name", "b"]);
            }
            items
        }
        1 => {
            schema["x-kubernetes-list-type"] = "set".into();
            json!({"type": *input.choose(&["string", "integer", "boolean", "number"])?})
        }
        2 => {
            schema["x-kubernetes-list-type"] = "atomic".into();
            part(input, depth)?
        }
        _ => part(input, depth)?,
    };
    schema["items"] = items;
    if input.ratio(1, 5)? {
        schema["maxItems"] = 2.into();
    }
    Ok(())
}

fn scalar(input: &mut Unstructured<'_>, kind: &str, schema: &mut Value) -> Result<()> {
    let (key, facet) = match (input.int_in_range(0..=9)?, kind) {
        (0, "string") => ("format", json!(*input.choose(FORMATS)?)),
        (1, "string") => ("pattern", json!(*input.choose(PATTERNS)?)),
        (2, "string") => ("maxLength", json!(2)),
        (0, "integer" | "number") => ("maximum", json!(5)),
        (1, "integer" | "number") => ("multipleOf", json!(2)),
        (2, "integer" | "number") => ("format", json!(*input.choose(FORMATS)?)),
        (3, _) => ("enum", json!([leaf(input)?, leaf(input)?])),
        _ => return Ok(()),
    };
    schema[key] = facet;
    Ok(())
}

fn leaf(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=7)? {
        0 => Value::Null,
        1 => json!(input.arbitrary::<bool>()?),
        2 | 3 => json!(input.int_in_range(-3..=9)?),
        4 => json!(*input.choose(&[0.5, 2.0, 1e20, -0.0, 9_223_372_036_854_775_807.0])?),
        5 => json!(input.arbitrary::<i32>()?),
        _ => json!(*input.choose(TEXTS)?),
    })
}

/// A value that mostly is as its schema says.
pub fn value(input: &mut Unstructured<'_>, schema: &Value, depth: usize) -> Result<Value> {
    if input.ratio(1, 16)? {
        return leaf(input);
    }
    let object = |input: &mut Unstructured<'_>, depth: usize| -> Result<Value> {
        let mut members = Map::new();
        let known: Vec<(&String, &Value)> =
            schema.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
        for (name, part) in known {
            if input.ratio(2, 3)? {
                members.insert(name.clone(), value(input, part, depth)?);
            }
        }
        let others = schema.get("additionalProperties").unwrap_or(&Value::Null);
        if !others.is_null() || input.ratio(1, 6)? {
            for _ in 0..input.int_in_range(0..=2)? {
                members.insert((*input.choose(NAMES)?).to_owned(), value(input, others, depth)?);
            }
        }
        Ok(members.into())
    };
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    Ok(match kind {
        "object" if depth > 0 => object(input, depth - 1)?,
        "array" if depth > 0 => {
            let count = input.int_in_range(0..=3)?;
            let items = (0..count).map(|_| value(input, schema.get("items").unwrap_or(&Value::Null), depth - 1));
            Value::Array(items.collect::<Result<_>>()?)
        }
        "object" => json!({}),
        "array" => json!([]),
        "integer" => json!(input.int_in_range(-3..=9)?),
        "number" => json!(*input.choose(&[0.5, 2.0, 1.0, 7.25])?),
        "boolean" => json!(input.arbitrary::<bool>()?),
        "string" => json!(*input.choose(TEXTS)?),
        _ if depth > 0 && input.ratio(1, 3)? => {
            let inner = value(input, &Value::Null, depth - 1)?;
            if input.arbitrary()? { json!([inner]) } else { json!({*input.choose(NAMES)?: inner}) }
        }
        _ => leaf(input)?,
    })
}

/// An object of a kind.
pub fn object_of(input: &mut Unstructured<'_>, schema: &Value) -> Result<Map<String, Value>> {
    match value(input, schema, 6)? {
        Value::Object(object) => Ok(object),
        other => Ok([("spec".to_owned(), other)].into_iter().collect()),
    }
}

//! The schema of a custom kind as OpenAPI shows it to clients: with the texts of its definition, and with what every
//! Kubernetes object has.

use serde_json::{Map, Value, json};

use crate::definition;

const CONVENTIONS: &str = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const META: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.";
const UNION: &str = "x-kubernetes-int-or-string";

/// The schema of a kind, made of its `openAPIV3Schema`. Nothing but its form is known of one that is not structural.
pub fn kind_schema(schema: Option<&Value>) -> Map<String, Value> {
    let structural = schema.and_then(Value::as_object).filter(|schema| definition::is_structural(schema));
    let Some(schema) = structural else { return Map::from_iter([("type".to_owned(), "object".into())]) };
    let mut shown = structural_node(schema);
    let properties = properties_of(&mut shown);
    properties.insert("metadata".to_owned(), metadata());
    properties.extend(type_properties());
    shown
}

/// The schema of a list of a kind.
pub fn list_schema(kind: &str, list_kind: &str, plural: &str, reference: &str) -> Map<String, Value> {
    let items = json!({
        "description": format!("List of {plural}. More info: {CONVENTIONS}"),
        "type": "array",
        "items": {"$ref": reference},
    });
    let metadata = json!({
        "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
        "allOf": [{"$ref": format!("{META}ListMeta")}],
    });
    let mut properties = Map::from_iter([("items".to_owned(), items), ("metadata".to_owned(), metadata)]);
    properties.extend(type_properties());
    Map::from_iter([
        ("description".to_owned(), format!("{list_kind} is a list of {kind}").into()),
        ("type".to_owned(), "object".into()),
        ("required".to_owned(), json!(["items"])),
        ("properties".to_owned(), properties.into()),
    ])
}

fn properties_of(schema: &mut Map<String, Value>) -> &mut Map<String, Value> {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    properties.as_object_mut().expect("it was made an object")
}

fn metadata() -> Value {
    json!({
        "description": format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"),
        "allOf": [{"$ref": format!("{META}ObjectMeta")}],
    })
}

fn type_properties() -> [(String, Value); 2] {
    let version = format!(
        "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized \
         schemas to the latest internal value, and may reject unrecognized values. More info: {CONVENTIONS}#resources"
    );
    let kind = format!(
        "Kind is a string value representing the REST resource this object represents. Servers may infer this from the \
         endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: {CONVENTIONS}#types-kinds"
    );
    [
        ("apiVersion".to_owned(), json!({"description": version, "type": "string"})),
        ("kind".to_owned(), json!({"description": kind, "type": "string"})),
    ]
}

/// A schema that says what a value is.
fn structural_node(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            ("items" | "additionalProperties", Value::Object(inner)) => structural_node(inner).into(),
            ("items", _) => continue,
            ("properties", Value::Object(all)) => {
                let shown =
                    all.iter().filter_map(|(name, inner)| Some((name.clone(), structural_node(inner.as_object()?))));
                shown.map(|(name, inner)| (name, Value::Object(inner))).collect::<Map<_, _>>().into()
            }
            (key, value) => clauses(key, value).unwrap_or_else(|| value.clone()),
        };
        shown.insert(key.clone(), value);
    }
    unfold(&mut shown);
    embed(&mut shown);
    shown
}

/// Conditions among the members of a schema.
fn clauses(key: &str, value: &Value) -> Option<Value> {
    match (key, value) {
        ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
            Some(list.iter().filter_map(Value::as_object).map(|clause| Value::Object(clause_node(clause))).collect())
        }
        ("not", Value::Object(clause)) => Some(clause_node(clause).into()),
        _ => None,
    }
}

/// A condition on a value.
fn clause_node(clause: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, value) in clause {
        let value = match (key.as_str(), value) {
            ("items", Value::Object(inner)) => clause_node(inner).into(),
            ("items" | "additionalProperties", _) => continue,
            ("properties", Value::Object(all)) => {
                let shown =
                    all.iter().filter_map(|(name, inner)| Some((name.clone(), clause_node(inner.as_object()?))));
                shown.map(|(name, inner)| (name, Value::Object(inner))).collect::<Map<_, _>>().into()
            }
            (key, value) => clauses(key, value).unwrap_or_else(|| value.clone()),
        };
        shown.insert(key.clone(), value);
    }
    shown
}

/// A number or a text, said so that those understand who do not know the extension.
fn unfold(schema: &mut Map<String, Value>) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    if schema.get(UNION) != Some(&Value::Bool(true)) {
        return;
    }
    let first = schema.get("allOf").and_then(|all| all.get(0)).and_then(|clause| clause.get("anyOf"));
    if first == Some(&either) || schema.get("anyOf") == Some(&either) {
        return;
    }
    if schema.contains_key("anyOf") {
        let all = schema.get("allOf").and_then(Value::as_array).cloned().unwrap_or_default();
        let all = std::iter::once(json!({"anyOf": either})).chain(all).collect();
        schema.insert("allOf".to_owned(), all);
    } else {
        schema.insert("anyOf".to_owned(), either);
    }
}

/// Embedded resources have what every object has.
fn embed(schema: &mut Map<String, Value>) {
    if schema.get("x-kubernetes-embedded-resource") != Some(&Value::Bool(true)) {
        return;
    }
    let version = format!(
        "apiVersion defines the versioned schema of this representation of an object. More info: {CONVENTIONS}#resources"
    );
    let kind = format!(
        "kind is a string value representing the type of this object. In CamelCase. More info: {CONVENTIONS}#types-kinds"
    );
    let properties = properties_of(schema);
    properties.insert("apiVersion".to_owned(), json!({"description": version, "type": "string"}));
    properties.insert("kind".to_owned(), json!({"description": kind, "type": "string"}));
    properties.insert("metadata".to_owned(), metadata());
    let mut required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for name in ["kind", "apiVersion"] {
        if !required.iter().any(|known| known == name) {
            required.push(name.into());
        }
    }
    schema.insert("required".to_owned(), required.into());
}

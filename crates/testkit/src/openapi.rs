//! OpenAPI documents without Kubernetes' prose, which our server does not have.

use serde_json::{Map, Value};

/// A document of a group of custom kinds, with the prose of its definitions and without that of Kubernetes.
///
/// References that stand in `allOf` only because of prose stand alone, parameters have an order, and Kubernetes' own types do not
/// list all groups that use them.
pub fn bare(document: Value) -> Value {
    let Value::Object(mut members) = document else { return document };
    if let Some(schemas) = members.get_mut("components").and_then(|components| components.get_mut("schemas"))
        && let Some(schemas) = schemas.as_object_mut()
    {
        for (name, schema) in schemas {
            let own = !name.starts_with("io.k8s.") && !name.ends_with("List");
            let taken = schema.take();
            *schema = if own { without_common(taken, true) } else { stripped(taken, false) };
            if name.starts_with("io.k8s.")
                && let Some(schema) = schema.as_object_mut()
            {
                schema.remove("x-kubernetes-group-version-kind");
            }
        }
    }
    let rest = members.into_iter().map(|(key, value)| match key.as_str() {
        "components" => (key, value),
        _ => (key, stripped(value, false)),
    });
    Value::Object(rest.collect())
}

/// A document without prose. References that stand in `allOf` only because of it stand alone, and parameters have an order.
pub fn without_prose(document: Value) -> Value {
    stripped(document, false)
}

/// What every object has is described by Kubernetes, at the top and in embedded objects.
fn without_common(value: Value, top: bool) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| without_common(item, false)).collect(),
        Value::Object(mut members) => {
            let embedded = members.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
            if (top || embedded)
                && let Some(Value::Object(properties)) = members.get_mut("properties")
            {
                for name in ["apiVersion", "kind", "metadata"] {
                    if let Some(property) = properties.get_mut(name) {
                        *property = stripped(property.take(), false);
                    }
                }
            }
            Value::Object(members.into_iter().map(|(key, value)| (key, without_common(value, false))).collect())
        }
        scalar => scalar,
    }
}

/// `named` says that the keys are names of somebody's choice.
fn stripped(value: Value, named: bool) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| stripped(item, false)).collect(),
        Value::Object(members) => {
            let prose = |key: &str, value: &Value| !named && key == "description" && value.is_string();
            let mut members: Map<String, Value> = members
                .into_iter()
                .filter(|(key, value)| !prose(key, value))
                .map(|(key, value)| {
                    let named = !named && key == "properties";
                    (key, stripped(value, named))
                })
                .collect();
            if members.len() == 1
                && let Some(Value::Array(all)) = members.get("allOf")
                && let [only] = all.as_slice()
            {
                return only.clone();
            }
            if let Some(Value::Array(parameters)) = members.get_mut("parameters") {
                parameters.sort_by_cached_key(ToString::to_string);
            }
            members.into()
        }
        scalar => scalar,
    }
}

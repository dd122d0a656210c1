//! What the server makes of a definition before it is stored.

use serde_json::{Map, Number, Value, json};

use super::names::lowercase;
use super::read::{self, Object, child_mut};

/// Fills in what Kubernetes fills in whenever it reads a definition.
pub fn default(definition: &mut Object) {
    let spec = child_mut(definition, "spec");
    let names = child_mut(spec, "names");
    let kind = read::text(names, "kind").to_owned();
    if read::text(names, "singular").is_empty() && !kind.is_empty() {
        names.insert("singular".to_owned(), lowercase(&kind).into());
    }
    if read::text(names, "listKind").is_empty() && !kind.is_empty() {
        names.insert("listKind".to_owned(), format!("{kind}List").into());
    }
    default_conversion(spec);
    for version in list_mut(spec, "versions") {
        if let Some(schema) = version.get_mut("schema").and_then(|schema| schema.get_mut("openAPIV3Schema")) {
            settle_numbers(schema);
        }
    }
    let storage = storage_version(definition).map(str::to_owned);
    let status = child_mut(definition, "status");
    if read::list(status, "storedVersions").is_empty()
        && let Some(storage) = storage
    {
        status.insert("storedVersions".to_owned(), json!([storage]));
    }
}

fn default_conversion(spec: &mut Object) {
    if spec.get("conversion").is_none_or(Value::is_null) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    let conversion = child_mut(spec, "conversion");
    let Some(webhook) = conversion.get_mut("webhook").and_then(Value::as_object_mut) else { return };
    if let Some(service) =
        webhook.get_mut("clientConfig").and_then(|client| client.get_mut("service")).and_then(Value::as_object_mut)
        && service.get("port").is_none_or(Value::is_null)
    {
        service.insert("port".to_owned(), 443.into());
    }
    // A webhook of which nothing is said does not come through Kubernetes' internal form.
    let unsaid = |key| webhook.get(key).is_none_or(Value::is_null);
    if unsaid("clientConfig") && unsaid("conversionReviewVersions") {
        conversion.remove("webhook");
    }
}

/// Values in a schema go through Go's numbers, which writes `1.0` as `1`.
fn settle_numbers(schema: &mut Value) {
    match schema {
        Value::Object(members) => members.values_mut().for_each(settle_numbers),
        Value::Array(items) => items.iter_mut().for_each(settle_numbers),
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let is_minus_zero = float == 0.0 && float.is_sign_negative();
    if is_minus_zero { None } else { format!("{float}").parse::<i64>().ok().map(Number::from) }
}

/// A new definition has no status but the version in which objects will be stored.
pub fn prepare_create(definition: &mut Object) {
    let mut status = json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": null});
    if let Some(storage) = storage_version(definition)
        && let Some(status) = status.as_object_mut()
    {
        status.insert("storedVersions".to_owned(), json!([storage]));
    }
    definition.insert("status".to_owned(), status);
    child_mut(definition, "metadata").insert("generation".to_owned(), 1.into());
}

/// The status stays, but for a version in which objects are stored from now on; a change of the spec is counted.
pub fn prepare_update(definition: &mut Object, old: &Object) {
    keep(definition, old, "status");
    if !same_spec(definition, old) {
        let metadata = read::child(old, "metadata");
        let generation = metadata.and_then(|metadata| metadata.get("generation")).and_then(Value::as_i64);
        let next = generation.unwrap_or_default().saturating_add(1);
        child_mut(definition, "metadata").insert("generation".to_owned(), next.into());
    }
    let Some(storage) = storage_version(definition).map(str::to_owned) else { return };
    let status = child_mut(definition, "status");
    if !read::texts(status, "storedVersions").any(|stored| stored == storage) {
        let mut stored = read::list(status, "storedVersions").to_vec();
        stored.push(storage.into());
        status.insert("storedVersions".to_owned(), stored.into());
    }
}

/// Whether two specs mean the same: a webhook of which nothing is said is as good as none.
fn same_spec(new: &Object, old: &Object) -> bool {
    let settled = |definition: &Object| {
        let mut spec = read::child(definition, "spec").cloned().unwrap_or_default();
        let conversion = child_mut(&mut spec, "conversion");
        let is_empty = |webhook: &Object| {
            webhook.get("clientConfig").is_none_or(Value::is_null)
                && read::list(webhook, "conversionReviewVersions").is_empty()
        };
        if read::child(conversion, "webhook").is_some_and(is_empty) {
            conversion.remove("webhook");
        }
        if read::list(&spec, "versions").is_empty() {
            spec.remove("versions");
        }
        spec
    };
    new.get("spec") == old.get("spec") || settled(new) == settled(old)
}

/// Only the status, and the metadata, come from the client.
pub fn prepare_status(definition: &mut Object, old: &Object) {
    keep(definition, old, "spec");
}

fn keep(definition: &mut Map<String, Value>, old: &Object, key: &str) {
    match old.get(key) {
        Some(value) => definition.insert(key.to_owned(), value.clone()),
        None => definition.remove(key),
    };
}

/// The first version that is said to be the one for storage.
fn storage_version(definition: &Object) -> Option<&str> {
    let spec = read::child(definition, "spec")?;
    read::items(spec, "versions")
        .find(|version| read::flag(version, "storage"))
        .map(|version| read::text(version, "name"))
}

fn list_mut<'a>(object: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Value> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

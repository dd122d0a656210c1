//! What becomes of a write, on both sides of the oracle's `strategy`.

use rolewright_server::facts::Resource;
use rolewright_server::kinds;
use rolewright_server::status::Failure;
use rolewright_server::strategy::{Object, before_create, before_update, wipe_system_fields};
use serde::Deserialize;
use serde_json::Value;

/// What the oracle says of a list of writes.
#[derive(Debug, Deserialize)]
pub struct Answer {
    /// In the order of the writes.
    pub results: Vec<Prepared>,
}

/// What Kubernetes makes of a write.
#[derive(Debug, Deserialize)]
pub struct Prepared {
    /// What it stores.
    pub object: Option<Value>,
    /// Why it stores nothing.
    pub status: Option<Value>,
    /// What it tells the client.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Why its code could not be asked.
    #[serde(default)]
    pub error: String,
}

/// What we store, with the warnings, or why we store nothing. Both objects have their defaults.
///
/// # Panics
///
/// If an object has no metadata.
pub fn ours(
    resource: &'static Resource,
    subresource: &str,
    namespace: &str,
    mut object: Object,
    old: Option<Object>,
) -> Result<(Object, Vec<String>), Failure> {
    let rules = kinds::strategy(resource.group, resource.plural);
    let Some(mut old) = old else {
        wipe_system_fields(&mut object);
        let metadata = metadata_of(&mut object);
        metadata.insert("uid".into(), "00000000-0000-0000-0000-000000000000".into());
        metadata.insert("creationTimestamp".into(), "2020-01-01T00:00:00Z".into());
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("name").is_empty() && !text("generateName").is_empty() {
            let base = text("generateName");
            let name = format!("{}xxxxx", base.get(..58).unwrap_or(base));
            metadata.insert("name".into(), name.into());
        }
        before_create(resource, &mut object, namespace)?;
        let metadata = metadata_of(&mut object);
        metadata.remove("uid");
        metadata.remove("creationTimestamp");
        let warnings = rules.warnings(&object, None);
        return Ok((object, warnings));
    };
    let version = metadata_of(&mut old).entry("resourceVersion").or_insert_with(|| "1".into()).clone();
    metadata_of(&mut object).entry("resourceVersion").or_insert(version);
    before_update(resource, subresource, &mut object, &old)?;
    let warnings = rules.warnings(&object, Some(&old));
    Ok((object, warnings))
}

fn metadata_of(object: &mut Object) -> &mut Object {
    object.get_mut("metadata").and_then(Value::as_object_mut).expect("every object has metadata")
}

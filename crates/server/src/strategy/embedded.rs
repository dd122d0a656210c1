//! What the server knows of metadata, for the resources that are embedded in objects of custom kinds.

use rolewright_core::validate::{FieldError, names};
use rolewright_crd::metadata::{Conformed, ObjectMeta};
use serde_json::{Value, json};

use super::metadata;
use crate::{codec, facts};

/// Kubernetes' metadata, the same in all kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metadata;

impl ObjectMeta for Metadata {
    fn conform(&self, found: &Value) -> Result<Conformed, String> {
        let ty = facts::type_named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").ok_or("no such type")?;
        let codec::Conformed { value, strict, .. } = codec::conform(ty, found.clone())?;
        let Value::Object(metadata) = value else { return Err("metadata is no object".to_owned()) };
        let path = |text: String| Some(text.strip_prefix("unknown field \"")?.strip_suffix('"')?.to_owned());
        Ok(Conformed { metadata, unknown: strict.into_iter().filter_map(path).collect() })
    }

    fn faults(&self, found: &Value) -> Vec<FieldError> {
        let mut object = super::Object::new();
        let mut found = found.clone();
        let text = |field: &str| found.get(field).and_then(Value::as_str).unwrap_or_default();
        let (namespaced, unnamed) = (!text("namespace").is_empty(), text("name").is_empty());
        if let (true, Value::Object(metadata)) = (unnamed, &mut found) {
            // An embedded resource need not have a name.
            metadata.insert("name".to_owned(), json!("fakename"));
        }
        object.insert("metadata".to_owned(), found);
        let segment = |name: &str, prefix: bool| {
            if prefix { names::path_segment_prefix(name) } else { names::path_segment(name) }
        };
        metadata::faults(&object, namespaced, segment)
    }
}

//! Between what clients send, what is stored, and what clients see.

use serde_json::Value;

use super::Version;
use crate::cluster::Entry;
use crate::codec;
use crate::facts;
use crate::strategy::Object;

/// What is done with metadata that is not as it should be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// It is refused.
    Refused,
    /// It is dropped: what was stored once must stay readable.
    Dropped,
}

impl Version {
    /// Brings an object into the form of this version: metadata of its type, nothing that the schema does not know, no
    /// nulls that may not be. Returns what was dropped.
    pub(crate) fn coerce(&self, object: &mut Object, malformed: Malformed) -> Result<Vec<String>, String> {
        let mut dropped = Vec::new();
        let metadata = match object.remove("metadata") {
            None => None,
            Some(metadata) => Some(conform_metadata(metadata, malformed, &mut dropped)?),
        };
        if self.is_of(object) {
            let schema = self.schema();
            dropped.extend(schema.prune_and_tell(object));
            schema.prune_nulls(object);
        }
        object.extend(metadata.map(|metadata| ("metadata".to_owned(), metadata)));
        Ok(dropped)
    }

    /// Puts in what the schema has defaults for.
    pub(crate) fn fill(&self, object: &mut Object) {
        if self.is_of(object) {
            self.schema().apply_defaults(object);
        }
    }

    /// Whether an object says that it is of this kind and version.
    fn is_of(&self, object: &Object) -> bool {
        let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
        text("kind") == self.kind() && text("apiVersion") == self.api_version()
    }

    /// A stored object as this version shows it, with `apiVersion` and `kind`.
    pub(crate) fn view(&self, entry: &Entry) -> Object {
        let mut object = entry.object();
        object.insert("kind".to_owned(), self.kind().into());
        if self.shows_as_stored(entry) {
            return object;
        }
        let version = object.get("apiVersion").and_then(Value::as_str).and_then(|text| text.rsplit_once('/'));
        let written_in = version.and_then(|(_, version)| self.sibling(version)).unwrap_or_else(|| self.clone());
        // What is dropped of an object that is stored is not told to anybody.
        let _ = written_in.coerce(&mut object, Malformed::Dropped);
        written_in.fill(&mut object);
        if written_in.name() != self.name() {
            object.insert("apiVersion".to_owned(), self.api_version().into());
            let _ = self.coerce(&mut object, Malformed::Dropped);
        }
        object
    }

    /// An object of this version in the one that objects are stored in.
    pub(crate) fn to_stored(&self, mut object: Object) -> Object {
        if let Some(stored) = self.sibling(self.stored_version()).filter(|stored| stored.name() != self.name()) {
            object.insert("apiVersion".to_owned(), stored.api_version().into());
            let _ = stored.coerce(&mut object, Malformed::Dropped);
        }
        object
    }
}

fn conform_metadata(metadata: Value, malformed: Malformed, dropped: &mut Vec<String>) -> Result<Value, String> {
    let ty = facts::type_named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").expect("every object has metadata");
    match codec::conform(ty, metadata.clone()) {
        Ok(conformed) => {
            let path = |fault: &String| fault.split('"').nth(1).map(|path| format!("metadata.{path}"));
            dropped.extend(conformed.strict.iter().filter_map(path));
            Ok(conformed.value)
        }
        Err(error) if malformed == Malformed::Refused => Err(error),
        Err(_) => {
            let Value::Object(members) = metadata else { return Ok(Value::Object(Object::new())) };
            let readable = members.into_iter().filter_map(|(key, value)| {
                let one: Object = [(key, value)].into_iter().collect();
                match codec::conform(ty, Value::Object(one)).ok()?.value {
                    Value::Object(one) => Some(one),
                    _ => None,
                }
            });
            Ok(Value::Object(readable.flatten().collect()))
        }
    }
}

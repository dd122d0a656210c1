//! Between what clients send, what is stored, and what clients see.

use rolewright_crd::Schema;
use rolewright_crd::metadata::{Malformed, ObjectMeta as _};
use rolewright_crd::strategy::Kind;
use serde_json::Value;

use super::Version;
use crate::cluster::Entry;
use crate::strategy::Object;
use crate::strategy::embedded::Metadata;

impl Version {
    /// Brings an object into the form of this version: metadata of its type, nothing that the schema does not know, no
    /// nulls that may not be. Returns what was dropped.
    pub(crate) fn coerce(&self, object: &mut Object, malformed: Malformed) -> Result<Vec<String>, String> {
        let mut dropped = Vec::new();
        let metadata = object.remove("metadata");
        let metadata = metadata.map(|metadata| conform(metadata, malformed, &mut dropped)).transpose()?;
        if self.is_of_kind(object) {
            let found = match self.named_in(object) {
                Some(version) => version.rules().coerce(object, malformed),
                // A version that there is not has no fields.
                None => Kind { schema: &Schema::default(), ..self.rules() }.coerce(object, malformed),
            };
            dropped.extend(found.map_err(|error| error.to_string())?);
        }
        object.extend(metadata.map(|metadata| ("metadata".to_owned(), metadata)));
        Ok(dropped)
    }

    /// Puts in what the schema has defaults for.
    pub(crate) fn fill(&self, object: &mut Object) {
        if let Some(version) = self.named_in(object).filter(|_| self.is_of_kind(object)) {
            version.schema().apply_defaults(object);
        }
    }

    /// Whether an object says that it is of this group and kind.
    fn is_of_kind(&self, object: &Object) -> bool {
        let text = |member: &str| object.get(member).and_then(Value::as_str).unwrap_or_default();
        text("kind") == self.kind()
            && text("apiVersion").split_once('/').is_some_and(|(group, _)| group == self.group())
    }

    /// The version that an object says it is of, if there is such a one.
    fn named_in(&self, object: &Object) -> Option<Self> {
        let (_, version) = object.get("apiVersion")?.as_str()?.split_once('/')?;
        self.sibling(version)
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
        let _ = written_in.coerce(&mut object, Malformed::Drop);
        written_in.fill(&mut object);
        if written_in.name() != self.name() {
            object.insert("apiVersion".to_owned(), self.api_version().into());
            let _ = self.coerce(&mut object, Malformed::Drop);
        }
        object
    }

    /// An object of this version in the one that objects are stored in.
    pub(crate) fn to_stored(&self, mut object: Object) -> Object {
        if let Some(stored) = self.sibling(self.stored_version()).filter(|stored| stored.name() != self.name()) {
            object.insert("apiVersion".to_owned(), stored.api_version().into());
            let _ = stored.coerce(&mut object, Malformed::Drop);
        }
        object
    }
}

/// The form of its type; of what is stored, at least the members that have it.
fn conform(metadata: Value, malformed: Malformed, dropped: &mut Vec<String>) -> Result<Value, String> {
    let error = match Metadata.conform(&metadata) {
        Ok(conformed) => {
            dropped.extend(conformed.unknown.iter().map(|path| format!("metadata.{path}")));
            return Ok(Value::Object(conformed.metadata));
        }
        Err(error) => error,
    };
    if malformed == Malformed::Refuse {
        return Err(error);
    }
    let Value::Object(members) = metadata else { return Ok(Value::Object(Object::new())) };
    let one = |(key, value): (String, Value)| {
        let one = Value::Object([(key, value)].into_iter().collect());
        Metadata.conform(&one).ok().map(|conformed| conformed.metadata)
    };
    Ok(Value::Object(members.into_iter().filter_map(one).flatten().collect()))
}

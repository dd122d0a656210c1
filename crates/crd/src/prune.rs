//! Fields that the schema does not know are dropped.

use rolewright_core::validate::Path;
use serde_json::{Map, Value};

use crate::Schema;

impl Schema {
    /// Drops what the schema does not know from an object of the kind, except in `apiVersion`, `kind` and `metadata`.
    pub fn prune(&self, object: &mut Map<String, Value>) {
        Pruner { dropped: None }.object(object, self, true, &Path::Root);
    }

    /// As [`Self::prune`], and says what was dropped: paths such as `spec.items[0].x`, sorted.
    pub fn prune_and_tell(&self, object: &mut Map<String, Value>) -> Vec<String> {
        let mut dropped = Vec::new();
        Pruner { dropped: Some(&mut dropped) }.object(object, self, true, &Path::Root);
        dropped.sort_unstable();
        dropped
    }
}

/// How the walk came to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Unknown fields of the value go.
    Prune,
    /// They stay, but what the schema knows below is still looked at.
    Skip,
}

impl Mode {
    /// What becomes of the fields of a value of this schema.
    pub(crate) fn within(self, schema: &Schema) -> Self {
        if schema.preserves_unknown_fields() { Self::Skip } else { self }
    }
}

/// Whether a field belongs to every object and is nobody's to prune.
pub(crate) fn is_meta(field: &str) -> bool {
    matches!(field, "apiVersion" | "kind" | "metadata")
}

/// As [`Schema::prune`], of a value that stands somewhere in an object.
pub(crate) fn value(value: &mut Value, schema: &Schema, mode: Mode) {
    Pruner { dropped: None }.value(value, schema, mode, &Path::Root);
}

struct Pruner<'a> {
    dropped: Option<&'a mut Vec<String>>,
}

impl Pruner<'_> {
    fn value(&mut self, value: &mut Value, schema: &Schema, mode: Mode, at: &Path<'_>) {
        let mode = mode.within(schema);
        match value {
            Value::Object(object) => self.fields(object, schema, schema.embedded_resource(), mode, at),
            Value::Array(items) => match schema.items() {
                Some(below) => {
                    for (index, item) in items.iter_mut().enumerate() {
                        self.value(item, below, mode, &at.index(index));
                    }
                }
                None if mode == Mode::Prune => self.unknown_items(items, at),
                None => {}
            },
            _ => {}
        }
    }

    fn object(&mut self, object: &mut Map<String, Value>, schema: &Schema, embedded: bool, at: &Path<'_>) {
        self.fields(object, schema, embedded, Mode::Prune.within(schema), at);
    }

    fn fields(&mut self, object: &mut Map<String, Value>, schema: &Schema, embedded: bool, mode: Mode, at: &Path<'_>) {
        object.retain(|name, value| {
            if embedded && is_meta(name) {
                return true;
            }
            if let Some(below) = schema.field(name) {
                self.value(value, below, Mode::Prune, &at.child(name));
                true
            } else if schema.additional().is_some() {
                // Anything may be there, but nothing is known about what is inside.
                self.unknown(value, &at.child(name));
                true
            } else if mode == Mode::Prune {
                self.tell(&at.child(name));
                false
            } else {
                true
            }
        });
    }

    /// A value that no schema describes loses all its fields.
    fn unknown(&mut self, value: &mut Value, at: &Path<'_>) {
        match value {
            Value::Object(object) => {
                for name in object.keys() {
                    self.tell(&at.child(name));
                }
                object.clear();
            }
            Value::Array(items) => self.unknown_items(items, at),
            _ => {}
        }
    }

    fn unknown_items(&mut self, items: &mut [Value], at: &Path<'_>) {
        for (index, item) in items.iter_mut().enumerate() {
            self.unknown(item, &at.index(index));
        }
    }

    fn tell(&mut self, at: &Path<'_>) {
        if let Some(dropped) = &mut self.dropped {
            dropped.push(at.to_string());
        }
    }
}

//! `apiVersion`, `kind` and `metadata` of resources that are embedded in others.

use rolewright_core::validate::{ErrorKind, FieldError, Path, names};
use serde_json::{Map, Value};

use crate::Schema;
use crate::go;

/// What the server knows of metadata; it is the same for all kinds.
pub trait ObjectMeta {
    /// The metadata that is left when Go decodes it and writes it again. The error is Go's.
    fn conform(&self, metadata: &Value) -> Result<Conformed, String>;

    /// The faults of an object that has nothing but this metadata, with paths such as `metadata.labels`. A namespace is
    /// allowed but not asked for, and so is a name, which may be any that fits into a path.
    fn faults(&self, metadata: &Value) -> Vec<FieldError>;
}

/// Metadata in the form of its type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conformed {
    /// The known fields.
    pub metadata: Map<String, Value>,
    /// The paths of unknown ones, such as `ownerReferences[0].x`.
    pub unknown: Vec<String>,
}

/// What to do with fields of the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They are refused: the object comes from a client.
    Refuse,
    /// They are dropped: the object comes from the store.
    Drop,
}

impl Schema {
    /// Gives the metadata of embedded resources the form of its type, and returns the paths of what was unknown in it.
    pub fn coerce_metadata(
        &self,
        object: &mut Map<String, Value>,
        meta: &dyn ObjectMeta,
        malformed: Malformed,
    ) -> Result<Vec<String>, FieldError> {
        let mut coercer = Coercer { meta, malformed, unknown: Vec::new() };
        coercer.fields(self, object, Path::Root)?;
        coercer.unknown.sort_unstable();
        Ok(coercer.unknown)
    }

    /// As [`Self::coerce_metadata`], of a value that may be anything.
    pub(crate) fn coerce_value(
        &self,
        value: &mut Value,
        meta: &dyn ObjectMeta,
        malformed: Malformed,
    ) -> Result<(), FieldError> {
        Coercer { meta, malformed, unknown: Vec::new() }.value(self, value, Path::Root)
    }

    /// As [`Self::validate_metadata`], of a value that may be anything.
    pub(crate) fn validate_value_metadata(&self, value: &Value, meta: &dyn ObjectMeta) -> Vec<FieldError> {
        let mut errors = Vec::new();
        validate_value(self, value, meta, Path::Root, &mut errors);
        errors
    }

    /// The faults of embedded resources.
    pub fn validate_metadata(&self, object: &Map<String, Value>, meta: &dyn ObjectMeta) -> Vec<FieldError> {
        let mut errors = Vec::new();
        validate_fields(self, object, meta, Path::Root, &mut errors);
        errors
    }
}

/// As [`Schema::coerce_metadata`], of a value that stands somewhere in an object, and dropping what is malformed.
pub(crate) fn coerce(value: &mut Value, schema: &Schema, meta: &dyn ObjectMeta) {
    let mut coercer = Coercer { meta, malformed: Malformed::Drop, unknown: Vec::new() };
    // Nothing is refused where it is dropped.
    let _ = coercer.value(schema, value, Path::Root);
}

struct Coercer<'a> {
    meta: &'a dyn ObjectMeta,
    malformed: Malformed,
    unknown: Vec<String>,
}

impl Coercer<'_> {
    fn value(&mut self, schema: &Schema, value: &mut Value, at: Path<'_>) -> Result<(), FieldError> {
        match value {
            Value::Object(object) => self.fields(schema, object, at),
            Value::Array(items) => {
                if let Some(below) = schema.items() {
                    for (index, item) in items.iter_mut().enumerate() {
                        self.value(below, item, at.index(index))?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn fields(&mut self, schema: &Schema, object: &mut Map<String, Value>, at: Path<'_>) -> Result<(), FieldError> {
        if schema.embedded_resource() {
            self.embedded(object, at)?;
        }
        for (name, value) in object.iter_mut() {
            if schema.embedded_resource() && name == "metadata" {
                continue;
            }
            if let Some(below) = schema.property(name) {
                self.value(below, value, at.child(name))?;
            } else if let Some(below) = schema.values() {
                self.value(below, value, at.key(name))?;
            }
        }
        Ok(())
    }

    fn embedded(&mut self, object: &mut Map<String, Value>, at: Path<'_>) -> Result<(), FieldError> {
        for name in ["apiVersion", "kind"] {
            match object.get(name) {
                None | Some(Value::String(_)) => {}
                Some(_) if self.malformed == Malformed::Drop => {
                    object.remove(name);
                }
                Some(found) => return Err(FieldError::invalid(at.child(name), go::shown(found), "must be a string")),
            }
        }
        let Some(found) = object.get_mut("metadata") else { return Ok(()) };
        let at = at.child("metadata");
        let conformed = match self.meta.conform(found) {
            Ok(conformed) => conformed,
            Err(error) if self.malformed == Malformed::Refuse => {
                return Err(FieldError::invalid(at, go::shown(&*found), error));
            }
            Err(_) => match found {
                Value::Object(fields) => self.piecewise(fields),
                // Nothing can be made of it, so it stays.
                _ => return Ok(()),
            },
        };
        self.unknown.extend(conformed.unknown.into_iter().map(|path| format!("{at}.{path}")));
        let mut metadata = conformed.metadata;
        if metadata.get("creationTimestamp").is_some_and(Value::is_null) {
            metadata.remove("creationTimestamp");
        }
        *found = Value::Object(metadata);
        Ok(())
    }

    /// What is left without the fields of the wrong type.
    fn piecewise(&self, fields: &Map<String, Value>) -> Conformed {
        let mut whole = Conformed::default();
        for (name, value) in fields {
            let alone = Value::Object([(name.clone(), value.clone())].into_iter().collect());
            if let Ok(conformed) = self.meta.conform(&alone) {
                whole.metadata.extend(conformed.metadata.into_iter().filter(|(_, value)| !value.is_null()));
                whole.unknown.extend(conformed.unknown);
            }
        }
        whole
    }
}

fn validate_value(schema: &Schema, value: &Value, meta: &dyn ObjectMeta, at: Path<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(object) => validate_fields(schema, object, meta, at, errors),
        Value::Array(items) => {
            if let Some(below) = schema.items() {
                for (index, item) in items.iter().enumerate() {
                    validate_value(below, item, meta, at.index(index), errors);
                }
            }
        }
        _ => {}
    }
}

fn validate_fields(
    schema: &Schema,
    object: &Map<String, Value>,
    meta: &dyn ObjectMeta,
    at: Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if schema.embedded_resource() {
        validate_embedded(object, meta, at, errors);
    }
    for (name, value) in object {
        if let Some(below) = schema.property(name) {
            validate_value(below, value, meta, at.child(name), errors);
        } else if let Some(below) = schema.values() {
            validate_value(below, value, meta, at.key(name), errors);
        }
    }
}

fn validate_embedded(object: &Map<String, Value>, meta: &dyn ObjectMeta, at: Path<'_>, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        if !object.contains_key(name) {
            errors.push(FieldError::required(at.child(name), ""));
        }
    }
    for (name, fault) in [("apiVersion", version_fault as fn(&str) -> Option<String>), ("kind", kind_fault)] {
        let at = at.child(name);
        match object.get(name) {
            None => {}
            Some(Value::String(text)) => {
                if let Some(fault) = fault(text) {
                    errors.push(FieldError::invalid(at, text.as_str(), fault));
                }
            }
            Some(found) => errors.push(FieldError::invalid(at, go::shown(found), "must be a string")),
        }
    }
    if let Some(found) = object.get("metadata") {
        match meta.conform(found) {
            Err(error) => errors.push(FieldError::invalid(at.child("metadata"), go::shown(found), error)),
            Ok(conformed) => {
                let faults = meta.faults(&Value::Object(conformed.metadata));
                errors.extend(faults.into_iter().map(|fault| below(at, fault)));
            }
        }
    }
}

/// An error of an embedded resource, seen from the object that it is embedded in.
fn below(at: Path<'_>, error: FieldError) -> FieldError {
    match at {
        Path::Root => error,
        at => FieldError { field: at.child(&error.field).to_string(), ..error },
    }
}

fn version_fault(text: &str) -> Option<String> {
    match text.matches('/').count() {
        _ if text.is_empty() => Some("must not be empty".to_owned()),
        2.. => Some(format!("unexpected GroupVersion string: {text}")),
        _ => None,
    }
}

fn kind_fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    let faults = names::dns_1035_label(&text.to_lowercase());
    let otherwise = || format!("may have mixed case, but should otherwise match: {}", faults.join(","));
    (!faults.is_empty()).then(otherwise)
}

/// Whether errors keep rules from being evaluated: types, sizes, and what is required or enumerated come first.
pub fn block_rules(errors: &[FieldError]) -> bool {
    use ErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    errors.iter().any(|error| matches!(error.kind, NotSupported | Required | TooLong | TooMany | TypeInvalid))
}

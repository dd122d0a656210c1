//! The numbers that the scale subresource reads and writes.

use rolewright_core::validate::{BadValue, FieldError, Path};
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::go;

/// Where an object has what the scale subresource shows: paths such as `.spec.replicas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// `specReplicasPath`
    pub spec_replicas: SmolStr,
    /// `statusReplicasPath`
    pub status_replicas: SmolStr,
    /// `labelSelectorPath`
    pub label_selector: Option<SmolStr>,
}

impl Scale {
    /// What cannot be shown of an object.
    pub(super) fn faults(&self, object: &Map<String, Value>) -> Vec<FieldError> {
        let mut errors: Vec<FieldError> = replicas(object, &self.spec_replicas).into_iter().collect();
        errors.extend(self.status_faults(object));
        errors
    }

    /// The same for what the status has.
    pub(super) fn status_faults(&self, object: &Map<String, Value>) -> Vec<FieldError> {
        let mut errors: Vec<FieldError> = replicas(object, &self.status_replicas).into_iter().collect();
        if let Some(path) = &self.label_selector {
            let fault = match nested(object, path) {
                Ok(None | Some(Value::String(_))) => None,
                Ok(Some(found)) => Some(mismatch(undotted(path), found, "string")),
                Err(fault) => Some(fault),
            };
            errors.extend(fault.map(|fault| FieldError::invalid(Path::field(path), "", fault)));
        }
        errors
    }
}

fn replicas(object: &Map<String, Value>, path: &str) -> Option<FieldError> {
    let (number, fault) = match nested(object, path) {
        Err(fault) => (0, fault),
        Ok(None) => return None,
        Ok(Some(found)) => match found.as_i64() {
            None => (0, mismatch(undotted(path), found, "int64")),
            Some(number @ ..0) => (number, "should be a non-negative integer".to_owned()),
            Some(number) if number > i64::from(i32::MAX) => {
                (number, format!("should be less than or equal to {}", i32::MAX))
            }
            Some(_) => return None,
        },
    };
    Some(FieldError::invalid(Path::field(path), BadValue::number(number), fault))
}

/// The value at a path of names with dots between.
fn nested<'a>(object: &'a Map<String, Value>, path: &str) -> Result<Option<&'a Value>, String> {
    let path = undotted(path);
    let mut names = path.split('.');
    let Some(mut found) = names.next().and_then(|name| object.get(name)) else { return Ok(None) };
    let mut length = path.split('.').next().map_or(0, str::len);
    for name in names {
        let below = match found {
            Value::Null => return Ok(None),
            Value::Object(below) => below,
            _ => {
                length += 1 + name.len();
                return Err(mismatch(path.get(..length).unwrap_or(path), found, "map[string]interface{}"));
            }
        };
        length += 1 + name.len();
        match below.get(name) {
            Some(value) => found = value,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

fn mismatch(path: &str, found: &Value, wanted: &str) -> String {
    format!(".{path} accessor error: {} is of the type {}, expected {wanted}", go::printed(found), go::type_name(found))
}

/// One dot in front means nothing.
fn undotted(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or(path)
}

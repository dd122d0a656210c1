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

/// What stands at a path is not what it should be; as Kubernetes says it.
type Fault = String;

impl Scale {
    /// The paths of a version's `subresources.scale`.
    pub fn read(scale: &Value) -> Self {
        let path = |member: &str| scale.get(member).and_then(Value::as_str).unwrap_or_default();
        Self {
            spec_replicas: path("specReplicasPath").into(),
            status_replicas: path("statusReplicasPath").into(),
            label_selector: Some(path("labelSelectorPath")).filter(|path| !path.is_empty()).map(SmolStr::from),
        }
    }

    /// How many are wanted; none if the object does not say.
    pub fn wanted(&self, object: &Map<String, Value>) -> Result<Option<i64>, Fault> {
        integer(object, &self.spec_replicas)
    }

    /// How many there are.
    pub fn found(&self, object: &Map<String, Value>) -> Result<Option<i64>, Fault> {
        integer(object, &self.status_replicas)
    }

    /// What selects those that there are; empty if the object does not say.
    pub fn selector(&self, object: &Map<String, Value>) -> Result<String, Fault> {
        let Some(path) = &self.label_selector else { return Ok(String::new()) };
        match nested(object, path)? {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(found) => Err(mismatch(undotted(path), found, "string")),
        }
    }

    /// Wants so many.
    pub fn want(&self, object: &mut Map<String, Value>, replicas: i64) -> Result<(), Fault> {
        let names: Vec<&str> = undotted(&self.spec_replicas).split('.').collect();
        let Some((last, parents)) = names.split_last() else { return Ok(()) };
        let mut at = object;
        for (depth, name) in parents.iter().enumerate() {
            let next = at.entry((*name).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = next else {
                let path = names.get(..=depth).unwrap_or_default().join(".");
                return Err(format!("value cannot be set because .{path} is not a map[string]interface{{}}"));
            };
            at = next;
        }
        at.insert((*last).to_owned(), replicas.into());
        Ok(())
    }

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
            let fault = self.selector(object).err();
            errors.extend(fault.map(|fault| FieldError::invalid(Path::field(path), "", fault)));
        }
        errors
    }
}

fn integer(object: &Map<String, Value>, path: &str) -> Result<Option<i64>, Fault> {
    let Some(found) = nested(object, path)? else { return Ok(None) };
    found.as_i64().map(Some).ok_or_else(|| mismatch(undotted(path), found, "int64"))
}

fn replicas(object: &Map<String, Value>, path: &str) -> Option<FieldError> {
    let (number, fault) = match integer(object, path) {
        Err(fault) => (0, fault),
        Ok(Some(number @ ..0)) => (number, "should be a non-negative integer".to_owned()),
        Ok(Some(number)) if number > i64::from(i32::MAX) => {
            (number, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(_) => return None,
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

//! Where an object has what a Scale shows.

use serde_json::Value;

use crate::strategy::Object;

/// The paths of a Scale in objects of one version.
pub(crate) struct ScalePaths {
    spec_replicas: Box<str>,
    status_replicas: Box<str>,
    selector: Option<Box<str>>,
}

/// What stands at a path is not what it should be; as Kubernetes says it.
type Fault = String;

impl ScalePaths {
    pub(super) fn read(scale: &Value) -> Self {
        let path = |member: &str| scale.get(member).and_then(Value::as_str);
        Self {
            spec_replicas: path("specReplicasPath").unwrap_or_default().into(),
            status_replicas: path("statusReplicasPath").unwrap_or_default().into(),
            selector: path("labelSelectorPath").filter(|path| !path.is_empty()).map(Into::into),
        }
    }

    /// As the definition has it, with its leading dot.
    pub(crate) fn spec_path(&self) -> &str {
        &self.spec_replicas
    }

    pub(crate) fn status_path(&self) -> &str {
        &self.status_replicas
    }

    pub(crate) fn selector_path(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// How many are wanted; none if the object does not say.
    pub(crate) fn wanted(&self, object: &Object) -> Result<Option<i64>, Fault> {
        integer(object, &self.spec_replicas)
    }

    /// How many there are.
    pub(crate) fn found(&self, object: &Object) -> Result<Option<i64>, Fault> {
        integer(object, &self.status_replicas)
    }

    pub(crate) fn selector(&self, object: &Object) -> Result<String, Fault> {
        let Some(path) = &self.selector else { return Ok(String::new()) };
        match at(object, path)? {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(path, other, "string")),
        }
    }

    /// Wants so many.
    pub(crate) fn want(&self, object: &mut Object, replicas: i64) -> Result<(), Fault> {
        let names: Vec<&str> = split(&self.spec_replicas).collect();
        let Some((last, parents)) = names.split_last() else { return Ok(()) };
        let mut at = object;
        for (depth, name) in parents.iter().enumerate() {
            let next = at.entry((*name).to_owned()).or_insert_with(|| Value::Object(Object::new()));
            let Value::Object(next) = next else {
                let path = names.get(..=depth).unwrap_or_default().join(".");
                return Err(format!("value cannot be set because .{path} is not a map[string]interface{{}}"));
            };
            at = next;
        }
        at.insert((*last).to_owned(), replicas.into());
        Ok(())
    }
}

fn split(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('.').unwrap_or(path).split('.')
}

fn wrong(path: &str, found: &Value, expected: &str) -> Fault {
    let dot = if path.starts_with('.') { "" } else { "." };
    format!("{dot}{path} accessor error: {} is of the type {}, expected {expected}", shown(found), go(found))
}

fn at<'a>(object: &'a Object, path: &str) -> Result<Option<&'a Value>, Fault> {
    let mut names = split(path);
    let Some(mut found) = names.next().and_then(|name| object.get(name)) else { return Ok(None) };
    for name in names {
        let Value::Object(members) = found else { return Err(wrong(path, found, "map[string]interface{}")) };
        match members.get(name) {
            Some(next) => found = next,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

fn integer(object: &Object, path: &str) -> Result<Option<i64>, Fault> {
    let Some(found) = at(object, path)? else { return Ok(None) };
    found.as_i64().map(Some).ok_or_else(|| wrong(path, found, "int64"))
}

fn go(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// As Go prints a value; maps in the order of their keys.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            format!("map[{}]", members.join(" "))
        }
        other => other.to_string(),
    }
}

//! What of an object a manager wrote, from `managedFields`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Managed;
use crate::Name;

/// What a manager wrote of the object itself; `None` if it never did.
pub(super) fn managed(fields: Option<&Value>, manager: &str, operation: &str) -> Option<Managed> {
    let is_theirs = |entry: &&Value| {
        let says = |name: &str, text: &str| entry.get(name).is_some_and(|value| value == text);
        let whole = entry.get("subresource").is_none_or(Value::is_null);
        whole && says("manager", manager) && says("operation", operation)
    };
    let entry = fields?.as_array()?.iter().find(is_theirs)?;
    Some(named(entry.get("fieldsV1").unwrap_or(&Value::Null)))
}

/// Who wrote what, out of an object's metadata as text. Most of it is about the fields of others and is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entries<'a> {
    #[serde(borrow)]
    managed_fields: Option<Vec<Entry<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(default)]
    manager: Name,
    #[serde(default)]
    operation: Name,
    subresource: Option<IgnoredAny>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
}

impl Entries<'_> {
    /// The same as [`managed`]; an error if the entry is not as it should be.
    pub(super) fn managed(&self, manager: &str, operation: &str) -> serde_json::Result<Option<Managed>> {
        let is_theirs = |entry: &&Entry<'_>| {
            entry.manager == manager && entry.operation == operation && entry.subresource.is_none()
        };
        let Some(entry) = self.managed_fields.iter().flatten().find(is_theirs) else { return Ok(None) };
        let fields = entry.fields_v1.map_or("null", RawValue::get);
        Ok(Some(named(&serde_json::from_str(fields)?)))
    }

    /// Whether nobody is said to have written anything.
    pub(super) fn is_empty(&self) -> bool {
        self.managed_fields.as_deref().unwrap_or_default().is_empty()
    }

    /// The same as [`only`].
    pub(super) fn only(&self, manager: &str) -> bool {
        let entries = self.managed_fields.as_deref().unwrap_or_default();
        !entries.is_empty() && entries.iter().all(|entry| entry.manager == manager)
    }
}

/// What an entry of `managedFields` names.
fn named(fields: &Value) -> Managed {
    let of = |name: &str| fields.pointer(&format!("/f:metadata/{name}"));
    Managed {
        labels: keys(of("f:labels"), field),
        annotations: keys(of("f:annotations"), field),
        owners: keys(of("f:ownerReferences"), uid),
        rules: fields.get("f:rules").is_some(),
        gathers: fields.get("f:aggregationRule").is_some(),
    }
}

/// Whether a manager wrote an object and nobody else did.
pub(super) fn only(fields: Option<&Value>, manager: &str) -> bool {
    let entries = fields.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    !entries.is_empty() && entries.iter().all(|entry| entry.get("manager").is_some_and(|value| value == manager))
}

fn keys(fields: Option<&Value>, read: impl Fn(&str) -> Option<Name>) -> Vec<Name> {
    fields.and_then(Value::as_object).into_iter().flatten().filter_map(|(key, _)| read(key)).collect()
}

/// `f:app` is the field `app`.
fn field(key: &str) -> Option<Name> {
    key.strip_prefix("f:").map(Name::new)
}

/// `k:{"uid":"1"}` is the owner with that uid.
fn uid(key: &str) -> Option<Name> {
    let keys: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    keys.get("uid")?.as_str().map(Name::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(manager: &str, operation: &str) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": {"f:metadata": {
            "f:labels": {".": {}, "f:a": {}, "f:example.com/b": {}},
            "f:annotations": {"f:c": {}},
            "f:ownerReferences": {"k:{\"uid\":\"1-2\"}": {}},
        }, "f:rules": {}}})
    }

    #[test]
    fn only_what_we_applied_is_ours() {
        let ours = |fields: &Value| managed(Some(fields), "rolewright", "Apply");
        let expected = Managed {
            labels: vec!["a".into(), "example.com/b".into()],
            annotations: vec!["c".into()],
            owners: vec!["1-2".into()],
            rules: true,
            gathers: false,
        };
        assert_eq!(ours(&json!([entry("kubectl", "Apply"), entry("rolewright", "Apply")])), Some(expected));
        for foreign in [json!(null), json!([]), json!([entry("kubectl", "Apply"), entry("rolewright", "Update")])] {
            assert_eq!(ours(&foreign), None, "{foreign}");
        }
    }
}

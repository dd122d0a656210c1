//! What of an object a manager wrote, from `managedFields`.

use serde_json::Value;

use super::Managed;
use crate::Name;

/// What a manager wrote of the object itself; `None` if it never did.
pub(super) fn managed(fields: Option<&Value>, manager: &str, operation: &str) -> Option<Managed> {
    let is_theirs = |entry: &&Value| {
        let says = |name: &str, text: &str| entry.get(name).is_some_and(|value| value == text);
        says("manager", manager) && says("operation", operation) && entry.get("subresource").is_none()
    };
    let entry = fields?.as_array()?.iter().find(is_theirs)?;
    let of = |name: &str| entry.pointer(&format!("/fieldsV1/f:metadata/{name}"));
    Some(Managed {
        labels: keys(of("f:labels"), field),
        annotations: keys(of("f:annotations"), field),
        owners: keys(of("f:ownerReferences"), uid),
        rules: entry.pointer("/fieldsV1/f:rules").is_some(),
    })
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
        };
        assert_eq!(ours(&json!([entry("kubectl", "Apply"), entry("rolewright", "Apply")])), Some(expected));
        for foreign in [json!(null), json!([]), json!([entry("kubectl", "Apply"), entry("rolewright", "Update")])] {
            assert_eq!(ours(&foreign), None, "{foreign}");
        }
    }
}

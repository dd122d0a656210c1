//! What of an object's metadata we applied, from `managedFields`.

use serde_json::Value;

use super::Managed;
use crate::Name;
use crate::vocabulary::manager;

/// What our manager applied to the object itself; `None` if it never did.
pub(super) fn managed(fields: &Value) -> Option<Managed> {
    let is_ours = |entry: &&Value| {
        entry["manager"] == manager::ROLEWRIGHT && entry["operation"] == "Apply" && entry.get("subresource").is_none()
    };
    let entry = fields.as_array()?.iter().find(is_ours)?;
    let metadata = &entry["fieldsV1"]["f:metadata"];
    Some(Managed {
        labels: keys(&metadata["f:labels"], field),
        annotations: keys(&metadata["f:annotations"], field),
        owners: keys(&metadata["f:ownerReferences"], uid),
    })
}

fn keys(fields: &Value, read: impl Fn(&str) -> Option<Name>) -> Vec<Name> {
    fields.as_object().into_iter().flatten().filter_map(|(key, _)| read(key)).collect()
}

/// `f:app` is the field `app`.
fn field(key: &str) -> Option<Name> {
    key.strip_prefix("f:").map(Name::new)
}

/// `k:{"uid":"1"}` is the owner with that uid.
fn uid(key: &str) -> Option<Name> {
    let keys: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    keys["uid"].as_str().map(Name::new)
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
        let ours = managed(&json!([entry("kubectl", "Apply"), entry("rolewright", "Apply")]));
        let expected = Managed {
            labels: vec!["a".into(), "example.com/b".into()],
            annotations: vec!["c".into()],
            owners: vec!["1-2".into()],
        };
        assert_eq!(ours, Some(expected));
        for foreign in [json!(null), json!([]), json!([entry("kubectl", "Apply"), entry("rolewright", "Update")])] {
            assert_eq!(managed(&foreign), None, "{foreign}");
        }
    }
}

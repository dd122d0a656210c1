//! What of an object a manager wrote, from `managedFields`.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Managed;
use crate::Name;
use crate::vocabulary::manager;

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
    #[serde(borrow)]
    time: Option<Cow<'a, str>>,
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

    /// The same as [`rival`].
    pub(super) fn rival(&self) -> Option<Name> {
        let entries = self.managed_fields.iter().flatten().filter(|entry| entry.subresource.is_none());
        last(entries.map(|entry| (entry.manager.as_str(), entry.time.as_deref().unwrap_or_default())))
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

/// Who else wrote an object last, if several did and that was not before us.
pub(super) fn rival(fields: Option<&Value>) -> Option<Name> {
    fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
        entry.get(name).and_then(Value::as_str).unwrap_or_default()
    }
    let entries = fields.and_then(Value::as_array).into_iter().flatten();
    let entries = entries.filter(|entry| entry.get("subresource").is_none_or(Value::is_null));
    last(entries.map(|entry| (text(entry, "manager"), text(entry, "time"))))
}

/// The other one of several writers, each with the time of its last write: seconds in UTC, which sort as texts.
fn last<'a>(writers: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Name> {
    // Within the same second the one who aggregates may be us.
    let key = |(name, time): (&'a str, &'a str)| (time, name != manager::AGGREGATION);
    let (mut count, mut ours, mut other) = (0, "", None);
    for (name, time) in writers {
        count += 1;
        if name == manager::ROLEWRIGHT {
            ours = ours.max(time);
        } else if other.is_none_or(|known| key(known) <= key((name, time))) {
            other = Some((name, time));
        }
    }
    other.filter(|(_, time)| count > 1 && *time >= ours).map(|(name, _)| Name::new(name))
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
    fn whoever_wrote_after_us_is_the_rival() {
        let at = |manager: &str, second: u8| json!({"manager": manager, "operation": "Update", "time": format!("2026-11-16T00:00:0{second}Z")});
        let status = json!({"manager": "status", "subresource": "status", "time": "2026-11-16T00:00:09Z"});
        let cases = [
            (json!(null), None),
            (json!([at("kubectl", 1)]), None),
            (json!([at("rolewright", 1)]), None),
            (json!([at("kubectl", 1), at("rolewright", 2)]), None),
            (json!([at("kubectl", 2), at("rolewright", 2)]), Some("kubectl")),
            (json!([at("rolewright", 1), at("kubectl", 2), status]), Some("kubectl")),
            (json!([at("rolewright", 1), at("argocd", 3), at("kubectl", 2)]), Some("argocd")),
            (json!([at("kubectl", 3), at("clusterrole-aggregation-controller", 3)]), Some("kubectl")),
            (
                json!([at("kubectl", 1), at("clusterrole-aggregation-controller", 3)]),
                Some("clusterrole-aggregation-controller"),
            ),
        ];
        for (fields, expected) in cases {
            assert_eq!(rival(Some(&fields)).as_deref(), expected, "{fields}");
        }
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

//! What of an object a manager wrote, from `managedFields`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
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
    Some(entry.get("fieldsV1").and_then(|fields| Fields::deserialize(fields).ok()).unwrap_or_default().into())
}

/// Who wrote what, out of an object's metadata as text. Most of it is about the fields of others and is passed over.
#[derive(Default, Deserialize)]
pub(super) struct Entries<'a>(#[serde(borrow)] Option<Vec<Entry<'a>>>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    time: Cow<'a, str>,
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
        let Some(entry) = self.0.iter().flatten().find(is_theirs) else { return Ok(None) };
        let fields: Option<Fields> = entry.fields_v1.map(|fields| serde_json::from_str(fields.get())).transpose()?;
        Ok(Some(fields.unwrap_or_default().into()))
    }

    /// Whether nobody is said to have written anything.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_deref().unwrap_or_default().is_empty()
    }

    /// The same as [`rival`].
    pub(super) fn rival(&self) -> Option<Name> {
        let entries = self.0.iter().flatten().filter(|entry| entry.subresource.is_none());
        last(entries.map(|entry| (&*entry.manager, &*entry.time)))
    }

    /// The same as [`only`].
    pub(super) fn only(&self, manager: &str) -> bool {
        let entries = self.0.as_deref().unwrap_or_default();
        !entries.is_empty() && entries.iter().all(|entry| entry.manager == manager)
    }
}

/// What an entry of `managedFields` names.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(rename = "f:metadata")]
    metadata: Named,
    #[serde(rename = "f:rules")]
    rules: Option<IgnoredAny>,
    #[serde(rename = "f:aggregationRule")]
    aggregation_rule: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    #[serde(rename = "f:labels", deserialize_with = "fields")]
    labels: Vec<Name>,
    #[serde(rename = "f:annotations", deserialize_with = "fields")]
    annotations: Vec<Name>,
    #[serde(rename = "f:ownerReferences", deserialize_with = "uids")]
    owners: Vec<Name>,
}

impl From<Fields> for Managed {
    fn from(Fields { metadata, rules, aggregation_rule }: Fields) -> Self {
        let Named { labels, annotations, owners } = metadata;
        Self { labels, annotations, owners, rules: rules.is_some(), gathers: aggregation_rule.is_some() }
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

fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Name>, D::Error> {
    deserializer.deserialize_map(Keys(field))
}

fn uids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Name>, D::Error> {
    deserializer.deserialize_map(Keys(uid))
}

/// `f:app` is the field `app`.
fn field(key: &str) -> Option<Name> {
    key.strip_prefix("f:").map(Name::new)
}

/// `k:{"uid":"1"}` is the owner with that uid.
fn uid(key: &str) -> Option<Name> {
    #[derive(Deserialize)]
    struct Key {
        uid: Name,
    }
    let key: Key = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    Some(key.uid)
}

/// Reads the keys of a map that mean something, in their order.
struct Keys(fn(&str) -> Option<Name>);

impl<'de> Visitor<'de> for Keys {
    type Value = Vec<Name>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Vec<Name>, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = members.next_key_seed(&self)? {
            members.next_value::<IgnoredAny>()?;
            names.extend(name);
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

impl<'de> DeserializeSeed<'de> for &Keys {
    type Value = Option<Name>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Name>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for &Keys {
    type Value = Option<Name>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Option<Name>, E> {
        Ok((self.0)(key))
    }
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

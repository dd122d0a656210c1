//! Whether an object says anything at all.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Whether an object is but a name: what is left when no rules at all are applied to a role that is gone, for who applies
/// nothing leaves no trace. `None` if it is no object.
pub(super) fn says_nothing<'de>(object: impl Deserializer<'de>) -> Option<bool> {
    let Object { metadata, rules, aggregation_rule, role_ref, subjects, spec, status } =
        Object::deserialize(object).ok()?;
    let Metadata { managed_fields, labels, annotations, owner_references, finalizers } = metadata;
    let all = [rules, aggregation_rule, role_ref, subjects, spec, status, managed_fields, labels, annotations];
    Some(!all.into_iter().chain([owner_references, finalizers]).any(|said| said.0))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    metadata: Metadata,
    rules: Said,
    aggregation_rule: Said,
    role_ref: Said,
    subjects: Said,
    spec: Said,
    status: Said,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    managed_fields: Said,
    labels: Said,
    annotations: Said,
    owner_references: Said,
    finalizers: Said,
}

/// Whether there is more than an empty value.
#[derive(Default)]
struct Said(bool);

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self(true))
    }
}

impl<'de> Visitor<'de> for Said {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(Self(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        let mut said = Self(false);
        while items.next_element::<IgnoredAny>()?.is_some() {
            said.0 = true;
        }
        Ok(said)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut said = Self(false);
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            said.0 = true;
        }
        Ok(said)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
}

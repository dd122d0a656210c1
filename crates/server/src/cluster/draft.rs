//! An object ready to be stored, all but its revision.

use std::io::Write;

use bytes::Bytes;
use rolewright_core::Name;
use serde_json::Value;

use super::entry::{Entry, Labels};
use super::rights::Right;
use crate::controller::protect;
use crate::strategy::Object;

/// Everything that can be made before the writer's turn: the bytes around the revision, and what the indexes need.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(super) namespace: Name,
    pub(super) name: Name,
    pub(super) uid: Name,
    pub(super) labels: Labels,
    pub(super) owners: Box<[Name]>,
    pub(super) deleting: bool,
    /// Finalizers of our own controllers among its finalizers: somebody has to look at it.
    pub(super) collecting: bool,
    pub(super) right: Option<Right>,
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// The finalizers that the server's own controllers take away.
const AWAITED: [&str; 4] = ["foregroundDeletion", "orphan", protect::VOLUME, protect::CLAIM];

impl Draft {
    /// Takes an object; `group` and `plural` say which indexes want to know of it.
    pub(crate) fn new(group: &str, plural: &str, object: &Object) -> Self {
        Self { right: Right::of(group, plural, object), ..Self::without(object, &["metadata", "apiVersion", "kind"]) }
    }

    /// Takes an object of a custom kind, which keeps the version that it is stored in.
    pub(crate) fn custom(object: &Object) -> Self {
        Self::without(object, &["metadata", "kind"])
    }

    fn without(object: &Object, left_out: &[&str]) -> Self {
        let metadata = object.get("metadata").and_then(Value::as_object);
        let text =
            |member: &str| metadata.and_then(|meta| meta.get(member)).and_then(Value::as_str).unwrap_or_default();
        let list = |member: &str| metadata.and_then(|meta| meta.get(member)).and_then(Value::as_array);
        let labels = metadata.and_then(|meta| meta.get("labels")).and_then(Value::as_object);
        let mut labels: Vec<(Name, Name)> = labels
            .into_iter()
            .flatten()
            .map(|(key, value)| (Name::from(key.as_str()), Name::from(value.as_str().unwrap_or_default())))
            .collect();
        labels.sort_unstable();
        let owners = list("ownerReferences").into_iter().flatten();
        let owners = owners.filter_map(|owner| owner.get("uid").and_then(Value::as_str)).map(Name::from).collect();
        let finalizers: Vec<&str> = list("finalizers").into_iter().flatten().filter_map(Value::as_str).collect();
        let deleting = metadata.is_some_and(|meta| meta.get("deletionTimestamp").is_some_and(|time| !time.is_null()));
        let (head, tail) = around_revision(object, left_out);
        Self {
            namespace: text("namespace").into(),
            name: text("name").into(),
            uid: text("uid").into(),
            labels: labels.into(),
            owners,
            deleting,
            collecting: deleting && finalizers.iter().any(|name| AWAITED.contains(name)),
            right: None,
            head,
            tail,
        }
    }

    /// Bytes that will be stored, less the digits of the revision.
    pub(crate) fn size(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(crate) fn at(&self, revision: u64) -> Entry {
        let mut body = Vec::with_capacity(self.head.len() + self.tail.len() + 20);
        body.extend_from_slice(&self.head);
        // Writing into a Vec cannot fail.
        let _ = write!(body, "{revision}");
        body.extend_from_slice(&self.tail);
        Entry {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            revision,
            labels: self.labels.clone(),
            owners: self.owners.clone(),
            deleting: self.deleting,
            collecting: self.collecting,
            written: u32::try_from(crate::time::now().as_second()).unwrap_or_default(),
            digits_at: self.head.len(),
            body: Bytes::from(body),
        }
    }
}

/// The JSON before and after the digits of `metadata.resourceVersion`, which comes first of what is not left out.
fn around_revision(object: &Object, left_out: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let (mut head, mut tail) = (Vec::with_capacity(512), Vec::new());
    head.extend_from_slice(b"{\"metadata\":{");
    let metadata = object.get("metadata").and_then(Value::as_object);
    for (key, value) in metadata.into_iter().flatten().filter(|(key, _)| *key != "resourceVersion") {
        member(&mut head, key, value);
        head.push(b',');
    }
    head.extend_from_slice(b"\"resourceVersion\":\"");
    tail.extend_from_slice(b"\"}");
    let rest = object.iter().filter(|(key, _)| !left_out.contains(&key.as_str()));
    for (key, value) in rest {
        tail.push(b',');
        member(&mut tail, key, value);
    }
    tail.push(b'}');
    (head, tail)
}

fn member(out: &mut Vec<u8>, key: &str, value: &Value) {
    // Writing JSON values into a Vec cannot fail.
    let _ = serde_json::to_writer(&mut *out, key);
    out.push(b':');
    let _ = serde_json::to_writer(&mut *out, value);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn revision_goes_into_the_metadata_and_nowhere_else() {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "n", "annotations": {"x": "\"resourceVersion\":\""}, "labels": {"b": "2", "a": "1"}},
            "data": {"k": "v"},
        });
        let Value::Object(object) = object else { unreachable!() };
        let entry = Draft::new("", "configmaps", &object).at(7);
        assert_eq!(entry.labels.as_ref(), [("a".into(), "1".into()), ("b".into(), "2".into())]);
        assert_eq!(
            Value::Object(entry.object()),
            json!({
                "metadata": {"name": "a", "namespace": "n", "annotations": {"x": "\"resourceVersion\":\""},
                    "labels": {"b": "2", "a": "1"}, "resourceVersion": "7"},
                "data": {"k": "v"},
            })
        );
    }
}

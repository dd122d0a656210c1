//! An object from its JSON.

use std::fmt;

use rolewright_core::Labels;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::managed::{Entries, managed, only, rival};
use super::said::says_nothing;
use super::split::Rest;
use super::{Condition, Inherited, Live, Managed, Meta, Owner};
use crate::Name;
use crate::kind::{Kind, Reports};
use crate::vocabulary::{annotation, manager};

/// An object without the metadata that every stored object has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metadata cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Live {
    /// Reads an object. What is wrong with its content stays with it; without metadata there is no object.
    pub fn read(kind: &Kind, object: &Value) -> Result<Self, Unreadable> {
        let conditions = if kind.reports == Reports::Never { Vec::new() } else { Condition::read_all(object) };
        Ok(Self { meta: Meta::read(object)?, body: kind.read(object), conditions })
    }

    /// Reads an object out of its text: the same as [`Live::read`] of it, at a fraction of the cost where all is well.
    pub fn parse(kind: &Kind, text: &str) -> Result<Self, Unreadable> {
        match Self::parse_well(kind, text) {
            Some(live) => Ok(live),
            None => Self::read(kind, &value(text)?),
        }
    }

    fn parse_well(kind: &Kind, text: &str) -> Option<Self> {
        let conditions = if kind.reports == Reports::Never { Vec::new() } else { Condition::parse_all(text)? };
        let (meta, body) = kind.parse(text)?;
        Some(Self { meta, body: Ok(body), conditions })
    }
}

/// Reads an object's metadata and the rest of it out of its text; `None` if that needs a closer look.
pub(crate) fn parse_as<T: DeserializeOwned>(text: &str) -> Option<(Meta, T)> {
    let mut metadata: Option<Metadata<Entries<'_>>> = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    let body = T::deserialize(Rest { object: &mut reader, metadata: &mut metadata }).ok()?;
    reader.end().ok()?;
    Some((Meta::well(metadata?, text)?, body))
}

fn value(text: &str) -> Result<Value, Unreadable> {
    serde_json::from_str(text).map_err(|error| Unreadable(error.to_string()))
}

impl Meta {
    /// Reads the metadata of an object.
    pub fn read(object: &Value) -> Result<Self, Unreadable> {
        let written: Metadata<IgnoredAny> = Metadata::deserialize(object.get("metadata").unwrap_or(&Value::Null))
            .map_err(|error| Unreadable(error.to_string()))?;
        let fields = object.pointer("/metadata/managedFields");
        let writers = Writers {
            ours: managed(fields, manager::ROLEWRIGHT, "Apply"),
            inherited: Inherited::read(|name| Ok::<_, Unreadable>(managed(fields, name, "Update")))?,
            revived: only(fields, manager::AGGREGATION) || says_nothing(object).unwrap_or(false),
            rival: rival(fields),
        };
        Self::of(written, writers)
    }

    /// Reads the metadata out of an object's text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        match parse_as::<IgnoredAny>(text) {
            Some((meta, _)) => Ok(meta),
            None => Self::read(&value(text)?),
        }
    }

    fn well(mut written: Metadata<Entries<'_>>, text: &str) -> Option<Self> {
        let entries = std::mem::take(&mut written.managed_fields);
        let ours = entries.managed(manager::ROLEWRIGHT, "Apply").ok()?;
        let inherited = Inherited::read(|name| entries.managed(name, "Update")).ok()?;
        let revived = if entries.is_empty() {
            says_nothing(&mut serde_json::Deserializer::from_str(text))?
        } else {
            entries.only(manager::AGGREGATION)
        };
        Self::of(written, Writers { ours, inherited, revived, rival: entries.rival() }).ok()
    }

    fn of<E>(written: Metadata<E>, writers: Writers) -> Result<Self, Unreadable> {
        if written.name.is_empty() {
            return Err(Unreadable("it has no name".to_owned()));
        }
        let mut annotations = written.annotations.unwrap_or_default();
        annotations.remove(annotation::LAST_APPLIED);
        Ok(Self {
            name: written.name,
            namespace: written.namespace,
            uid: written.uid,
            resource_version: written.resource_version.parse().unwrap_or(0),
            generation: written.generation,
            labels: written.labels.unwrap_or_default(),
            annotations,
            owners: written.owner_references.into_iter().flatten().map(Owner::from).collect(),
            finalizers: written.finalizers.unwrap_or_default(),
            deleting: written.deletion_timestamp.is_some(),
            ours: writers.ours,
            revived: writers.revived,
            rival: writers.rival.map(Box::new),
            inherited: writers.inherited,
        })
    }
}

/// Who wrote an object, of those who matter.
struct Writers {
    ours: Option<Managed>,
    inherited: Option<Box<Inherited>>,
    revived: bool,
    rival: Option<Name>,
}

/// Metadata as it is written, with the entries of who wrote it as `E`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<E> {
    name: Name,
    namespace: Name,
    uid: Name,
    resource_version: Name,
    generation: i64,
    labels: Option<Labels>,
    annotations: Option<Labels>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<Name>>,
    deletion_timestamp: Option<Name>,
    managed_fields: E,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnerReference {
    api_version: Name,
    kind: Name,
    name: Name,
    uid: Name,
    controller: Option<bool>,
}

impl From<OwnerReference> for Owner {
    fn from(written: OwnerReference) -> Self {
        let OwnerReference { api_version, kind, name, uid, controller } = written;
        Self { api_version, kind, name, uid, controller: controller.unwrap_or(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::{CLUSTER_ROLE, RoleBody};
    use serde_json::json;

    static REPORTING: Kind = Kind::cluster::<RoleBody>("example.com", &["v1"], "Reporting", "reportings")
        .reporting(Reports::Always("Ready"));

    /// What is read of an object, in words.
    fn told(live: &Result<Live, Unreadable>) -> String {
        match live {
            Ok(Live { meta, body, conditions }) => {
                let body = body.as_ref().map(|body| body.downcast_ref::<RoleBody>());
                format!("{meta:?} {body:?} {conditions:?}")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_text_is_read_as_its_value_is() {
        let entry = |manager: &str, subresource: Value| {
            json!({"manager": manager, "operation": "Apply", "subresource": subresource, "fieldsV1": {
                "f:metadata": {"f:labels": {"f:a": {}}, "f:ownerReferences": {"k:{\"uid\":\"1\"}": {}}}}})
        };
        let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
        let condition = json!({"type": "Ready", "status": "True", "reason": "Applied"});
        let metadata = [
            json!(null),
            json!({}),
            json!(["a"]),
            json!({"name": ""}),
            json!({"name": 1}),
            json!({"name": "a"}),
            json!({"name": "a", "labels": {}, "finalizers": null, "managedFields": []}),
            json!({"name": "a", "labels": {"a": "b"}}),
            json!({"name": "a", "uid": "1", "resourceVersion": "7", "generation": 3, "finalizers": ["f"],
                "deletionTimestamp": "2000-01-01T00:00:00Z", "labels": {"b": "2", "a": "1"}, "annotations": null,
                "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o", "uid": "1", "controller": true}],
                "managedFields": [entry("kubectl", json!(null)), entry("rolewright", json!("status"))]}),
            json!({"name": "a", "managedFields": [entry("rolewright", json!(null))]}),
            json!({"name": "a", "managedFields": [{"manager": "crossplane", "operation": "Update",
                "fieldsV1": {"f:rules": {}, "f:metadata": {"f:annotations": {"f:x": {}}}}}]}),
            json!({"name": "a", "managedFields": [{"manager": "rolewright", "operation": "Apply"}]}),
            json!({"name": "a", "managedFields": [{"manager": 1}, entry("rolewright", json!(null))]}),
            json!({"name": "a", "managedFields": {"manager": "rolewright"}}),
            json!({"name": "a", "managedFields": [{"manager": "kubectl", "time": "2026-11-16T00:00:00Z"},
                entry("rolewright", json!(null)), {"time": "2026-11-16T00:00:01Z"}]}),
            json!({"name": "a", "managedFields": [{"manager": "kubectl", "time": 7}, {"time": "\n"}]}),
            json!({"name": "a", "labels": {"a": 1}}),
        ];
        let rest = [
            json!({}),
            json!({"rules": [rule], "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}),
            json!({"rules": null, "status": {"conditions": [condition]}}),
            json!({"rules": [{"verbs": "get"}], "status": {"conditions": [condition, {"type": 1}]}}),
            json!({"rules": 7, "status": null}),
            json!({"rules": [], "status": {}, "spec": {}}),
            json!({"rules": [], "spec": "s"}),
        ];
        for metadata in &metadata {
            for rest in &rest {
                let mut object = rest.clone();
                object.as_object_mut().unwrap().insert("metadata".to_owned(), metadata.clone());
                for kind in [&CLUSTER_ROLE, &REPORTING] {
                    let read = Live::read(kind, &object);
                    assert_eq!(told(&Live::parse(kind, &object.to_string())), told(&read), "{object}");
                }
                assert_eq!(Meta::parse(&object.to_string()), Meta::read(&object), "{object}");
            }
        }
        for text in ["[{\"name\":\"a\"}]", "7", "null"] {
            let read = Live::read(&CLUSTER_ROLE, &serde_json::from_str(text).unwrap());
            assert_eq!(told(&Live::parse(&CLUSTER_ROLE, text)), told(&read), "{text}");
        }
        let twice =
            "{\"metadata\":{\"name\":\"a\"},\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"1\",\"x\":\"2\"}}}";
        let read = Live::read(&CLUSTER_ROLE, &serde_json::from_str(twice).unwrap());
        assert_eq!(told(&Live::parse(&CLUSTER_ROLE, twice)), told(&read));
    }

    #[test]
    fn what_servers_write_needs_no_closer_look() {
        let entry = |manager: &str, operation: &str| {
            json!({"manager": manager, "operation": operation, "apiVersion": "v1", "time": "2026-11-16T00:00:00Z",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:rules": {}, "f:metadata": {"f:labels": {".": {}, "f:a": {}}}}})
        };
        let fields = json!([entry("rolewright", "Apply"), entry("kubectl", "Update")]);
        let sync = &crate::sync::ROOT_SYNC;
        for (kind, fields) in
            [(&CLUSTER_ROLE, &fields), (&CLUSTER_ROLE, &json!([])), (&REPORTING, &fields), (sync, &fields)]
        {
            let object = json!({"apiVersion": "v1", "kind": "Any", "metadata": {"name": "a", "uid": "1",
                "resourceVersion": "7", "labels": {"a": "b"}, "managedFields": fields},
                "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}], "spec": {},
                "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Applied"}]}});
            assert!(Live::parse_well(kind, &object.to_string()).is_some(), "{kind}");
        }
    }

    #[test]
    fn a_content_sees_the_metadata_only_if_its_kind_says_so() {
        static REST: Kind = Kind::cluster::<Value>("example.com", &["v1"], "Rest", "rests");
        static WHOLE: Kind =
            Kind::cluster::<Value>("example.com", &["v1"], "Whole", "wholes").seeing_metadata::<Value>();
        let object = json!({"metadata": {"name": "a"}, "spec": {"metadata": 1}});
        for (kind, expected) in [(&REST, json!({"spec": {"metadata": 1}})), (&WHOLE, object.clone())] {
            for live in [Live::read(kind, &object), Live::parse(kind, &object.to_string())] {
                let live = live.unwrap();
                assert_eq!((live.meta.name.as_str(), live.body()), ("a", Some(&expected)), "{kind}");
            }
        }
    }
}

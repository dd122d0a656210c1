//! Whose fields an object has: the record that every write keeps.

use serde_json::Value;

use crate::catalog::{Origin, Served};
use crate::custom;
use crate::kinds::versions::BuiltInVersions;
use crate::managed::{self, Converted, Unconverted, Versions};
use crate::status::Failure;
use crate::strategy::Object;
use crate::time;

/// Records that `manager` writes `object` in the place of `live`. Both are in their stored form; fields are named as in
/// the version that the client used.
pub(crate) fn track(served: &Served, live: Option<&Object>, object: &mut Object, manager: &str, subresource: &str) {
    let Some(conversion) = served.conversion() else {
        return record(served, live, object, manager, subresource);
    };
    let live = live.map(conversion.from_stored);
    let mut view = (conversion.from_stored)(object);
    record(served, live.as_ref(), &mut view, manager, subresource);
    let fields = view.get("metadata").and_then(|metadata| metadata.get("managedFields")).cloned();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match fields {
            Some(fields) => metadata.insert("managedFields".to_owned(), fields),
            None => metadata.remove("managedFields"),
        };
    }
}

fn record(served: &Served, live: Option<&Object>, object: &mut Object, manager: &str, subresource: &str) {
    let (version, now) = (served.api_version(), time::seconds(time::now()));
    let versions = OtherVersions::of(served, subresource);
    let request = request(served, &version, manager, subresource, &now);
    managed::update(&managed::Request { versions: Some(&versions), ..request }, live, object);
    if let Some(live) = live {
        managed::keep_times(served.described(), live, object);
    }
}

/// Makes `live` what `manager` wants of it. Everything is in the form that the client used.
pub(crate) fn apply(
    served: &Served,
    live: Option<&Object>,
    configuration: &Object,
    manager: &str,
    subresource: &str,
    force: bool,
) -> Result<Object, Failure> {
    let (version, now) = (served.api_version(), time::seconds(time::now()));
    let versions = OtherVersions::of(served, subresource);
    let request = request(served, &version, manager, subresource, &now);
    managed::apply(&managed::Request { versions: Some(&versions), ..request }, live, configuration, force)
}

fn request<'a>(
    served: &'a Served,
    api_version: &'a str,
    manager: &'a str,
    subresource: &'a str,
    now: &'a str,
) -> managed::Request<'a> {
    managed::Request {
        kind: served.described(),
        name: &served.kind,
        api_version,
        manager,
        subresource,
        reset_fields: served.handling(subresource).reset_fields,
        now,
        versions: None,
    }
}

/// The versions of a kind.
#[derive(Debug)]
enum OtherVersions<'a> {
    BuiltIn(BuiltInVersions<'a>),
    Custom(custom::Versions<'a>),
}

impl<'a> OtherVersions<'a> {
    fn of(served: &'a Served, subresource: &'a str) -> Self {
        match &served.origin {
            Origin::BuiltIn(built_in) => Self::BuiltIn(BuiltInVersions { resource: built_in.facts, subresource }),
            Origin::Custom(used) => Self::Custom(custom::Versions { used, subresource }),
        }
    }
}

impl Versions for OtherVersions<'_> {
    fn convert(&self, object: &Object, from: &str, to: &str) -> Result<Converted<'_>, Unconverted> {
        match self {
            Self::BuiltIn(versions) => versions.convert(object, from, to),
            Self::Custom(versions) => versions.convert(object, from, to),
        }
    }
}

/// An object names each of its owners once. Returns a warning where it did not.
pub(crate) fn dedup_owners(object: &mut Object) -> Option<String> {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut)?;
    let owners = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut)?;
    let mut kept: Vec<Value> = Vec::new();
    let mut repeated: Vec<String> = Vec::new();
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            repeated.push(owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    repeated.dedup();
    (!repeated.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", ")
        )
    })
}

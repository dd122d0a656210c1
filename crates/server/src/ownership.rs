//! Whose fields an object has: the record that every write keeps.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::catalog::{Catalog, Served};
use crate::managed::{self, View};
use crate::status::Failure;
use crate::strategy::Object;
use crate::time;

/// Records that `manager` writes `object` in the place of `live`. Both are in their stored form; fields are named as in
/// the version that the client used.
pub(crate) fn track(
    catalog: &Catalog,
    served: &Served,
    live: Option<&Object>,
    object: &mut Object,
    manager: &str,
    subresource: &str,
) {
    let views = live.map(|live| views(catalog, served, live, object)).unwrap_or_default();
    let Some(conversion) = served.conversion() else {
        return record(served, live, object, manager, subresource, &views);
    };
    let live = live.map(conversion.from_stored);
    let mut view = (conversion.from_stored)(object);
    record(served, live.as_ref(), &mut view, manager, subresource, &views);
    let fields = view.get("metadata").and_then(|metadata| metadata.get("managedFields")).cloned();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match fields {
            Some(fields) => metadata.insert("managedFields".to_owned(), fields),
            None => metadata.remove("managedFields"),
        };
    }
}

/// The change in each other version that a manager has used.
fn views(catalog: &Catalog, served: &Served, live: &Object, new: &Object) -> Vec<View> {
    let own = served.api_version();
    let entries = live.get("metadata").and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let versions = entries.into_iter().flatten().filter_map(|entry| entry.get("apiVersion").and_then(Value::as_str));
    let versions: BTreeSet<&str> = versions.filter(|version| *version != own).collect();
    let mut views = Vec::new();
    for api_version in versions {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let Some(other) = catalog.find(group, version, &served.plural).filter(|_| group == served.group) else {
            continue;
        };
        let form = |object: &Object| other.conversion().map_or_else(|| object.clone(), |to| (to.from_stored)(object));
        let Some(built_in) = other.built_in() else { continue };
        views.push(View { ty: built_in.ty, api_version: api_version.to_owned(), live: form(live), new: form(new) });
    }
    views
}

fn record(
    served: &Served,
    live: Option<&Object>,
    object: &mut Object,
    manager: &str,
    subresource: &str,
    views: &[View],
) {
    let (version, now) = (served.api_version(), time::seconds(time::now()));
    let request = request(served, &version, manager, subresource, &now);
    managed::update(&managed::Request { views, ..request }, live, object);
    if let Some(live) = live {
        managed::keep_times(live, object);
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
    managed::apply(&request(served, &version, manager, subresource, &now), live, configuration, force)
}

fn request<'a>(
    served: &Served,
    api_version: &'a str,
    manager: &'a str,
    subresource: &'a str,
    now: &'a str,
) -> managed::Request<'a> {
    let reset_fields = served.handling(subresource).reset_fields;
    let ty = served.built_in().map_or_else(|| crate::facts::type_of("", "v1", "ConfigMap").expect("x"), |b| b.ty);
    managed::Request { ty, api_version, manager, subresource, reset_fields, now, views: &[] }
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

//! Who manages which fields of an object, as kube-apiserver keeps it in `metadata.managedFields`.
//!
//! [`update`] comes after a client's object has been read and filled with defaults, and before the strategy prepares it;
//! so does [`keep_times`], after that.

mod apply;
mod compare;
mod conflict;
mod custom;
mod element;
mod entries;
mod fields;
mod last_applied;
mod merge;
mod prune;
mod reconcile;
mod scale;
mod schema;
mod set;
mod times;
mod to_set;
mod validate;
mod versions;
mod zero;

use rolewright_crd::Schema;
use serde_json::{Map, Value};

use crate::facts::Type;
use crate::strategy::Object;
pub use apply::apply;
use compare::compare;
pub use element::{Element, Number, Scalar};
use entries::{Entry, Identity};
pub(crate) use scale::{Replicas, built_in_replicas, from_scale, to_scale};
use schema::Place;
pub use set::Set;
pub use times::keep_times;
use versions::Changes;
pub use versions::{Converted, Unconverted, Version, Versions, unchanged};

/// The longest name of a manager, in bytes.
const MAX_MANAGER: usize = 128;

/// What describes the objects of a kind.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// The type of a built-in kind.
    BuiltIn(&'static Type),
    /// The schema in a version of a custom kind.
    Custom(&'a Schema),
    /// Nothing: a version of a custom kind without a schema.
    Deduced,
}

/// A request that changes an object, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What describes the object.
    pub kind: Kind<'a>,
    /// The name of its kind, for example `Deployment`.
    pub name: &'a str,
    /// Its group and version, for example `apps/v1`.
    pub api_version: &'a str,
    /// Who asks; see [`manager`].
    pub manager: &'a str,
    /// The subresource, or nothing.
    pub subresource: &'a str,
    /// Paths that writers of this resource or subresource do not come to own.
    pub reset_fields: &'a [&'a str],
    /// The time, in seconds: `2026-11-16T01:02:03Z`.
    pub now: &'a str,
    /// The other versions in which managers may have named their fields; there may be none.
    pub versions: Option<&'a dyn Versions>,
}

impl<'a> Request<'a> {
    /// What the writer does not come to own.
    fn reset(&self) -> Set {
        names(self.reset_fields)
    }

    fn place(&self) -> Place<'a> {
        Place::root(self.kind)
    }
}

/// Paths of names, written with dots, as a set.
fn names(paths: &[&str]) -> Set {
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split('.').collect()).collect();
    Set::of_names(paths.iter().map(Vec::as_slice))
}

/// The name of a manager: what the client says, or else the program in its User-Agent.
pub fn manager(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_owned();
    }
    let mut out = String::new();
    for c in user_agent.chars().take_while(|c| *c != '/').filter(|c| rolewright_core::quote::is_print(*c)) {
        if out.len() + c.len_utf8() > MAX_MANAGER {
            break;
        }
        out.push(c);
    }
    out
}

/// Keeps managedFields when an object is created or updated: `new` is what will be stored instead of `live`.
///
/// managedFields in `new` are the client's wish; an empty list, or a list of one empty entry, stops the tracking. What
/// cannot be understood there is ignored.
pub fn update(request: &Request<'_>, live: Option<&Object>, new: &mut Object) {
    let given = match new.get_mut("metadata") {
        Some(Value::Object(metadata)) => metadata.remove("managedFields"),
        _ => None,
    };
    let of_live = || entries::read(live.and_then(managed_fields)).unwrap_or_default();
    let entries = if !request.subresource.is_empty() {
        of_live()
    } else if is_reset(given.as_ref()) {
        Vec::new()
    } else {
        entries::read(given.as_ref()).ok().filter(|entries| !entries.is_empty()).unwrap_or_else(of_live)
    };
    let tracked = match live {
        Some(_) if entries.is_empty() => Ok(entries),
        Some(live) => track(request, live, new, entries),
        None => track(request, &zero::zero(request), new, entries),
    };
    let list = tracked.ok().filter(|entries| !entries.is_empty()).map(entries::write);
    set_managed_fields(new, list);
}

/// Who owns what after an update from `old` to `new`.
fn track<'a>(
    request: &Request<'a>,
    old: &Object,
    new: &Object,
    mut entries: Vec<Entry<'a>>,
) -> Result<Vec<Entry<'a>>, String> {
    let place = request.place();
    if !matches!(request.kind, Kind::BuiltIn(_)) {
        // Objects of built-in kinds are of their types by now.
        for object in [new, old] {
            validate::validate(place, object, true)?;
        }
    }
    versions::reconcile(request, old, &mut entries)?;
    let mut own = compare(place, old, new).map_err(|_| "failed to compare objects".to_owned())?;
    own.exclude(&request.reset());
    let changes = Changes::new(request, own, &entries, old, new)?;
    changes.release(&mut entries);
    let own = changes.into_own();
    let mut own = own.modified.union(own.added);
    own.subtract(set::unowned());
    if !own.is_empty() {
        let manager = if request.manager.is_empty() { "unknown" } else { request.manager };
        let Request { api_version: version, subresource, now, .. } = *request;
        let identity = Identity { manager, applied: false, version, subresource };
        match entries::find(&mut entries, identity) {
            Some(entry) => {
                entry.set = std::mem::take(&mut entry.set).union(own);
                entry.time = Some(now);
            }
            None => entries.push(Entry { manager, applied: false, version, subresource, time: Some(now), set: own }),
        }
    }
    entries::cap(&mut entries);
    Ok(entries)
}

/// Whether a client wants no managedFields.
fn is_reset(given: Option<&Value>) -> bool {
    match given {
        Some(Value::Array(list)) => match list.as_slice() {
            [] => true,
            [Value::Object(entry)] => entry.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// Puts the list of entries in its place, or removes it.
fn set_managed_fields(object: &mut Object, list: Option<Value>) {
    if let Some(list) = list {
        let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(metadata) = metadata {
            metadata.insert("managedFields".to_owned(), list);
        }
    } else if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
}

/// Group, version and kind, as messages name them.
fn group_version_kind(object: &Object) -> String {
    let (group, version) = versions::split(text(object, "apiVersion"));
    format!("{group}/{version}, Kind={}", text(object, "kind"))
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn managed_fields(object: &Object) -> Option<&Value> {
    object.get("metadata").and_then(|metadata| metadata.get("managedFields"))
}

#[cfg(test)]
mod tests;

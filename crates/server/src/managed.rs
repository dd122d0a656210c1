//! Who manages which fields of an object, as kube-apiserver keeps it in `metadata.managedFields`.
//!
//! [`update`] comes after a client's object has been read and filled with defaults, and before the strategy prepares it;
//! so does [`keep_times`], after that.

mod apply;
mod compare;
mod conflict;
mod element;
mod entries;
mod fields;
mod last_applied;
mod merge;
mod quote;
mod reconcile;
mod scale;
mod schema;
mod set;
mod times;
mod to_set;
mod validate;
mod zero;

use serde_json::{Map, Value};

use crate::facts::{self, Type};
use crate::strategy::Object;
pub use apply::apply;
use compare::{Comparison, Malformed, compare};
pub use element::{Element, Number, Scalar};
use entries::{Entry, Identity};
pub(crate) use scale::{from_scale, to_scale};
use schema::Place;
pub use set::Set;
pub use times::keep_times;

/// The longest name of a manager, in bytes.
const MAX_MANAGER: usize = 128;

/// A request that changes an object, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The type of the object.
    pub ty: &'static Type,
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
    /// The same change in other versions, in which managers may have named their fields.
    pub views: &'a [View],
}

/// A change in another version than that of the request.
#[derive(Clone, Debug)]
pub struct View {
    /// The type in that version.
    pub ty: &'static Type,
    /// The group and version.
    pub api_version: String,
    /// What is stored now.
    pub live: Object,
    /// What will be.
    pub new: Object,
}

impl Request<'_> {
    /// What the writer does not come to own.
    fn reset(&self) -> Set {
        let paths: Vec<Vec<&str>> = self.reset_fields.iter().map(|path| path.split('.').collect()).collect();
        Set::of_names(paths.iter().map(Vec::as_slice))
    }
}

/// The name of a manager: what the client says, or else the program in its User-Agent.
pub fn manager(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_owned();
    }
    let mut out = String::new();
    for c in user_agent.chars().take_while(|c| *c != '/').filter(|c| quote::is_print(*c)) {
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
) -> Result<Vec<Entry<'a>>, Malformed> {
    let place = Place::of(request.ty);
    let mut changes = compare(place, old, new)?;
    changes.exclude(&request.reset());
    reconcile_all(request, &mut entries)?;
    let mut others = Vec::new();
    for view in request.views {
        let mut changes = compare(Place::of(view.ty), &view.live, &view.new)?;
        changes.exclude(&request.reset());
        others.push((view.api_version.as_str(), changes));
    }
    release(&mut entries, &changes, &others);
    let mut own = changes.modified.union(changes.added);
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

/// Drops entries of versions that are no more, and brings the others in line with the type.
fn reconcile_all(request: &Request<'_>, entries: &mut Vec<Entry<'_>>) -> Result<(), Malformed> {
    let split = |version: &str| match version.split_once('/') {
        Some((group, version)) => (group.to_owned(), version.to_owned()),
        None => (String::new(), version.to_owned()),
    };
    if entries.iter().any(|entry| entry.version.matches('/').count() > 1) {
        return Err(Malformed);
    }
    let (group, _) = split(request.api_version);
    entries.retain_mut(|entry| {
        let ty = if entry.version == request.api_version {
            Some(request.ty)
        } else {
            let (of, version) = split(entry.version);
            let kind = request.ty.name.rsplit('.').next().unwrap_or_default();
            // The same object may have kinds in two groups, but each group knows only its own.
            facts::type_of(&of, &version, kind).filter(|_| of == group)
        };
        ty.inspect(|ty| reconcile::reconcile(Place::of(ty), &mut entry.set)).is_some()
    });
    Ok(())
}

/// Takes what has changed from everybody. Some changes are known in the versions of others as well.
fn release(entries: &mut Vec<Entry<'_>>, changes: &Comparison, others: &[(&str, Comparison)]) {
    entries.retain_mut(|entry| {
        let other = others.iter().find(|(version, _)| *version == entry.version);
        let changes = other.map_or(changes, |(_, changes)| changes);
        entry.set.subtract(&changes.modified);
        entry.set.subtract(&changes.added);
        entry.set.subtract(&changes.removed);
        !entry.set.is_empty()
    });
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
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(metadata) = metadata else { return };
    match list {
        Some(list) => {
            metadata.insert("managedFields".to_owned(), list);
        }
        None => {
            metadata.remove("managedFields");
        }
    }
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn managed_fields(object: &Object) -> Option<&Value> {
    object.get("metadata").and_then(|metadata| metadata.get("managedFields"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Object {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn request(manager: &'static str, now: &'static str) -> Request<'static> {
        let ty = facts::type_of("", "v1", "ConfigMap").unwrap();
        Request { ty, api_version: "v1", manager, subresource: "", reset_fields: &[], now, views: &[] }
    }

    fn config_map(data: &Value) -> Object {
        object(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}))
    }

    #[test]
    fn managers_own_what_they_changed() {
        let mut first = config_map(&json!({"a": "1", "b": "1"}));
        update(&request("x", "2000-01-01T00:00:00Z"), None, &mut first);
        let owns = json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "time": "2000-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}}]);
        assert_eq!(managed_fields(&first), Some(&owns));
        let mut second = config_map(&json!({"a": "2", "c": "1"}));
        update(&request("y", "2000-01-01T00:00:01Z"), Some(&first), &mut second);
        let fields = |at: usize| managed_fields(&second).unwrap()[at]["fieldsV1"].clone();
        assert_eq!(fields(0), json!({"f:data": {}}));
        assert_eq!(fields(1), json!({"f:data": {"f:a": {}, "f:c": {}}}));
    }

    #[test]
    fn an_empty_list_stops_the_tracking() {
        let mut first = config_map(&json!({"a": "1"}));
        update(&request("x", "2000-01-01T00:00:00Z"), None, &mut first);
        for wish in [json!([]), json!([{}])] {
            let mut second = config_map(&json!({"a": "2"}));
            second["metadata"]["managedFields"] = wish;
            update(&request("y", "2000-01-01T00:00:01Z"), Some(&first), &mut second);
            assert_eq!(managed_fields(&second), None);
            let mut third = config_map(&json!({"a": "3"}));
            update(&request("y", "2000-01-01T00:00:02Z"), Some(&second), &mut third);
            assert_eq!(managed_fields(&third), None);
        }
    }

    #[test]
    fn managers_have_names() {
        for (asked, agent, name) in [
            ("me", "curl/8", "me"),
            ("", "curl/8.1 (x)", "curl"),
            ("", "", ""),
            ("", "a\u{7}b\u{a0}c é/1", "abc é"),
            ("", "/x", ""),
        ] {
            assert_eq!(manager(asked, agent), name);
        }
        assert_eq!(manager("", &"é".repeat(100)), "é".repeat(64));
        assert_eq!(manager("", &format!("a{}", "é".repeat(100))).len(), 127);
    }

    /// Would take minutes if the time grew with the square of the size.
    #[test]
    fn many_entries_and_fields_take_no_time() {
        let labels: Map<String, Value> = (0..20_000).map(|at| (format!("l{at}"), json!("x"))).collect();
        let entries: Value = (0..20_000)
            .map(|at| {
                let numbers: Map<String, Value> = (0..2).map(|n| (format!("v:{}", at * 7 + n), json!({}))).collect();
                let fields = json!({"f:metadata": {"f:labels": {(format!("f:l{at}")): {}}, "f:finalizers": numbers}});
                json!({"manager": format!("m{at}"), "operation": if at % 2 == 0 { "Apply" } else { "Update" },
                    "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
            })
            .collect();
        let live = config_map(&json!({}));
        let mut new = config_map(&json!({}));
        new["metadata"]["managedFields"] = entries;
        new["metadata"]["labels"] = Value::Object(labels);
        update(&request("x", "2000-01-01T00:00:00Z"), Some(&live), &mut new);
        assert_eq!(managed_fields(&new).unwrap().as_array().unwrap().len(), 10_010);
        let again =
            apply(&request("x", "2000-01-01T00:00:01Z"), Some(&new), &config_map(&json!({"a": "b"})), false).unwrap();
        apply(&request("x", "2000-01-01T00:00:02Z"), Some(&again), &config_map(&json!({"c": "d"})), false).unwrap();
    }
}

//! Server-side apply.

use serde_json::{Map, Value};

use super::compare::{Malformed, compare, same};
use super::conflict::conflicts;
use super::entries::{self, Entry, Identity};
use super::merge::merge;
use super::prune::prune;
use super::set::{self, Set};
use super::to_set::to_set;
use super::validate::validate;
use super::versions::{self, Changes};
use super::{Kind, Request, group_version_kind, last_applied, managed_fields, set_managed_fields, text, track, zero};
use crate::codec::conform;
use crate::status::Failure;
use crate::strategy::Object;

/// Whose entries come up when something is applied for the first time to an object without managedFields.
const BEFORE: &str = "before-first-apply";

/// Applies a configuration, as a client sent it, to an object or to none. What comes back conforms to its type; as after
/// any other request, it has yet to be filled with defaults, prepared and validated.
pub fn apply(request: &Request<'_>, live: Option<&Object>, applied: &Object, force: bool) -> Result<Object, Failure> {
    let mut entries = entries::read(live.and_then(managed_fields))
        .map_err(|error| internal(format!("failed to decode managed fields: {error}")))?;
    check_kind(request, applied)?;
    let place = request.place();
    let zero = zero::zero(request);
    let live = live.unwrap_or(&zero);
    if entries.is_empty() {
        let before = Request { manager: BEFORE, ..*request };
        let fault = |fault: String| {
            let about = about(live);
            internal(format!(
                "failed to create manager for existing fields: failed to convert new object ({about}) to smd typed: {fault}"
            ))
        };
        validate(place, live, true).map_err(fault)?;
        entries = track(&before, &zero, &without_managed_fields(live), entries)
            .map_err(|why| internal(format!("failed to create manager for existing fields: {why}")))?;
    }
    if matches!(managed_fields(applied), Some(Value::Array(_))) {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    validate(place, applied, false)
        .map_err(|fault| internal(format!("failed to create typed patch object ({}): {fault}", about(applied))))?;
    validate(place, live, true)
        .map_err(|fault| internal(format!("failed to create typed live object ({}): {fault}", about(live))))?;

    let reset = request.reset();
    let manager = if request.manager.is_empty() { "unknown" } else { request.manager };
    let own = Identity { manager, applied: true, version: "", subresource: request.subresource };
    // Kept even if the version in which the manager applied last is no more.
    let time = entries.iter().find(|entry| entry.identity() == own).and_then(|entry| entry.time);
    versions::reconcile(request, live, &mut entries).map_err(internal)?;
    let previous = entries.iter().position(|entry| entry.identity() == own).map(|at| entries.swap_remove(at));

    let mut merged = merge(place, live, applied);
    if let Some(Value::Object(metadata)) = merged.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    let mut fields = to_set(place, applied);
    fields.subtract_trees(&reset);
    let merged = match previous.filter(|last| !last.set.is_empty()) {
        Some(last) => prune(request, merged, &last, &fields, &entries)
            .map_err(|why| internal(format!("failed to prune fields: {why}")))?,
        None => merged,
    };

    let mut own = compare(place, live, &merged).map_err(not_comparable)?;
    own.exclude(&reset);
    let changes = Changes::new(request, own, &entries, live, &merged).map_err(internal)?;
    if !force {
        let mut against: Vec<(Identity<'_>, Set)> =
            entries.iter().map(|entry| (entry.identity(), changes.against(entry))).collect();
        if manager == last_applied::MANAGER
            && let Some(own) = last_applied::unchanged(request, live)
        {
            for (_, fields) in &mut against {
                fields.subtract(&own);
            }
        }
        against.retain(|(_, fields)| !fields.is_empty());
        if !against.is_empty() {
            return Err(conflicts(against));
        }
    }
    changes.release(&mut entries);
    let changed = !equal(live, &merged);
    fields.subtract(set::unowned());
    if !fields.is_empty() {
        let time = if changed { Some(request.now) } else { time };
        let Request { api_version: version, subresource, .. } = *request;
        entries.push(Entry { manager, applied: true, version, subresource, time, set: fields });
    }
    let list = (!entries.is_empty()).then(|| entries::write(entries));
    let mut object = if changed { typed(request, merged, applied)? } else { without_managed_fields(live) };
    set_managed_fields(&mut object, list);
    if manager == last_applied::MANAGER {
        last_applied::renew(&mut object, applied);
    }
    Ok(object)
}

/// Whether two objects are the same, apart from managedFields.
fn equal(live: &Object, merged: &Object) -> bool {
    live.len() == merged.len()
        && live.iter().zip(merged).all(|((name, a), (other, b))| {
            name == other
                && match (a, b) {
                    (Value::Object(a), Value::Object(b)) if name == "metadata" => {
                        let mut rest = a.iter().filter(|(name, _)| *name != "managedFields");
                        let mut other = b.iter();
                        loop {
                            match (rest.next(), other.next()) {
                                (None, None) => break true,
                                (Some((name, a)), Some((other, b))) if name == other && same(a, b) => {}
                                _ => break false,
                            }
                        }
                    }
                    _ => same(a, b),
                }
        })
}

fn typed(request: &Request<'_>, merged: Object, applied: &Object) -> Result<Object, Failure> {
    let about = about(applied);
    let failed = |error: String| internal(format!("failed to convert new object ({about}) to proper version: {error}"));
    let Kind::BuiltIn(ty) = request.kind else { return Ok(merged) };
    match conform(ty, Value::Object(merged)) {
        Ok(conformed) => match conformed.value {
            Value::Object(object) => Ok(object),
            other => Err(failed(format!("expected an object, got `{other}`"))),
        },
        Err(error) => Err(failed(error)),
    }
}

fn without_managed_fields(object: &Object) -> Object {
    let mut out = Map::new();
    for (name, value) in object {
        let value = match value {
            Value::Object(metadata) if name == "metadata" => {
                let rest = metadata.iter().filter(|(name, _)| *name != "managedFields");
                Value::Object(rest.map(|(name, value)| (name.clone(), value.clone())).collect())
            }
            other => other.clone(),
        };
        out.insert(name.clone(), value);
    }
    out
}

/// A configuration must say what it is, and be what the address says.
fn check_kind(request: &Request<'_>, applied: &Object) -> Result<(), Failure> {
    if text(applied, "apiVersion") == request.api_version && text(applied, "kind") == request.name {
        return Ok(());
    }
    Err(Failure::bad_request(format!("invalid object type: {}", group_version_kind(applied))))
}

/// An object as messages name it.
fn about(object: &Object) -> String {
    let of =
        |name: &str| object.get("metadata").and_then(|meta| meta.get(name)).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}; {}", of("namespace"), of("name"), group_version_kind(object))
}

/// Both sides are valid by then.
fn not_comparable(_: Malformed) -> Failure {
    internal("failed to compare objects".to_owned())
}

/// Kubernetes has no better words for this.
fn internal(message: String) -> Failure {
    Failure::new(500, "", message)
}

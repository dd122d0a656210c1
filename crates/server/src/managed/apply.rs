//! Server-side apply.

use serde_json::{Map, Value};

use super::compare::{Malformed, compare, same};
use super::conflict::conflicts;
use super::entries::{self, Entry, Identity};
use super::merge::{merge, without};
use super::set::{self, Set};
use super::to_set::{to_set, with_named_fields};
use super::validate::validate;
use super::versions::{self, Changes, Form, Unconverted};
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
        Some(last) => prune(request, &merged, &last, &fields, &entries)
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

/// Takes out what the manager applied last time and not this time, unless somebody else owns it.
fn prune<'a>(
    request: &Request<'a>,
    merged: &Object,
    last: &Entry<'a>,
    fields: &Set,
    others: &[Entry<'a>],
) -> Result<Object, String> {
    let own = Form::own(request, merged);
    let then = |why: Unconverted, what: &str| match why {
        Unconverted::Missing => format!("{what}: no such version"),
        Unconverted::Failed(why) => format!("{what}: {why}"),
    };
    let merged = own
        .at(request, last.version)
        .map_err(|why| then(why, "failed to convert merged object to last applied version"))?;
    let set = with_named_fields(merged.place, &last.set);
    let mut pruned = merged.with(without(merged.place, &merged.object, &set));
    let fields_of = |form: &Form<'_, '_>| with_named_fields(form.place, &to_set(form.place, &form.object));

    // What somebody owns comes back, in each version in which somebody does.
    let mut versions: Vec<&str> = others.iter().map(|entry| entry.version).chain([request.api_version]).collect();
    versions.sort_unstable();
    versions.dedup();
    versions.sort_by_key(|version| *version != last.version);
    let all = fields_of(&merged);
    let mut whole = merged.clone();
    for version in versions {
        let failed = |why, what: &str| {
            then(why, &format!("failed add back owned items: failed to convert {what} object at version {version}"))
        };
        let at = whole.at(request, version).map_err(|why| failed(why, "merged"))?;
        let kept = pruned.at(request, version).map_err(|why| failed(why, "pruned"))?;
        let owners = others.iter().filter(|entry| entry.version == version).map(|entry| entry.set.clone());
        let own = (version == request.api_version).then(|| fields.clone());
        let owned = Set::union_all(owners.chain(own).collect());
        let mut unowned = if version == last.version { all.clone() } else { fields_of(&at) };
        unowned.subtract(&fields_of(&kept).union(with_named_fields(at.place, &owned)));
        pruned = at.with(without(at.place, &at.object, &unowned));
        // No copy where nobody used another version.
        if version != whole.version {
            whole = at.into_owned();
        }
    }

    let pruned = pruned.at(request, last.version).map_err(|why| {
        then(why, "failed add back dangling items: failed to convert pruned object to last applied version")
    })?;
    let mut gone = all;
    gone.subtract(&fields_of(&pruned));
    let pruned = merged.with(without(merged.place, &merged.object, &gone.intersection(&set)));
    let pruned = pruned.at(request, request.api_version).map_err(|why| match why {
        Unconverted::Missing => "no such version".to_owned(),
        Unconverted::Failed(why) => why,
    })?;
    Ok(pruned.object.into_owned())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::type_of;
    use crate::managed::update;

    fn object(value: Value) -> Object {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn request(manager: &'static str, now: &'static str) -> Request<'static> {
        let kind = Kind::BuiltIn(type_of("", "v1", "Service").unwrap());
        Request {
            kind,
            name: "Service",
            api_version: "v1",
            manager,
            subresource: "",
            reset_fields: &["status"],
            now,
            versions: None,
        }
    }

    fn service(spec: &Value) -> Object {
        object(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}))
    }

    fn entry(object: &Object, at: usize) -> &Value {
        &managed_fields(object).unwrap()[at]
    }

    #[test]
    fn what_is_no_longer_applied_goes() {
        let both = json!({"clusterIP": "None", "ports": [{"port": 80, "name": "a"}, {"port": 443, "name": "b"}]});
        let first = apply(&request("x", "2000-01-01T00:00:00Z"), None, &service(&both), false).unwrap();
        let owned = json!({"f:spec": {"f:clusterIP": {}, "f:ports": {
            "k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
            "k:{\"port\":443,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
        }}});
        assert_eq!(entry(&first, 0)["fieldsV1"], owned);
        let one = service(&json!({"ports": [{"port": 443, "name": "b"}]}));
        let second = apply(&request("x", "2000-01-01T00:00:01Z"), Some(&first), &one, false).unwrap();
        assert_eq!(second["spec"], json!({"ports": [{"port": 443, "name": "b", "targetPort": 0}]}));
        let third = apply(&request("x", "2000-01-01T00:00:02Z"), Some(&second), &one, false).unwrap();
        assert_eq!(third, second, "not even the time");
    }

    #[test]
    fn others_must_be_overruled() {
        let mut live = service(&json!({"clusterIP": "a", "type": "b"}));
        update(&request("curl", "2000-01-01T00:00:00Z"), None, &mut live);
        for (spec, message) in [
            (json!({"type": "c"}), "Apply failed with 1 conflict: conflict with \"curl\" using v1: .spec.type"),
            (
                json!({"clusterIP": "c", "type": "c"}),
                "Apply failed with 2 conflicts: conflicts with \"curl\" using v1:\n- .spec.clusterIP\n- .spec.type",
            ),
        ] {
            let failure =
                apply(&request("x", "2000-01-01T00:00:01Z"), Some(&live), &service(&spec), false).unwrap_err();
            assert_eq!((failure.code, failure.reason, failure.message.as_str()), (409, "Conflict", message));
            let causes = failure.details.unwrap().causes;
            assert_eq!(causes[0].reason, "FieldManagerConflict");
            assert_eq!(causes[0].message, "conflict with \"curl\" using v1");
        }
        let same = service(&json!({"type": "b"}));
        let shared = apply(&request("x", "2000-01-01T00:00:01Z"), Some(&live), &same, false).unwrap();
        assert_eq!(entry(&shared, 0)["manager"], "x");
        let other = service(&json!({"type": "c"}));
        let forced = apply(&request("x", "2000-01-01T00:00:01Z"), Some(&live), &other, true).unwrap();
        assert_eq!(forced["spec"]["type"], "c");
        assert_eq!(entry(&forced, 1)["fieldsV1"], json!({"f:spec": {"f:clusterIP": {}}}));
    }

    #[test]
    fn what_was_there_before_has_an_owner() {
        let live = service(&json!({"type": "b"}));
        let failure = apply(&request("x", "2000-01-01T00:00:00Z"), Some(&live), &service(&json!({"type": "c"})), false)
            .unwrap_err();
        let message = "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .spec.type";
        assert_eq!(failure.message, message);
    }

    #[test]
    fn kubectl_owns_what_it_applied_before() {
        let annotation = "kubectl.kubernetes.io/last-applied-configuration";
        let mut live = service(&json!({"clusterIP": "a", "type": "b"}));
        let last = service(&json!({"clusterIP": "other", "type": "b"}));
        live["metadata"]["annotations"] = json!({annotation: Value::Object(last).to_string()});
        update(&request("kubectl-client-side-apply", "2000-01-01T00:00:00Z"), None, &mut live);
        let apply_as = |manager: &'static str, spec: Value| {
            apply(&request(manager, "2000-01-01T00:00:01Z"), Some(&live), &service(&spec), false)
        };
        let applied = apply_as("kubectl", json!({"type": "<c>"})).unwrap();
        assert_eq!(applied["spec"]["type"], "<c>");
        let kept = "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"\\u003cc\\u003e\"}}\n";
        assert_eq!(applied["metadata"]["annotations"][annotation], kept);
        let failure = apply_as("kubectl", json!({"clusterIP": "c", "type": "c"})).unwrap_err();
        assert_eq!(
            failure.message,
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .spec.clusterIP",
            "somebody changed it since"
        );
        assert!(apply_as("other", json!({"type": "c"})).is_err());
    }

    #[test]
    fn malformed_configurations_are_refused() {
        let about = "failed to create typed patch object (/a; /v1, Kind=Service): ";
        for (change, code, message) in [
            (json!({"kind": "Pod"}), 400, "invalid object type: /v1, Kind=Pod".to_owned()),
            (json!({"metadata": {"managedFields": []}}), 400, "metadata.managedFields must be nil".to_owned()),
            (json!({"odd": 1}), 500, format!("{about}.odd: field not declared in schema")),
            (
                json!({"spec": {"ports": [{"port": 1}, {"port": 1}]}}),
                500,
                format!("{about}.spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]"),
            ),
            (
                json!({"spec": {"type": 1, "ports": 1}}),
                500,
                format!(
                    "{about}errors:\n  .spec.ports: expected list, got &{{1}}\n  .spec.type: expected string, got &value.valueUnstructured{{Value:1}}"
                ),
            ),
        ] {
            let mut document = service(&json!({}));
            document.extend(object(change));
            let failure = apply(&request("x", "2000-01-01T00:00:00Z"), None, &document, false).unwrap_err();
            assert_eq!((failure.code, failure.message), (code, message));
        }
    }
}

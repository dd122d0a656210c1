//! Lists and maps that say how their items are told apart.

use std::collections::HashSet;

use rolewright_core::validate::Path;

use super::faults::Faults;
use super::props::{Items, Props};
use super::shown;
use super::strictness::Strictness;

const KEYS: &str = "x-kubernetes-list-map-keys";
const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";

pub(super) fn check(faults: &mut Faults, schema: Props<'_>, strict: &Strictness<'_>, at: Path<'_>) {
    if let Some(map) = schema.map_type() {
        must_be(faults, schema, "object", "x-kubernetes-map-type is specified", at);
        if !["atomic", "granular"].contains(&map) {
            faults.not_supported(at.child(MAP_TYPE), map, &["atomic", "granular"]);
        }
    }
    if let Some(list) = schema.list_type() {
        must_be(faults, schema, "array", "x-kubernetes-list-type is specified", at);
        if strict.atomic_sets && schema.kind() == "array" {
            check_set(faults, schema, at);
        }
        if !["atomic", "set", "map"].contains(&list) {
            faults.not_supported(at.child(LIST_TYPE), list, &["atomic", "set", "map"]);
        }
    }
    if !schema.list(KEYS).is_empty() {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        match schema.list_type() {
            None => faults.required(at.child(LIST_TYPE), why),
            Some("map") => {}
            Some(list) => faults.invalid(at.child(LIST_TYPE), list, why),
        }
    }
    if schema.list_type() == Some("map") {
        check_map(faults, schema, at);
    }
    if strict.list_keys {
        check_keys(faults, schema, at);
    }
}

fn must_be(faults: &mut Faults, schema: Props<'_>, kind: &str, when: &str, at: Path<'_>) {
    let why = || format!("must be {kind} if {when}");
    match schema.kind() {
        "" => faults.required(at.child("type"), why()),
        found if found == kind => {}
        found => faults.invalid(at.child("type"), found, why()),
    }
}

/// How the items of a set fail to be atomic: the extension that must say so.
fn open_items(schema: Props<'_>) -> Option<&'static str> {
    let item = schema.item().filter(|_| schema.list_type() == Some("set"))?;
    match item.kind() {
        "array" => item.list_type().is_some_and(|list| list != "atomic").then_some(LIST_TYPE),
        "object" => (item.map_type() != Some("atomic")).then_some(MAP_TYPE),
        _ => None,
    }
}

/// Whether there is a set whose items are not atomic.
pub(super) fn has_open_set(schema: Props<'_>) -> bool {
    open_items(schema).is_some()
}

fn check_set(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    if let (Some(key), Some(item)) = (open_items(schema), schema.item()) {
        // Kubernetes shows the type of a list in both cases.
        let value = shown::pointer(item.list_type());
        let at = at.child("items");
        faults.invalid(at.child(key), value, "must be atomic as item of a list with x-kubernetes-list-type=set");
    }
}

fn check_map(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    if schema.list(KEYS).is_empty() {
        faults.required(at.child(KEYS), "must not be empty if x-kubernetes-list-type is map");
    }
    let items = at.child("items");
    let item = match schema.items() {
        None => return faults.required(items, "must have a schema if x-kubernetes-list-type is map"),
        Some(Items::Schema(item)) => item,
        Some(other) => {
            let why = "must only have a single schema if x-kubernetes-list-type is map";
            return faults.invalid(items, shown::items(other), why);
        }
    };
    if item.kind() != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        return faults.invalid(items.child("type"), item.kind(), why);
    }
    let properties = items.child("properties");
    let mut seen = HashSet::new();
    for key in schema.texts(KEYS) {
        if faults.is_full() {
            return;
        }
        match item.property(key) {
            Some(property) if matches!(property.kind(), "array" | "object") => {
                let at = properties.key(key);
                let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                faults.invalid(at.child("type"), item.kind(), why);
            }
            Some(_) => {}
            None => {
                let why = "entries must all be names of item properties";
                faults.invalid(at.child(KEYS), shown::texts(schema.list(KEYS)), why);
            }
        }
        if !seen.insert(key) {
            let why = "must not contain duplicate entries";
            faults.invalid(at.child(KEYS), shown::texts(schema.list(KEYS)), why);
        }
    }
}

/// Items of sets and maps are something, and the keys of a map always have a value.
fn check_keys(faults: &mut Faults, schema: Props<'_>, at: Path<'_>) {
    let Some(item) = schema.item() else { return };
    let Some(list @ ("set" | "map")) = schema.list_type() else { return };
    let at = at.child("items");
    if item.flag("nullable") {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        faults.forbidden(at.child("nullable"), why);
    }
    if list == "set" {
        return;
    }
    let required: HashSet<&str> = item.texts("required").collect();
    let at = at.child("properties");
    for key in schema.texts(KEYS) {
        let Some(property) = item.property(key) else { continue };
        let at = at.key(key);
        let what = "this property is in x-kubernetes-list-map-keys, so it";
        if !required.contains(key) && !property.has("default") {
            faults.required(at.child("default"), format!("{what} must have a default or be a required property"));
        }
        if property.flag("nullable") {
            faults.forbidden(at.child("nullable"), format!("{what} cannot be nullable"));
        }
    }
}

/// Whether there is a list whose keys may have no value.
pub(super) fn has_loose_keys(schema: Props<'_>) -> bool {
    let mut faults = Faults::new();
    check_keys(&mut faults, schema, Path::Root);
    faults.count() > 0
}

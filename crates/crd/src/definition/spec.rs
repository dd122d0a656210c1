//! The spec of a definition.

use std::collections::{HashMap, HashSet};

use rolewright_core::validate::{BadValue, FieldError, Path, names as forms};

use super::faults::Faults;
use super::internal::{Spec, Version, schema_of};
use super::names::{self, label};
use super::props::Props;
use super::read::{self, Object};
use super::strictness::Strictness;
use super::version::{check_columns, check_subresources, check_warning};
use super::{conversion, schema, selectable, shown};

pub(super) fn check(faults: &mut Faults, spec: &Spec<'_>, strict: &Strictness<'_>) {
    let at = Path::field("spec");
    let mut strict = strict.clone();
    check_group(faults, spec.group, at.child("group"));
    match spec.scope {
        "" => faults.required(at.child("scope"), ""),
        "Cluster" | "Namespaced" => {}
        other => faults.not_supported(at.child("scope"), other, &["Cluster", "Namespaced"]),
    }
    strict.structural |= !spec.preserves;
    check_presence(faults, spec, &strict, at);
    if has_any(spec, |schema| schema.has("default")) {
        strict.structural = true;
        if spec.preserves {
            let why = "must be false in order to use defaults in the schema";
            faults.invalid(at.child("preserveUnknownFields"), BadValue::Json("true".to_owned()), why);
        }
    }
    strict.structural |= has_any(spec, has_extensions);
    check_versions(faults, spec, &strict, at);
    check_names(faults, spec, at);
    let has_status =
        is_status(spec.subresources) || spec.versions().iter().any(|version| is_status(version.subresources));
    let any_cost = strict.any_cost(spec.version);
    schema::check(faults, spec.schema, has_status, (&strict, any_cost), at.child("validation"));
    check_subresources(faults, spec.subresources, at.child("subresources"));
    check_columns(faults, spec.columns, at.child("additionalPrinterColumns"));
    check_selectable(faults, spec, &strict, at);
    check_conversion(faults, spec, &strict, at);
}

/// What cannot change.
pub(super) fn check_change(faults: &mut Faults, new: &Spec<'_>, old: &Spec<'_>, strict: &Strictness<'_>) {
    let at = Path::field("spec");
    let names = at.child("names");
    let mut fixed = |new: BadValue, old: BadValue, at: Path<'_>| {
        if new != old {
            faults.push(FieldError::invalid(at, new, "field is immutable"));
        }
    };
    if strict.fixed_names {
        fixed(BadValue::typed_text(new.scope), BadValue::typed_text(old.scope), at.child("scope"));
        let kind = |spec: &Spec<'_>| BadValue::from(read::text(spec.names, "kind"));
        fixed(kind(new), kind(old), names.child("kind"));
    }
    fixed(new.group.into(), old.group.into(), at.child("group"));
    let plural = |spec: &Spec<'_>| BadValue::from(read::text(spec.names, "plural"));
    fixed(plural(new), plural(old), names.child("plural"));
}

fn check_group(faults: &mut Faults, group: &str, at: Path<'_>) {
    let wrong = forms::dns_subdomain(group);
    if group.is_empty() {
        faults.required(at, "");
    } else if !wrong.is_empty() {
        faults.invalid(at, group, wrong.join(","));
    } else if !group.contains('.') {
        faults.invalid(at, group, "should be a domain with at least one dot");
    }
}

/// Every version has a schema, or at least those that are served.
fn check_presence(faults: &mut Faults, spec: &Spec<'_>, strict: &Strictness<'_>, at: Path<'_>) {
    if schema_of(spec.schema).is_some() || !strict.schemas && spec.preserves {
        return;
    }
    let at = at.child("versions");
    for (i, version) in spec.versions().iter().enumerate() {
        if faults.is_full() {
            return;
        }
        if schema_of(version.schema).is_none() && (strict.schemas || version.served) {
            let at = at.index(i);
            let at = at.child("schema");
            let why = if strict.schemas { "" } else { "because otherwise all fields are pruned" };
            faults.required(at.child("openAPIV3Schema"), why);
        }
    }
}

fn has_any(spec: &Spec<'_>, mut look: fn(Props<'_>) -> bool) -> bool {
    spec.schemas().any(|schema| schema.any(&mut look))
}

fn has_extensions(schema: Props<'_>) -> bool {
    schema.flag("x-kubernetes-embedded-resource")
        || schema.preserves().is_some()
        || schema.flag("x-kubernetes-int-or-string")
        || !schema.list("x-kubernetes-list-map-keys").is_empty()
        || schema.list_type().is_some()
        || schema.has_rules()
}

fn is_status(subresources: Option<&Object>) -> bool {
    subresources.is_some_and(|all| read::child(all, "status").is_some())
}

fn check_versions(faults: &mut Faults, spec: &Spec<'_>, strict: &Strictness<'_>, at: Path<'_>) {
    let versions = spec.versions();
    let list_at = at.child("versions");
    let mut names = HashSet::new();
    // With a name twice, the subresources of the first one count.
    let mut status = HashMap::new();
    let own = versions.iter().any(|version| version.subresources.is_some());
    for version in versions {
        status.entry(version.name).or_insert(is_status(if own { version.subresources } else { spec.subresources }));
    }
    for (i, version) in versions.iter().enumerate() {
        if faults.is_full() {
            return;
        }
        names.insert(version.name);
        let at = list_at.index(i);
        let wrong = label(version.name);
        if !wrong.is_empty() {
            faults.invalid(at.child("name"), version.name, wrong.join(","));
        }
        let has_status = status.get(version.name).copied().unwrap_or_default();
        check_version(faults, version, has_status, strict, at);
    }
    let shown = || shown::versions(spec.versions.as_deref());
    if names.len() != versions.len() {
        faults.invalid(list_at, shown(), "must contain unique version names");
    }
    if versions.iter().filter(|version| version.storage).count() != 1 {
        faults.invalid(list_at, shown(), "must have exactly one version marked as storage version");
    }
    let wrong = label(spec.version);
    if !spec.version.is_empty() && !wrong.is_empty() {
        faults.invalid(at.child("version"), spec.version, wrong.join(","));
    }
}

fn check_version(faults: &mut Faults, version: &Version<'_>, has_status: bool, strict: &Strictness<'_>, at: Path<'_>) {
    check_warning(faults, version, at);
    let any_cost = strict.any_cost(version.name);
    schema::check(faults, version.schema, has_status, (strict, any_cost), at.child("schema"));
    check_subresources(faults, version.subresources, at.child("subresources"));
    check_columns(faults, version.columns, at.child("additionalPrinterColumns"));
    if version.selectable.is_empty() {
        return;
    }
    let at = at.child("selectableFields");
    match schema_of(version.schema) {
        None => {
            faults.invalid(at, "", "may only be set when `version.schema.openAPIV3Schema` is not included");
        }
        Some(schema) => {
            let allow_many = strict.many_fields.contains(version.name);
            selectable::check(faults, version.selectable, schema, allow_many, at);
        }
    }
}

fn check_names(faults: &mut Faults, spec: &Spec<'_>, at: Path<'_>) {
    let at = at.child("names");
    for key in ["plural", "singular", "kind", "listKind"] {
        if read::text(spec.names, key).is_empty() {
            faults.required(at.child(key), "");
        }
    }
    names::check(faults, spec.names, at);
}

fn check_selectable(faults: &mut Faults, spec: &Spec<'_>, strict: &Strictness<'_>, at: Path<'_>) {
    if spec.selectable.is_empty() {
        return;
    }
    let at = at.child("selectableFields");
    match schema_of(spec.schema) {
        Some(schema) => {
            selectable::check(faults, spec.selectable, schema, strict.many_fields.contains(""), at);
        }
        None => faults.invalid(at, "", "may only be set when validations.schema is included"),
    }
}

fn check_conversion(faults: &mut Faults, spec: &Spec<'_>, strict: &Strictness<'_>, at: Path<'_>) {
    let at = at.child("conversion");
    let strategy = spec.conversion.map_or("None", |conversion| read::text(conversion, "strategy"));
    if strategy != "None" && spec.preserves {
        let why = "must be None if spec.preserveUnknownFields is true";
        faults.invalid(at.child("strategy"), BadValue::typed_text(strategy), why);
    }
    conversion::check(faults, spec.conversion, strict.conversion, at);
}

//! Whether a CustomResourceDefinition is valid, and what the server makes of it before it is stored.
//!
//! Definitions are JSON of `apiextensions.k8s.io/v1` that has the form of its type: known fields only, of the right types,
//! and no empty lists, maps or texts where Go leaves them out. The answers are those of kube-apiserver v1.36.3: the same
//! errors in the same words. Kubernetes goes over maps in random order; here it is the order of keys.

mod approval;
mod bundle;
mod complete;
mod conversion;
mod defaults;
mod faults;
mod field_path;
mod internal;
mod lists;
mod names;
mod prepare;
mod props;
mod read;
mod rules;
mod schema;
mod selectable;
mod shown;
mod spec;
mod strictness;
mod structural;
mod version;
mod warnings;
pub mod webhook;

use std::collections::HashMap;

use rolewright_core::validate::{BadValue, FieldError, Path, names as forms};

use serde_json::Value;

use crate::metadata::ObjectMeta;
pub(crate) use approval::{Approval, is_protected, of as approval_of};
use faults::Faults;
use internal::Spec;
pub use prepare::{default, prepare_create, prepare_status, prepare_update};
use read::Object;
use strictness::Strictness;
pub use warnings::warnings;

/// What keeps definitions in the store until their objects are gone.
pub const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is wrong with the name of a definition, or with the prefix of one.
pub fn name_faults(definition: &Object, name: &str, prefix: bool) -> Vec<String> {
    let mut wrong =
        if prefix { forms::dns_subdomain(&forms::generated_from(name)) } else { forms::dns_subdomain(name) };
    let spec = Spec::of(definition);
    if name != format!("{}.{}", read::text(spec.names, "plural"), spec.group) {
        wrong.push("must be spec.names.plural+\".\"+spec.group".to_owned());
    }
    wrong
}

/// What is wrong with a new definition, beyond its metadata.
pub fn validate(definition: &Object, meta: &dyn ObjectMeta) -> Vec<FieldError> {
    let mut faults = Faults::new();
    let spec = Spec::of(definition);
    spec::check(&mut faults, &spec, &Strictness::new(meta));
    check_status(&mut faults, definition);
    check_stored(&mut faults, definition, &spec);
    approval::check(&mut faults, definition, None);
    check_preservation(&mut faults, &spec, None);
    faults.into_vec()
}

/// What is wrong with a definition that is to replace `old`, beyond its metadata.
pub fn validate_update(definition: &Object, old: &Object, meta: &dyn ObjectMeta) -> Vec<FieldError> {
    let mut faults = Faults::new();
    let (spec, old_spec) = (Spec::of(definition), Spec::of(old));
    let strict = Strictness::after(old, &old_spec, &spec, meta);
    spec::check(&mut faults, &spec, &strict);
    spec::check_change(&mut faults, &spec, &old_spec, &strict);
    check_status(&mut faults, definition);
    check_stored(&mut faults, definition, &spec);
    approval::check(&mut faults, definition, Some(old));
    check_preservation(&mut faults, &spec, Some(&old_spec));
    faults.into_vec()
}

/// Brings a valid definition into the form in which it is stored.
pub fn canonicalize(definition: &mut Object, meta: &dyn ObjectMeta) {
    let versions = definition.get_mut("spec").and_then(|spec| spec.get_mut("versions")).and_then(Value::as_array_mut);
    for version in versions.into_iter().flatten() {
        let schema = version.get_mut("schema").and_then(|schema| schema.get_mut("openAPIV3Schema"));
        if let Some(Value::Object(schema)) = schema {
            defaults::settle(schema, meta);
        }
    }
}

/// What is wrong with a definition whose status is to be replaced, beyond its metadata.
pub fn validate_status(definition: &Object) -> Vec<FieldError> {
    let mut faults = Faults::new();
    check_status(&mut faults, definition);
    faults.into_vec()
}

fn check_status(faults: &mut Faults, definition: &Object) {
    let at = Path::field("status");
    if let Some(accepted) = read::child(definition, "status").and_then(|status| read::child(status, "acceptedNames")) {
        names::check(faults, accepted, at.child("acceptedNames"));
    }
}

/// Versions in which objects are stored are still there, and the one in which they will be is among them.
fn check_stored(faults: &mut Faults, definition: &Object, spec: &Spec<'_>) {
    let at = Path::field("status");
    let at = at.child("storedVersions");
    let list = read::child(definition, "status").map(|status| read::list(status, "storedVersions")).unwrap_or_default();
    if list.is_empty() {
        let is_list = read::child(definition, "status")
            .is_some_and(|status| status.get("storedVersions").is_some_and(Value::is_array));
        let value = if is_list { BadValue::Json("[]".to_owned()) } else { BadValue::null() };
        return faults.invalid(at, value, "must have at least one stored version");
    }
    let mut stored: HashMap<&str, usize> = HashMap::new();
    for (i, version) in list.iter().enumerate() {
        stored.insert(version.as_str().unwrap_or_default(), i);
    }
    for version in spec.versions() {
        if stored.remove(version.name).is_none() && version.storage {
            faults.invalid(at, shown::texts(list), format!("must have the storage version {}", version.name));
        }
    }
    let mut gone: Vec<(usize, &str)> = stored.into_iter().map(|(name, i)| (i, name)).collect();
    gone.sort_unstable();
    for (i, name) in gone {
        if faults.is_full() {
            return;
        }
        let why = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
             until a storage migration ensures no data remains persisted in {name} and removes {name} from \
             status.storedVersions"
        );
        faults.invalid(at.index(i), name, why);
    }
}

/// Keeping unknown fields everywhere is a thing of the past.
fn check_preservation(faults: &mut Faults, spec: &Spec<'_>, old: Option<&Spec<'_>>) {
    if spec.preserves && !old.is_some_and(|old| old.preserves) {
        let at = Path::field("spec");
        let why =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        faults.invalid(at.child("preserveUnknownFields"), BadValue::Json("true".to_owned()), why);
    }
}

/// Whether the certificates of a definition's webhook are none.
pub(crate) fn has_bad_certificates(definition: &Object) -> bool {
    let certificates = conversion::certificates(Spec::of(definition).conversion);
    !certificates.is_empty() && bundle::fault(certificates).is_some()
}

/// The field that a path of a rule leads to, as errors name it.
pub(crate) fn field_text(path: &str, schema: &Object) -> Option<String> {
    field_path::follow(path, props::Props(schema), true).ok().map(|found| found.text())
}

/// What keeps a schema from being structural, or why that cannot be said.
pub(crate) fn structural_faults(schema: &Object, at: Path<'_>) -> Result<Vec<FieldError>, String> {
    let schema = props::Props(schema);
    structural::unreadable(schema).map_or_else(|| Ok(structural::faults(schema, at)), Err)
}

/// Whether a schema is a structural one, of types that OpenAPI knows.
pub(crate) fn is_structural(schema: &Object) -> bool {
    let schema = props::Props(schema);
    !schema.any(&mut schema::has_unknown_type) && !structural::is_not(schema)
}

//! What is wrong with addresses that are taken, and with the ranges that services have theirs from.

use rolewright_core::validate::{FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    Errors, IMMUTABLE, Range, canonical_cidr, canonical_ip, each_text, json, list_json, name, named,
};
use super::super::internal;
use super::super::read::{child, list, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

/// The name is the address.
pub(in super::super) fn address_name(text: &str) -> Vec<String> {
    let mut errors = Errors::new();
    canonical_ip(&mut errors, text, Path::Root);
    errors.into_iter().map(|error| error.detail).collect()
}

pub(in super::super) fn address(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let at = SPEC.child("parentRef");
    let Some(parent) = child(object, "spec").and_then(|spec| child(spec, "parentRef")) else {
        errors.push(FieldError::required(at, ""));
        return errors;
    };
    name(&mut errors, parent, "group", at, names::dns_subdomain);
    named(&mut errors, parent, "resource", at, names::path_segment);
    named(&mut errors, parent, "name", at, names::path_segment);
    name(&mut errors, parent, "namespace", at, names::path_segment);
    errors
}

pub(in super::super) fn address_update(object: &Object, old: &Object) -> Errors {
    let parent = |object: &Object| {
        let parent = child(object, "spec").and_then(|spec| spec.get("parentRef"));
        parent.filter(|parent| !parent.is_null()).cloned()
    };
    let mut errors = address(object);
    if parent(object) == parent(old) {
        return errors;
    }
    let shown = match parent(object) {
        Some(parent) => internal::shown("networking.k8s.io", "IPAddress", &["spec", "parentRef"], Some(&parent)),
        None => "null".to_owned(),
    };
    errors.push(FieldError::invalid(SPEC.child("parentRef"), json(shown), IMMUTABLE));
    errors
}

pub(in super::super) fn service_cidr(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let spec = child(object, "spec").unwrap_or(&empty);
    let at = SPEC.child("cidrs");
    match list(spec, "cidrs").len() {
        0 => errors.push(FieldError::required(at, "at least one CIDR required")),
        1 | 2 => {
            each_text(spec, "cidrs", SPEC, |range, at| canonical_cidr(&mut errors, range, at));
            let families: Vec<bool> = texts(spec, "cidrs").filter_map(Range::parse).map(Range::is_v6).collect();
            if matches!(families.as_slice(), [a, b] if a == b) {
                let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
                errors.push(FieldError::invalid(at, list_json(spec, "cidrs"), why));
            }
        }
        _ => {
            let shown = internal::shown("networking.k8s.io", "ServiceCIDR", &["spec"], object.get("spec"));
            errors.push(FieldError::invalid(at, json(shown), "may only hold up to 2 values"));
        }
    }
    errors
}

/// A second range may come later.
pub(in super::super) fn service_cidr_update(object: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let spec = child(object, "spec").unwrap_or(&empty);
    let (new, old) = (list(spec, "cidrs"), child(old, "spec").map(|spec| list(spec, "cidrs")).unwrap_or_default());
    let at = SPEC.child("cidrs");
    let mut refuse = |place: usize, value: &Value| {
        let shown = value.as_str().unwrap_or_default();
        errors.push(FieldError::invalid(at.index(place), shown, IMMUTABLE));
    };
    if new.len() == old.len() {
        for (i, (new, _)) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old) {
            refuse(i, new);
        }
    } else if let (&[first, _], &[before]) = (&new.iter().collect::<Vec<_>>()[..], &old.iter().collect::<Vec<_>>()[..])
    {
        if first != before {
            refuse(0, first);
        }
        errors.extend(service_cidr(object));
    } else {
        errors.push(FieldError::invalid(at, list_json(spec, "cidrs"), IMMUTABLE));
    }
    errors
}

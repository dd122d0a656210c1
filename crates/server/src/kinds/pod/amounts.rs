//! What is wrong with the resources that a container or pod asks for.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::check::{
    Errors, amounts, container_resource_name, each, each_item, forbid, is_huge, is_native, not_found, resource_amount,
    resource_name,
};
use super::super::quantity::Quantity;
use super::super::read::{child, items, text};
use super::resources::aggregated;
use crate::strategy::Object;

/// Resources of a container. `claims` are the names that the pod gives to claims.
pub(super) fn check_requirements(errors: &mut Errors, resources: &Object, claims: &[&str], at: Path<'_>) {
    check_amounts(errors, resources, container_resource_name, at);
    check_claims(errors, resources, claims, at);
}

fn check_amounts(errors: &mut Errors, resources: &Object, name_of: fn(&mut Errors, &str, Path<'_>), at: Path<'_>) {
    let (mut huge, mut measured) = (false, false);
    for key in ["limits", "requests"] {
        for (name, amount) in amounts(resources, key) {
            let list = at.child(key);
            let at_name = list.key(name);
            name_of(errors, name, at_name);
            resource_amount(errors, name, amount, at_name);
            if key == "requests" {
                let limit = amounts(resources, "limits").find(|(known, _)| *known == name).map(|(_, limit)| limit);
                check_limit(errors, name, amount, limit, at);
            }
            if is_huge(name) {
                huge = true;
                if !is_divisible(name, amount) {
                    let why = format!("{amount} is not positive integer multiple of {name}");
                    errors.push(FieldError::invalid(at_name, amount.to_string().as_str(), why));
                }
            }
            measured |= matches!(name, "cpu" | "memory");
        }
    }
    if huge && !measured {
        errors.push(FieldError::forbidden(at, "HugePages require cpu or memory"));
    }
}

fn check_limit(errors: &mut Errors, name: &str, amount: Quantity, limit: Option<Quantity>, at: Path<'_>) {
    let overcommits = is_native(name) && !is_huge(name);
    let why = match limit {
        None if overcommits => return,
        None => {
            let why = "Limit must be set for non overcommitable resources";
            errors.push(FieldError::required(at.child("limits"), why));
            return;
        }
        Some(limit) if amount.compare(limit).is_ne() && !overcommits => {
            format!("must be equal to {name} limit of {limit}")
        }
        Some(limit) if amount.compare(limit).is_gt() => {
            format!("must be less than or equal to {name} limit of {limit}")
        }
        Some(_) => return,
    };
    errors.push(FieldError::invalid(at.child("requests"), amount.to_string().as_str(), why));
}

/// Pages come whole.
fn is_divisible(name: &str, amount: Quantity) -> bool {
    let size = name.strip_prefix("hugepages-").and_then(Quantity::parse);
    size.filter(|size| size.sign().is_gt() && size.is_whole()).is_some_and(|size| amount.value() % size.value() == 0)
}

fn check_claims(errors: &mut Errors, resources: &Object, claims: &[&str], at: Path<'_>) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    each_item(resources, "claims", at, |claim, at| {
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            errors.push(FieldError::required(at, ""));
            return;
        }
        if seen.contains(name) {
            errors.push(FieldError::duplicate(at, name));
        } else {
            let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
            if !request.is_empty() {
                each(errors, at.child("request"), request, names::dns_label(request));
            }
            if seen.contains(&key) {
                errors.push(FieldError::duplicate(at, key.as_str()));
            } else if request.is_empty() {
                let same = |known: &&String| known.split_once('/').is_some_and(|(known, _)| known == name);
                for _ in seen.iter().filter(same) {
                    errors.push(FieldError::duplicate(at, name));
                }
            }
            seen.insert(key);
        }
        if !claims.contains(&name) {
            let mut error = not_found(at, name);
            let mut known = claims.to_vec();
            known.sort_unstable();
            error.detail = match known.as_slice() {
                [] => "must be one of the names in pod.spec.resourceClaims which is empty".to_owned(),
                known => format!("must be one of the names in pod.spec.resourceClaims: {}", known.join(", ")),
            };
            errors.push(error);
        }
    });
}

/// Resources of the pod as a whole.
pub(super) fn check_pod_resources(errors: &mut Errors, spec: &Object, claims: &[&str], at: Path<'_>) {
    let Some(resources) = child(spec, "resources") else { return };
    let resources_at = at.child("resources");
    if child(spec, "os").is_some_and(|os| text(os, "name") == "windows") {
        errors.push(FieldError::forbidden(resources_at, "may not be set for a windows pod"));
        return;
    }
    forbid(errors, resources, "claims", resources_at, "claims may not be set for Resources at pod-level");
    check_amounts(errors, resources, pod_resource_name, resources_at);
    check_claims(errors, resources, claims, resources_at);
    let at = resources_at;
    for (key, every) in [("requests", true), ("limits", false)] {
        for (name, together) in aggregated(spec, key).into_iter().filter(|(name, _)| every || is_huge(name)) {
            let own = amounts(resources, key).find(|(known, _)| *known == name).map(|(_, amount)| amount);
            if let Some(own) = own.filter(|own| together.compare(*own).is_gt()) {
                let why = format!("must be greater than or equal to aggregate container {key} of {together}");
                let list = at.child(key);
                errors.push(FieldError::invalid(list.key(&name), own.to_string().as_str(), why));
            }
        }
    }
    let containers = at.child("containers");
    for (i, container) in items(spec, "containers").enumerate() {
        let Some(of_container) = child(container, "resources") else { continue };
        for (name, limit) in amounts(of_container, "limits") {
            let own = amounts(resources, "limits").find(|(known, _)| *known == name).map(|(_, amount)| amount);
            if let Some(own) = own.filter(|own| limit.compare(*own).is_gt()) {
                let why = format!("must be less than or equal to pod limits of {own}");
                let container = containers.index(i);
                let resource = container.key(name);
                errors.push(FieldError::invalid(resource.child("limits"), limit.to_string().as_str(), why));
            }
        }
    }
}

fn pod_resource_name(errors: &mut Errors, name: &str, at: Path<'_>) {
    let before = errors.len();
    resource_name(errors, name, at);
    if errors.len() == before && !matches!(name, "cpu" | "memory") && !is_huge(name) {
        errors.push(FieldError::not_supported(at, BadValue::typed_text(name), &["cpu", "hugepages-", "memory"]));
    }
}

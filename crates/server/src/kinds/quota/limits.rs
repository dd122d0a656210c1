//! What is wrong with a limit range.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::check::{
    Errors, amounts, container_resource_name, each_item, is_huge, is_native, resource_name, shown,
};
use super::super::quantity::Quantity;
use super::super::read::{child, text};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");

pub(in super::super) fn limit_range(range: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(range, "spec") else { return errors };
    let mut seen = BTreeSet::new();
    each_item(spec, "limits", SPEC, |limit, at| {
        let kind = text(limit, "type");
        let mut faults = names::label_key(kind);
        if faults.is_empty() && !kind.contains('/') && !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") {
            faults.push("must be a standard limit type or fully qualified".to_owned());
        }
        let typed = || BadValue::typed_text(kind);
        errors.extend(faults.into_iter().map(|fault| FieldError::invalid(at.child("type"), typed(), fault)));
        if !seen.insert(kind) {
            errors.push(FieldError::duplicate(at.child("type"), typed()));
        }
        check_limit(&mut errors, limit, kind, at);
    });
    errors
}

fn check_limit(errors: &mut Errors, limit: &Object, kind: &str, at: Path<'_>) {
    let check_names = |errors: &mut Errors, key: &str| {
        for (name, _) in amounts(limit, key) {
            let check = if matches!(kind, "Pod" | "Container") { container_resource_name } else { resource_name };
            check(errors, name, at.child(key).key(name));
        }
    };
    check_names(errors, "max");
    check_names(errors, "min");
    for key in ["default", "defaultRequest"] {
        if kind != "Pod" {
            check_names(errors, key);
        } else if child(limit, key).is_some_and(|amounts| !amounts.is_empty()) {
            errors.push(FieldError::forbidden(at.child(key), "may not be specified when `type` is 'Pod'"));
        }
    }
    let of = |key| amounts(limit, key).collect::<BTreeMap<_, _>>();
    let (min, max, ratio) = (of("min"), of("max"), of("maxLimitRequestRatio"));
    let (default, request) = if kind == "Pod" { Default::default() } else { (of("default"), of("defaultRequest")) };
    if kind == "PersistentVolumeClaim" && !min.contains_key("storage") && !max.contains_key("storage") {
        let why = "either minimum or maximum storage value is required, but neither was provided";
        errors.push(FieldError::required(at.child("limits"), why));
    }
    check_names(errors, "maxLimitRequestRatio");
    let all: BTreeSet<&str> =
        [&min, &max, &ratio, &default, &request].into_iter().flat_map(|map| map.keys().copied()).collect();
    for name in all {
        let get = |map: &BTreeMap<&str, Quantity>| map.get(name).copied();
        let (min, max, default, request) = (get(&min), get(&max), get(&default), get(&request));
        // Where both are there and the first is more: the field, the value that is shown, and what they are called.
        let pairs = [
            (min, max, "min", min, "min value", "max value"),
            (min, request, "defaultRequest", request, "min value", "default request value"),
            (request, max, "defaultRequest", request, "default request value", "max value"),
            (request, default, "defaultRequest", request, "default request value", "default limit value"),
            (min, default, "default", min, "min value", "default value"),
            (default, max, "default", max, "default value", "max value"),
        ];
        for (a, b, key, value, a_name, b_name) in pairs {
            if let (Some(a), Some(b), Some(value)) = (a, b, value)
                && a.compare(b).is_gt()
            {
                let why = format!("{a_name} {a} is greater than {b_name} {b}");
                errors.push(FieldError::invalid(at.child(key).key(name), shown(value), why));
            }
        }
        if let Some(ratio) = get(&ratio) {
            check_ratio(errors, ratio, min.zip(max), at.child("maxLimitRequestRatio").key(name));
        }
        if let (Some(default), Some(request)) = (default, request)
            && (!is_native(name) || is_huge(name))
            && default.compare(request).is_ne()
        {
            let why = format!("default value {default} must equal to defaultRequest value {request} in {name}");
            errors.push(FieldError::invalid(at.child("defaultRequest").key(name), shown(request), why));
        }
    }
}

fn check_ratio(errors: &mut Errors, ratio: Quantity, bounds: Option<(Quantity, Quantity)>, at: Path<'_>) {
    if ratio.compare(Quantity::ONE).is_lt() {
        errors.push(FieldError::invalid(at, shown(ratio), format!("ratio {ratio} is less than 1")));
    }
    if let Some((min, max)) = bounds {
        let limit = max.to_f64() / min.to_f64();
        if ratio.to_f64() > limit {
            let why = format!("ratio {ratio} is greater than max/min = {limit:.6}");
            errors.push(FieldError::invalid(at, shown(ratio), why));
        }
    }
}

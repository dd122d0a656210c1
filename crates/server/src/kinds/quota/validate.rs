//! What is wrong with a limit range, a resource quota or a node.

use std::collections::{BTreeMap, BTreeSet};

use rolewright_core::validate::{BadValue, FieldError, Path, names};
use serde_json::Value;

use super::super::check::{
    EFFECTS, Errors, IMMUTABLE, Range, amounts, cidr, container_resource_name, each, each_item, each_text,
    internal_error, is_huge, is_in_quota, is_native, json, list_json, one_of, quota_resource_name, resource_amount,
    resource_name, shown,
};
use super::super::internal;
use super::super::quantity::Quantity;
use super::super::read::{child, integer, items, list, text, texts};
use crate::strategy::Object;

const SPEC: Path<'static> = Path::Field(&Path::Root, "spec");
const STATUS: Path<'static> = Path::Field(&Path::Root, "status");

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

pub(in super::super) fn quota(object: &Object) -> Errors {
    let mut errors = Errors::new();
    let Some(spec) = child(object, "spec") else { return errors };
    check_amounts(&mut errors, spec, "hard", SPEC);
    let scopes: Vec<&str> = texts(spec, "scopes").collect();
    let shown = || list_json(spec, "scopes");
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            errors.push(FieldError::invalid(SPEC.child("scopes"), shown(), "unsupported scope"));
        }
        for _ in unfit(spec, scope) {
            let why = "unsupported scope applied to resource";
            errors.push(FieldError::invalid(SPEC.child("scopes"), shown(), why));
        }
    }
    check_conflicts(&mut errors, &scopes, spec, SPEC.child("scopes"));
    if let Some(selector) = child(spec, "scopeSelector") {
        check_scope_selector(&mut errors, spec, selector, SPEC.child("scopeSelector"));
    }
    errors
}

const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// The resources of a quota that a scope cannot be applied to.
fn unfit<'a>(spec: &'a Object, scope: &'a str) -> impl Iterator<Item = &'a String> + use<'a> {
    let fits = move |name: &str| match scope {
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        scope if SCOPES.contains(&scope) => {
            let measured = name.strip_prefix("limits.").or(name.strip_prefix("requests.")).unwrap_or(name);
            name == "pods" || matches!(measured, "cpu" | "memory")
        }
        _ => true,
    };
    child(spec, "hard").into_iter().flat_map(Object::keys).filter(move |name| is_in_quota(name) && !fits(name))
}

fn check_conflicts(errors: &mut Errors, scopes: &[&str], spec: &Object, at: Path<'_>) {
    for (a, b) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if scopes.contains(&a) && scopes.contains(&b) {
            errors.push(FieldError::invalid(at, list_json(spec, "scopes"), "conflicting scopes"));
        }
    }
}

fn check_scope_selector(errors: &mut Errors, spec: &Object, selector: &Object, at: Path<'_>) {
    let at = at.child("matchExpressions");
    for rule in items(selector, "matchExpressions") {
        let (scope, operator) = (text(rule, "scopeName"), text(rule, "operator"));
        let invalid = |key, why| FieldError::invalid(at.child(key), BadValue::typed_text(text(rule, key)), why);
        if !SCOPES.contains(&scope) {
            errors.push(invalid("scopeName", "unsupported scope"));
        }
        for _ in unfit(spec, scope) {
            let why = "unsupported scope applied to resource";
            errors.push(FieldError::invalid(
                at,
                json(internal::shown("", "ResourceQuota", &["spec", "scopeSelector"], spec.get("scopeSelector"))),
                why,
            ));
        }
        if SCOPES.contains(&scope)
            && !matches!(scope, "PriorityClass" | "VolumeAttributesClass")
            && operator != "Exists"
        {
            errors.push(invalid(
                "operator",
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, \
                 ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
                 ResourceQuotaScopeCrossNamespacePodAffinity",
            ));
        }
        let given = !list(rule, "values").is_empty();
        match operator {
            "In" | "NotIn" if !given => errors.push(FieldError::required(
                at.child("values"),
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            )),
            "Exists" | "DoesNotExist" if given => errors.push(FieldError::invalid(
                at.child("values"),
                list_json(rule, "values"),
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.push(invalid("operator", "not a valid selector operator")),
        }
    }
    let scopes: Vec<&str> = items(selector, "matchExpressions").map(|rule| text(rule, "scopeName")).collect();
    check_conflicts(errors, &scopes, spec, at);
}

fn check_amounts(errors: &mut Errors, object: &Object, key: &str, at: Path<'_>) {
    for (name, amount) in amounts(object, key) {
        quota_resource_name(errors, name, at.child(key).key(name));
        resource_amount(errors, name, amount, at.child(key).key(name));
    }
}

pub(in super::super) fn quota_update(object: &Object, old: &Object) -> Errors {
    let mut errors = quota(object);
    let scopes = |object: &Object| -> BTreeSet<String> {
        child(object, "spec").into_iter().flat_map(|spec| texts(spec, "scopes")).map(str::to_owned).collect()
    };
    if scopes(object) != scopes(old) {
        let given = child(object, "spec").map_or_else(BadValue::null, |spec| list_json(spec, "scopes"));
        errors.push(FieldError::invalid(SPEC.child("scopes"), given, IMMUTABLE));
    }
    errors
}

pub(in super::super) fn quota_status(object: &Object, _: &Object) -> Errors {
    let mut errors = Errors::new();
    if let Some(status) = child(object, "status") {
        check_amounts(&mut errors, status, "hard", STATUS);
        check_amounts(&mut errors, status, "used", STATUS);
    }
    errors
}

pub(in super::super) fn node(node: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (spec, status) = (child(node, "spec").unwrap_or(&empty), child(node, "status").unwrap_or(&empty));
    check_taints(&mut errors, spec);
    check_node_status(&mut errors, status);
    let swap = child(status, "nodeInfo").and_then(|info| child(info, "swap"));
    if let Some(capacity) = swap.and_then(|swap| integer(swap, "capacity")).filter(|capacity| *capacity <= 0) {
        let at = Path::field("metadata");
        let at = at.child("nodeSwapStatus");
        errors.push(FieldError::invalid(at.child("capacity"), json(capacity), "must be greater than zero"));
    }
    check_features(&mut errors, status);
    each_text(spec, "podCIDRs", SPEC, |range, at| cidr(&mut errors, range, at, &[]));
    let ranges: Vec<&str> = texts(spec, "podCIDRs").collect();
    if ranges.len() > 1 {
        let at = SPEC.child("podCIDRs");
        let parsed: Vec<bool> = ranges.iter().filter_map(|text| Range::parse(text)).map(Range::is_v6).collect();
        let bad = ranges.iter().enumerate().find(|(_, text)| Range::parse(text).is_none());
        if let Some((i, text)) = bad {
            let why = format!(
                "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{i}]: <nil> (invalid CIDR \
                 address: {text})"
            );
            errors.push(internal_error(at, why));
        }
        if bad.is_some() || ranges.len() > 2 || parsed.iter().all(|v6| *v6) || !parsed.contains(&true) {
            let why = "may specify no more than one CIDR for each IP family";
            errors.push(FieldError::invalid(at, list_json(spec, "podCIDRs"), why));
        }
    }
    errors
}

fn check_node_status(errors: &mut Errors, status: &Object) {
    for key in ["capacity", "allocatable"] {
        for (name, amount) in amounts(status, key) {
            resource_amount(errors, name, amount, STATUS.child(key).child(name));
        }
    }
}

fn check_features(errors: &mut Errors, status: &Object) {
    let at = STATUS.child("declaredFeatures");
    let mut features = texts(status, "declaredFeatures").enumerate().peekable();
    while let Some((i, feature)) = features.next() {
        if !is_feature(feature) {
            let why = format!(
                "invalid feature name {}: must start with an UpperCamelCase segment, with subsequent segments separated \
                 by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
                rolewright_core::quote::Quoted(feature)
            );
            errors.push(FieldError::invalid(at.index(i), feature, why));
        }
        match features.peek() {
            Some((next, other)) if *other == feature => errors.push(FieldError::duplicate(at.index(*next), *other)),
            Some((next, other)) if *other < feature => {
                errors.push(FieldError::invalid(at.index(*next), *other, "list must be sorted alphabetically"));
            }
            _ => {}
        }
    }
}

fn is_feature(name: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.split('/').all(is_segment)
}

fn check_taints(errors: &mut Errors, spec: &Object) {
    let mut seen = BTreeSet::new();
    each_item(spec, "taints", Path::field("metadata"), |taint, at| {
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        each(errors, at.child("key"), key, names::label_key(key));
        let faults = names::label_value(value);
        if !faults.is_empty() {
            errors.push(FieldError::invalid(at.child("value"), value, faults.join(";")));
        }
        one_of(errors, taint, "effect", at, &EFFECTS);
        if !seen.insert((effect, key)) {
            let shown = json(internal::shown("", "Node", &["spec", "taints"], Some(&Value::Object(taint.clone()))));
            let mut error = FieldError::duplicate(at, shown);
            "taints must be unique by key and effect pair".clone_into(&mut error.detail);
            errors.push(error);
        }
    });
}

pub(in super::super) fn node_update(object: &Object, old: &Object) -> Errors {
    [node(object), node_status(object, old)].concat()
}

pub(in super::super) fn node_status(node: &Object, old: &Object) -> Errors {
    let mut errors = Errors::new();
    let empty = Object::new();
    let (spec, status) = (child(node, "spec").unwrap_or(&empty), child(node, "status").unwrap_or(&empty));
    let old = child(old, "spec").unwrap_or(&empty);
    check_node_status(&mut errors, status);
    check_features(&mut errors, status);
    let mut seen = BTreeSet::new();
    each_item(status, "addresses", STATUS, |address, at| {
        let (kind, address) = (text(address, "type"), text(address, "address"));
        if !seen.insert((kind, address)) {
            errors.push(FieldError::duplicate(at, BadValue::fields([("Type", kind), ("Address", address)])));
        }
    });
    let why = |field| format!("node updates may not change {field} except from \"\" to valid");
    let (ranges, before) = (list(spec, "podCIDRs"), list(old, "podCIDRs"));
    if !before.is_empty() && ranges != before {
        errors.push(FieldError::forbidden(SPEC.child("podCIDRs"), why("podCIDR")));
    }
    if !text(old, "providerID").is_empty() && text(old, "providerID") != text(spec, "providerID") {
        errors.push(FieldError::forbidden(SPEC.child("providerID"), why("providerID")));
    }
    check_taints(&mut errors, spec);
    if text(old, "externalID") != text(spec, "externalID") {
        errors.push(FieldError::forbidden(SPEC.child("externalID"), "may not be updated"));
    }
    errors
}

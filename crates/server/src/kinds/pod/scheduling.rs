//! What is wrong with where a pod wants to run.

use std::collections::BTreeSet;

use rolewright_core::validate::{BadValue, FieldError, Path, names};

use super::super::check::{
    EFFECTS, Errors, each, each_item, each_text, json, name, node_selector, node_term, selector, supported,
    supported_if, within,
};
use super::super::read::{absent, child, integer, items, list, text, texts};
use crate::strategy::Object;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn check_affinity(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    within(spec, "affinity", at, |affinity, at| {
        within(affinity, "nodeAffinity", at, |affinity, at| {
            within(affinity, REQUIRED, at, |selector, at| node_selector(errors, selector, at));
            each_item(affinity, PREFERRED, at, |term, at| {
                check_weight(errors, term, at);
                within(term, "preference", at, |term, at| node_term(errors, term, false, at));
            });
        });
        for kind in ["podAffinity", "podAntiAffinity"] {
            within(affinity, kind, at, |affinity, at| {
                each_item(affinity, REQUIRED, at, |term, at| check_term(errors, term, at));
                each_item(affinity, PREFERRED, at, |term, at| {
                    check_weight(errors, term, at);
                    within(term, "podAffinityTerm", at, |term, at| check_term(errors, term, at));
                });
            });
        }
    });
}

fn check_weight(errors: &mut Errors, term: &Object, at: Path<'_>) {
    let weight = integer(term, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        errors.push(FieldError::invalid(at.child("weight"), json(weight), "must be in the range 1-100"));
    }
}

fn check_term(errors: &mut Errors, term: &Object, at: Path<'_>) {
    selector(errors, term, "labelSelector", at);
    selector(errors, term, "namespaceSelector", at);
    for namespace in texts(term, "namespaces") {
        each(errors, at.child("namespace"), namespace, names::dns_label(namespace));
    }
    check_label_keys(errors, term, at);
    let key = text(term, "topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(at.child("topologyKey"), "can not be empty"));
    }
    each(errors, at.child("topologyKey"), key, names::label_key(key));
}

/// Keys whose values in the pod's own labels are looked for in others.
fn check_label_keys(errors: &mut Errors, term: &Object, at: Path<'_>) {
    let chosen = child(term, "labelSelector");
    for key in ["matchLabelKeys", "mismatchLabelKeys"] {
        if list(term, key).is_empty() {
            continue;
        }
        if chosen.is_none() {
            let why = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(at.child(key), why));
        } else {
            each_text(term, key, at, |key, at| each(errors, at, key, names::label_key(key)));
        }
    }
    if let Some(chosen) = chosen {
        let mut seen: BTreeSet<&str> =
            child(chosen, "matchLabels").into_iter().flat_map(Object::keys).map(String::as_str).collect();
        for expression in items(chosen, "matchExpressions") {
            let key = text(expression, "key");
            let position = texts(term, "matchLabelKeys").enumerate().filter(|(_, known)| *known == key).last();
            if let Some((i, _)) = position.filter(|_| seen.contains(key)) {
                let why = "exists in both matchLabelKeys and labelSelector";
                errors.push(FieldError::invalid(at.index(i), key, why));
            }
            seen.insert(key);
        }
    }
    each_text(term, "matchLabelKeys", at, |key, at| {
        if texts(term, "mismatchLabelKeys").any(|other| other == key) {
            let why = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.push(FieldError::invalid(at, key, why));
        }
    });
}

pub(super) fn check_spreading(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    let constraints: Vec<(&str, &str)> = items(spec, "topologySpreadConstraints")
        .map(|constraint| (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")))
        .collect();
    let mut rest = constraints.as_slice();
    each_item(spec, "topologySpreadConstraints", at, |constraint, at| {
        rest = rest.get(1..).unwrap_or_default();
        check_constraint(errors, constraint, rest, at);
    });
}

fn check_constraint(errors: &mut Errors, constraint: &Object, rest: &[(&str, &str)], at: Path<'_>) {
    let positive = |errors: &mut Errors, key: &str, number: i64| {
        if number <= 0 {
            errors.push(FieldError::invalid(at.child(key), json(number), "must be greater than zero"));
        }
    };
    positive(errors, "maxSkew", integer(constraint, "maxSkew").unwrap_or_default());
    let (key, action) = (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
    if key.is_empty() {
        errors.push(FieldError::required(at.child("topologyKey"), "can not be empty"));
    }
    supported(errors, action, at.child("whenUnsatisfiable"), &["DoNotSchedule", "ScheduleAnyway"]);
    if rest.contains(&(key, action)) {
        let shown = format!("{{{key}, {action}}}");
        errors.push(FieldError::duplicate(at.child("{topologyKey, whenUnsatisfiable}"), shown.as_str()));
    }
    if let Some(domains) = integer(constraint, "minDomains") {
        positive(errors, "minDomains", domains);
        if action != "DoNotSchedule" {
            let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.push(FieldError::invalid(at.child("minDomains"), json(domains), why));
        }
    }
    for key in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        supported_if(errors, constraint, key, at, &["Honor", "Ignore"]);
    }
    check_label_keys(errors, constraint, at);
    selector(errors, constraint, "labelSelector", at);
}

pub(super) fn check_tolerations(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    each_item(spec, "tolerations", at, |toleration, at| {
        let typed = |key| BadValue::typed_text(text(toleration, key));
        let (key, operator, value) = (text(toleration, "key"), text(toleration, "operator"), text(toleration, "value"));
        name(errors, toleration, "key", at, names::label_key);
        if key.is_empty() && operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(FieldError::invalid(at.child("operator"), typed("operator"), why));
        }
        if !absent(toleration, "tolerationSeconds") && text(toleration, "effect") != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.push(FieldError::invalid(at.child("effect"), typed("effect"), why));
        }
        match operator {
            "" | "Equal" => {
                let faults = names::label_value(value);
                if !faults.is_empty() {
                    errors.push(FieldError::invalid(at.child("operator"), value, faults.join(";")));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                errors.push(FieldError::invalid(at.child("operator"), value, why));
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                let known = ["Equal", "Exists", "Lt", "Gt"];
                errors.push(FieldError::not_supported(at.child("operator"), typed("operator"), &known));
            }
            operator => supported(errors, operator, at.child("operator"), &["Equal", "Exists"]),
        }
        if !text(toleration, "effect").is_empty() {
            supported(errors, text(toleration, "effect"), at.child("effect"), &EFFECTS);
        }
    });
}

pub(super) fn check_gates(errors: &mut Errors, spec: &Object, at: Path<'_>) {
    each_item(spec, "readinessGates", at, |gate, at| {
        let kind = text(gate, "conditionType");
        each(errors, at.child("conditionType"), kind, names::label_key(kind));
    });
    let mut seen = BTreeSet::new();
    each_item(spec, "schedulingGates", at, |gate, at| {
        let name = text(gate, "name");
        each(errors, at, name, names::label_key(name));
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(at, name));
        }
    });
}

//! Roles: their rules, and the selectors of aggregated ones.

use super::error::{BadValue, FieldError};
use super::metadata::Scope;
use super::path::Path;
use super::selectors::{IllegalValues, label_selector};
use crate::{LabelSelector, Role, Rule};

/// Faults of all that a role holds besides metadata.
///
/// Kubernetes' Role has no aggregation rule at all, so one on a namespaced role is not looked at.
pub fn role_body(role: &Role, values: IllegalValues) -> Vec<FieldError> {
    let scope = Scope::from(&role.key);
    let at = Path::field("rules");
    let mut errors = Vec::new();
    for (i, item) in role.rules.iter().enumerate() {
        errors.extend(rule(item, scope, at.index(i)));
    }
    if let (Scope::Cluster, Some(selectors)) = (scope, &role.aggregation) {
        errors.extend(aggregation(selectors, values));
    }
    errors
}

/// Faults of one rule. What the texts in its lists say is nobody's concern: unknown verbs, empty strings and
/// duplicates are all accepted.
pub fn rule(rule: &Rule, scope: Scope, at: Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if rule.verbs.is_empty() {
        errors.push(FieldError::required(at.child("verbs"), "verbs must contain at least one value"));
    }
    if rule.non_resource_urls.is_empty() {
        if rule.api_groups.is_empty() {
            let detail = "resource rules must supply at least one api group";
            errors.push(FieldError::required(at.child("apiGroups"), detail));
        }
        if rule.resources.is_empty() {
            let detail = "resource rules must supply at least one resource";
            errors.push(FieldError::required(at.child("resources"), detail));
        }
        return errors;
    }
    let mut misplaced = |detail| {
        let urls = BadValue::list(&rule.non_resource_urls);
        errors.push(FieldError::invalid(at.child("nonResourceURLs"), urls, detail));
    };
    if scope == Scope::Namespaced {
        misplaced("namespaced rules cannot apply to non-resource URLs");
    }
    if !(rule.api_groups.is_empty() && rule.resources.is_empty() && rule.resource_names.is_empty()) {
        misplaced("rules cannot apply to both regular resources and non-resource URLs");
    }
    errors
}

/// Faults of an aggregation rule with these selectors.
///
/// A selector that does not compile is reported once more as a whole, tolerance or not. So Kubernetes' tolerance only
/// shortens the report: an aggregated role with an illegal value in a selector cannot be updated until it is mended.
fn aggregation(selectors: &[LabelSelector], values: IllegalValues) -> Vec<FieldError> {
    let at = Path::field("aggregationRule");
    let at = at.child("clusterRoleSelectors");
    let mut errors = Vec::new();
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(at, detail));
    }
    for (i, selector) in selectors.iter().enumerate() {
        errors.extend(label_selector(selector, values, at.index(i)));
        if selector.compile().is_err() {
            // Kubernetes shows the result of the conversion that failed, which is nothing.
            errors.push(FieldError::invalid(at.index(i), BadValue::null(), "invalid label selector."));
        }
    }
    errors
}

/// What an update may leave as it is: values are tolerated when the stored role has a fault in any selector, whatever
/// the fault.
pub fn tolerance(old: &Role) -> IllegalValues {
    let refused = |s: &LabelSelector| !label_selector(s, IllegalValues::Refuse, Path::Root).is_empty();
    match &old.aggregation {
        Some(selectors) if selectors.iter().any(refused) => IllegalValues::Tolerate,
        _ => IllegalValues::Refuse,
    }
}
